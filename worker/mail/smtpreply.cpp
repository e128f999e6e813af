#include "worker/mail/smtpreply.h"

#include <QRegularExpression>
#include <QStringDecoder>

#include <algorithm>
#include <utility>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// Whether this can be the beginning of a reply line; it need not be complete.
bool isPlausible(QByteArrayView line)
{
    return (line.size() < 1 || (line[0] >= '2' && line[0] <= '5')) && (line.size() < 2 || isDigit(line[1]))
        && (line.size() < 3 || isDigit(line[2]))
        && (line.size() < 4 || line[3] == ' ' || line[3] == '-' || line[3] == '\r');
}

bool hasControl(QByteArrayView text)
{
    return std::any_of(text.begin(), text.end(), [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
}

QString decoded(QByteArrayView text)
{
    QStringDecoder utf8(QStringDecoder::Utf8);
    const QString result = utf8(text);
    return utf8.hasError() ? QString::fromLatin1(text) : result;
}

/// For people: what no terminal or log should get is replaced.
QString shown(QByteArrayView bytes)
{
    QString text = decoded(bytes.first(std::min<qsizetype>(bytes.size(), 80)));
    for (QChar &c : text) {
        if (!c.isPrint() && !c.isSurrogate())
            c = u'\ufffd';
    }
    return text;
}

} // namespace

QString SmtpReply::lastLine() const
{
    return lines.last().isEmpty() ? QString::number(code) : QString::number(code) + u' ' + lines.last();
}

QString SmtpReply::text() const
{
    return QString::number(code) + u' ' + lines.join(u' ');
}

void SmtpReplyParser::feed(QByteArrayView bytes)
{
    if (!m_error)
        m_bytes.append(bytes);
}

std::optional<Result<SmtpReply>> SmtpReplyParser::next()
{
    while (!m_error) {
        const qsizetype end = m_bytes.indexOf('\n');
        const QByteArrayView line = end < 0 ? QByteArrayView(m_bytes) : QByteArrayView(m_bytes).first(end);
        if (!isPlausible(line))
            return fail(u"that is no SMTP reply: %1"_s.arg(shown(line)));
        if (line.size() > MaxLine)
            return fail(u"a line of the reply is longer than %1 octets"_s.arg(MaxLine));
        if (end < 0)
            return std::nullopt;
        if (!line.endsWith('\r') || line.size() < 4 || hasControl(line.chopped(1)))
            return fail(u"that is no SMTP reply: %1"_s.arg(shown(line)));

        const bool last = line[3] != '-';
        m_reply.code = line.first(3).toInt();
        m_reply.lines.append(decoded(line.chopped(1).sliced(std::min<qsizetype>(line.size() - 1, 4))));
        m_bytes = m_bytes.sliced(end + 1);
        if (last)
            return std::exchange(m_reply, {});
        if (m_reply.lines.size() >= MaxLines)
            return fail(u"the reply has more than %1 lines"_s.arg(MaxLines));
    }
    return *m_error;
}

Error SmtpReplyParser::fail(const QString &text)
{
    m_error = Error{ErrorKind::Protocol, text, {}};
    return *m_error;
}

QString SmtpReplyParser::partial() const
{
    if (m_reply.lines.isEmpty())
        return shown(m_bytes);
    return m_reply.lastLine();
}

bool asksForPatience(const QString &reply)
{
    static const QRegularExpression pattern(u"\\A(421|454|4\\d\\d[ -]4\\.(3\\.2|2\\.1|7\\.\\d+))(?![\\d.])"_s);
    return pattern.match(reply).hasMatch();
}

} // namespace sendonce
