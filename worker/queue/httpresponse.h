#pragma once

#include <QByteArray>
#include <QByteArrayView>
#include <QList>
#include <QPair>

namespace sendonce {

/// An answer of an HTTP server.
struct HttpResponse
{
    int status = 0;
    QList<QPair<QByteArray, QByteArray>> headers; ///< as sent, in order
    QByteArray body; ///< without its transfer coding

    QByteArray header(QByteArrayView name) const; ///< of the first one so called, in any case; empty: none
};

/// Reads one HTTP/1.1 response from the bytes of a connection, in whatever pieces they come. RFC 9112, sections 4 to 7;
/// the answer to a POST, so that only 1xx (skipped), 204 and 304 are without a body.
class HttpResponseReader
{
public:
    enum class State {
        Reading,
        Done,
        NotHttp, ///< nothing that follows can be believed
        TooLarge, ///< more than `maxBody` bytes of body, or 64 KiB of head
    };

    explicit HttpResponseReader(qint64 maxBody) : m_maxBody(maxBody) { }

    State feed(QByteArrayView bytes);
    /// The server closed the connection: Done for a body that is ended in this way, else the state it was in.
    State closed();

    State state() const { return m_state; }
    bool started() const { return m_started; } ///< some byte of the answer came
    const HttpResponse &response() const { return m_response; }
    /// The connection may carry another exchange: the answer is whole, nothing came behind it, nobody said "close".
    bool isReusable() const { return m_state == State::Done && m_persistent && m_pending.isEmpty(); }

private:
    enum class Part { Head, Fixed, ChunkSize, ChunkData, ChunkEnd, Trailer, UntilClosed };

    void parse();
    bool takeLine(QByteArray *line); ///< false: not whole yet
    bool readHead();
    bool readHeaders(const QList<QByteArray> &lines);
    bool chooseBody();
    void takeBody();
    void fail(State state) { m_state = state; }

    qint64 m_maxBody;
    State m_state = State::Reading;
    Part m_part = Part::Head;
    bool m_started = false;
    bool m_persistent = true;
    qint64 m_left = 0; ///< of the body, or of the chunk
    QByteArray m_pending; ///< came, is not used yet
    HttpResponse m_response;
};

} // namespace sendonce
