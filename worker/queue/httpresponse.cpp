#include "worker/queue/httpresponse.h"

#include <algorithm>

namespace sendonce {

namespace {

constexpr qsizetype LargestHead = 64 * 1024;
constexpr qsizetype LongestChunkLine = 1024;

bool isSame(QByteArrayView a, QByteArrayView b)
{
    return a.compare(b, Qt::CaseInsensitive) == 0;
}

bool hasToken(const QByteArray &list, QByteArrayView token)
{
    const QList<QByteArray> tokens = list.split(',');
    return std::any_of(tokens.cbegin(), tokens.cend(), [&](const QByteArray &t) { return isSame(t.trimmed(), token); });
}

/// Digits only: toLongLong() would take a sign and blanks too. -1: no such number.
qint64 number(QByteArrayView text, int base)
{
    const auto isDigit = [base](char c) {
        return (c >= '0' && c <= '9') || (base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
    };
    if (text.isEmpty() || text.size() > 15 || !std::all_of(text.begin(), text.end(), isDigit))
        return -1;
    return text.toByteArray().toLongLong(nullptr, base);
}

} // namespace

QByteArray HttpResponse::header(QByteArrayView name) const
{
    const auto found =
        std::find_if(headers.cbegin(), headers.cend(), [&](const auto &h) { return isSame(h.first, name); });
    return found == headers.cend() ? QByteArray() : found->second;
}

HttpResponseReader::State HttpResponseReader::feed(QByteArrayView bytes)
{
    m_started = m_started || !bytes.isEmpty();
    m_pending.append(bytes.data(), bytes.size());
    if (m_state == State::Reading)
        parse();
    return m_state;
}

HttpResponseReader::State HttpResponseReader::closed()
{
    m_persistent = false;
    if (m_state == State::Reading && m_part == Part::UntilClosed)
        m_state = State::Done;
    return m_state;
}

void HttpResponseReader::parse()
{
    QByteArray line;
    while (m_state == State::Reading) {
        switch (m_part) {
        case Part::Head:
            if (!readHead())
                return;
            break;
        case Part::Fixed:
            takeBody();
            if (m_left > 0 || m_state != State::Reading)
                return;
            m_state = State::Done;
            break;
        case Part::UntilClosed:
            m_left = m_pending.size();
            takeBody();
            return;
        case Part::ChunkSize:
            if (!takeLine(&line))
                return;
            m_left = number(line.first(line.contains(';') ? line.indexOf(';') : line.size()).trimmed(), 16);
            if (m_left < 0)
                return fail(State::NotHttp);
            m_part = m_left == 0 ? Part::Trailer : Part::ChunkData;
            break;
        case Part::ChunkData:
            takeBody();
            if (m_left > 0 || m_state != State::Reading)
                return;
            m_part = Part::ChunkEnd;
            break;
        case Part::ChunkEnd:
            if (!takeLine(&line))
                return;
            if (!line.isEmpty())
                return fail(State::NotHttp);
            m_part = Part::ChunkSize;
            break;
        case Part::Trailer:
            if (!takeLine(&line))
                return;
            if (line.isEmpty())
                m_state = State::Done;
            break;
        }
    }
}

bool HttpResponseReader::takeLine(QByteArray *line)
{
    const qsizetype end = m_pending.indexOf('\n');
    if (end < 0 || end > LongestChunkLine) {
        if (end > LongestChunkLine || m_pending.size() > LongestChunkLine)
            fail(State::NotHttp);
        return false;
    }
    *line = m_pending.first(end);
    if (line->endsWith('\r'))
        line->chop(1);
    m_pending.remove(0, end + 1);
    return true;
}

bool HttpResponseReader::readHead()
{
    static constexpr QByteArrayView Protocol("HTTP/1.");
    const auto compared = std::min<qsizetype>(m_pending.size(), Protocol.size());
    if (QByteArrayView(m_pending).first(compared) != Protocol.first(compared)) {
        fail(State::NotHttp);
        return false;
    }
    const qsizetype end = m_pending.indexOf("\r\n\r\n");
    if (end < 0 || end > LargestHead) {
        if (m_pending.size() > LargestHead)
            fail(State::TooLarge);
        return false;
    }
    QList<QByteArray> lines = m_pending.first(end).split('\n');
    m_pending.remove(0, end + 4);
    for (QByteArray &line : lines) {
        if (line.endsWith('\r'))
            line.chop(1);
    }
    // "HTTP/1.1 200 OK": one digit, one blank, three digits.
    const QByteArray &first = lines.first();
    const qint64 status = first.size() >= 12 && first[8] == ' ' && (first.size() == 12 || first[12] == ' ')
        ? number(QByteArrayView(first).sliced(9, 3), 10)
        : -1;
    if (status < 100) {
        fail(State::NotHttp);
        return false;
    }
    m_response = {};
    m_response.status = int(status);
    m_persistent = first[7] != '0';
    lines.removeFirst();
    if (!readHeaders(lines) || (status >= 200 && !chooseBody())) {
        fail(State::NotHttp);
        return false;
    }
    return true; // behind a 1xx the next head follows
}

bool HttpResponseReader::readHeaders(const QList<QByteArray> &lines)
{
    for (const QByteArray &line : lines) {
        const qsizetype colon = line.indexOf(':');
        if (colon <= 0 || line[0] == ' ' || line[0] == '\t') // folded lines are obsolete: RFC 9112, 5.2
            return false;
        m_response.headers.append({line.first(colon), line.sliced(colon + 1).trimmed()});
    }
    return true;
}

bool HttpResponseReader::chooseBody()
{
    const QByteArray connection = m_response.header("Connection");
    if (!connection.isEmpty())
        m_persistent = m_persistent ? !hasToken(connection, "close") : hasToken(connection, "keep-alive");
    const QByteArray coding = m_response.header("Transfer-Encoding");
    if (m_response.status == 204 || m_response.status == 304) {
        m_state = State::Done;
        return true;
    }
    if (!coding.isEmpty()) {
        m_part = Part::ChunkSize;
        return isSame(coding, "chunked"); // we asked for no other
    }
    m_left = -1;
    for (const auto &[name, value] : m_response.headers) {
        if (!isSame(name, "Content-Length"))
            continue;
        const qint64 length = number(value, 10);
        if (length < 0 || (m_left >= 0 && m_left != length))
            return false;
        m_left = length;
    }
    if (m_left > m_maxBody) {
        fail(State::TooLarge);
        return true;
    }
    m_part = m_left < 0 ? Part::UntilClosed : Part::Fixed;
    return true;
}

void HttpResponseReader::takeBody()
{
    const qsizetype taken = qsizetype(std::min<qint64>(m_left, m_pending.size()));
    if (m_response.body.size() + taken > m_maxBody)
        return fail(State::TooLarge);
    if (m_response.body.isEmpty() && taken == m_pending.size()) {
        m_response.body.swap(m_pending);
    } else {
        m_response.body.append(m_pending.constData(), taken);
        m_pending.remove(0, taken);
    }
    m_left -= taken;
}

} // namespace sendonce
