#pragma once

#include <QByteArray>
#include <QByteArrayView>
#include <QList>

namespace sendonce::local {

struct HttpHeader
{
    QByteArray name; ///< lower case
    QByteArray value; ///< without the blanks around it

    bool operator==(const HttpHeader &) const = default;
};

/// One HTTP/1.x request.
struct HttpRequest
{
    QByteArray method;
    QByteArray path; ///< of the target, as sent (percent-encoded)
    QByteArray query; ///< of the target, without the '?'
    int minorVersion = 1; ///< of HTTP/1.x
    QList<HttpHeader> headers; ///< in their order
    QByteArray body;

    qsizetype count(QByteArrayView name) const;
    /// The first value under a lower-case name; empty when there is none.
    QByteArray header(QByteArrayView name) const;
    /// Whether the connection stays open after the reply (RFC 9112, 9.3).
    bool keepsAlive() const;

    bool operator==(const HttpRequest &) const = default;
};

/// What parseHttpRequest() made of the bytes so far.
struct HttpParse
{
    enum class Status {
        Incomplete, ///< more bytes are needed; nothing was wrong yet
        Complete, ///< request is filled, used says how many bytes it took
        Refused, ///< refusal is the HTTP status to answer with; the connection is of no use afterwards
    };
    Status status = Status::Incomplete;
    HttpRequest request;
    qsizetype used = 0;
    qsizetype needed = 0; ///< Incomplete: looking again is useless before there are this many bytes
    bool awaitsContinue =
        false; ///< Incomplete: the head is there, the client waits for "100 Continue" (RFC 9110, 10.1.1)
    int refusal = 0;
    QByteArray reason; ///< for the refusal's body
};

/// Reads one request from the start of `bytes` (RFC 9112). Pure; the answer is the same however the bytes were cut.
/// Strict where leniency has made two programs read one stream in two ways: bare LF or CR, folded lines, blanks before
/// a colon, two lengths, a length with a transfer coding: 400. Chunked bodies: 411. Head over 16 KiB: 431, body over 3
/// MiB and 64 KiB: 413.
HttpParse parseHttpRequest(QByteArrayView bytes);

} // namespace sendonce::local
