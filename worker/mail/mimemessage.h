#pragma once

#include "worker/result.h"

#include <QByteArray>
#include <QDateTime>
#include <QString>

namespace sendonce {

/// One mailbox of RFC 5322: display name (may be empty, any Unicode) and address (one, strict, no comments, no routes).
struct MailAddress
{
    QString name;
    QString address;

    /// "user@host" alone. Refuses what spec.md and smtp-and-mail.md section 6 refuse; the error says what is wrong.
    static Result<MailAddress> fromAddress(const QString &address, const QString &name = {});
    /// "Name <user@host>" or "user@host", as in --mail-from.
    static Result<MailAddress> parse(const QString &text);
    QString domain() const;
    /// As it goes over the wire: a non-ASCII domain in its ASCII form (IDNA), the rest as it is.
    QString wireAddress() const;
    bool operator==(const MailAddress &) const = default;
};

/// What a mail is made of; rendering it is a pure function of these (spec.md, "Closing the last gap").
struct MailContent
{
    MailAddress from;
    MailAddress to;
    QString subject;
    QString text;
    QString html; ///< empty: text/plain only
    QString eventId;
    QString messageIdDomain;
    QDateTime date; ///< SentTimestamp, written in UTC seconds
    QString idempotencyHeader; ///< its value is the event id; empty: no such header
};

/// A rendered mail and its envelope.
struct MimeMessage
{
    QString sender; ///< envelope, without brackets
    QString recipient;
    QString messageId; ///< without brackets
    QByteArray bytes; ///< CRLF line ends, ends with CRLF, not dot-stuffed, 7 bit, lines ≤ 76 (only a long address or
                      ///< Message-ID makes a longer one: neither can be folded)
    bool needsSmtpUtf8 = false; ///< an address has non-ASCII characters

    bool operator==(const MimeMessage &) const = default;
};

/// Message-ID of an event: first 40 hex digits of SHA-256(event id) @ domain. smtp-and-mail.md, section 7.
QString messageIdFor(const QString &eventId, const QString &domain);

/// Whether a mail of ours may have a further header of this name: printable ASCII without a colon (RFC 5322, 2.2), at
/// most 64 characters, and none that it has already or that means something to mail servers.
bool isFreeHeaderName(const QString &name);

/// Renders. Refuses (Invalid) CR, LF, NUL and other control characters in anything that reaches a header or the
/// envelope. Headers, once each: Date, From, To, Subject, Message-ID, MIME-Version, Content-Type,
/// Content-Transfer-Encoding, Auto-Submitted: auto-generated, X-Sendonce-Event, and the idempotency header where one is
/// wanted. The boundary is derived from the event id.
Result<MimeMessage> renderMail(const MailContent &content);

} // namespace sendonce
