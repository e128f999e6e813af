#include "worker/mail/mimemessage.h"

#include "worker/mail/headertext.h"
#include "worker/mail/mimepart.h"

#include <QCryptographicHash>
#include <QLocale>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

Error invalid(const QString &text)
{
    return {ErrorKind::Invalid, text, {}};
}

bool hasAsciiLocalPart(const QString &address)
{
    return std::all_of(address.cbegin(), address.cend(), [](QChar c) { return c.unicode() < 0x80; });
}

/// RFC 5322, 3.3. English names whatever the locale.
QByteArray dateHeader(const QDateTime &date)
{
    return "Date: " + QLocale::c().toString(date.toUTC(), u"ddd, dd MMM yyyy HH:mm:ss"_s).toLatin1() + " +0000\r\n";
}

QByteArray partHeaders(const char *type, const MimePart &part)
{
    return QByteArray("Content-Type: text/") + type
        + "; charset=utf-8\r\n"
          "Content-Transfer-Encoding: "
        + part.encoding + "\r\n";
}

QByteArray body(const MailContent &content)
{
    const MimePart text = MimePart::fromText(content.text);
    if (content.html.isEmpty())
        return partHeaders("plain", text) + "\r\n" + text.bytes;

    const MimePart html = MimePart::fromText(content.html);
    const QByteArray boundary = boundaryFor(content.eventId, {text.bytes, html.bytes});
    // RFC 2046, 5.1.4: the plainest first.
    return "Content-Type: multipart/alternative;\r\n boundary=\"" + boundary
        + "\"\r\n"
          "Content-Transfer-Encoding: 7bit\r\n"
          "\r\n--"
        + boundary + "\r\n" + partHeaders("plain", text) + "\r\n" + text.bytes + "\r\n--" + boundary + "\r\n"
        + partHeaders("html", html) + "\r\n" + html.bytes + "\r\n--" + boundary + "--\r\n";
}

} // namespace

QString messageIdFor(const QString &eventId, const QString &domain)
{
    const QByteArray hash = QCryptographicHash::hash(eventId.toUtf8(), QCryptographicHash::Sha256).toHex().first(40);
    return QString::fromLatin1(hash) + u'@' + domain;
}

Result<MimeMessage> renderMail(const MailContent &content)
{
    const Result<MailAddress> from = MailAddress::fromAddress(content.from.address, content.from.name);
    if (!from)
        return invalid(u"sender: %1"_s.arg(from.error().text));
    const Result<MailAddress> to = MailAddress::fromAddress(content.to.address, content.to.name);
    if (!to)
        return invalid(u"recipient: %1"_s.arg(to.error().text));
    for (const auto &[what, text] :
         {std::pair(u"subject"_s, content.subject), std::pair(u"event_id"_s, content.eventId)}) {
        if (const QString refused = refusedInHeader(what, text); !refused.isEmpty())
            return invalid(refused);
    }
    if (content.eventId.isEmpty())
        return invalid(u"event_id is empty"_s);
    if (!content.date.isValid())
        return invalid(u"the mail has no date"_s);

    MimeMessage message;
    message.sender = from->wireAddress();
    message.recipient = to->wireAddress();
    message.needsSmtpUtf8 = !hasAsciiLocalPart(message.sender) || !hasAsciiLocalPart(message.recipient);

    // A Message-ID's right side has the syntax of a domain (RFC 5322, 3.6.4).
    const QString wanted = content.messageIdDomain.isEmpty() ? from->domain() : content.messageIdDomain;
    const Result<MailAddress> id = MailAddress::fromAddress(u"id@"_s + wanted);
    if (!id)
        return invalid(u"domain of the Message-ID: %1"_s.arg(id.error().text));
    const QString idDomain = MailAddress{{}, id->wireAddress()}.domain();
    message.messageId = messageIdFor(content.eventId, idDomain);

    message.bytes = dateHeader(content.date) + addressHeader("From", from.value()) + addressHeader("To", to.value())
        + textHeader("Subject", content.subject) + "Message-ID: <" + message.messageId.toLatin1() + ">\r\n"
        + "Auto-Submitted: auto-generated\r\n" + textHeader("X-Sendonce-Event", content.eventId)
        + "MIME-Version: 1.0\r\n" + body(content);
    return message;
}

} // namespace sendonce
