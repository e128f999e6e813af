#include "worker/mail/mimemessage.h"

#include "worker/digest/sha256.h"
#include "worker/mail/headertext.h"
#include "worker/mail/mimepart.h"

#include <algorithm>
#include <array>
#include <cstdio>

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
    static constexpr const char *Days[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    static constexpr const char *Months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                             "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const QDateTime utc = date.toUTC();
    const QDate day = utc.date();
    const QTime time = utc.time();
    std::array<char, 64> header{};
    const int length = std::snprintf(header.data(), header.size(), "Date: %s, %02d %s %04d %02d:%02d:%02d +0000\r\n",
                                     Days[day.dayOfWeek() - 1], day.day(), Months[day.month() - 1], day.year(),
                                     time.hour(), time.minute(), time.second());
    return QByteArray(header.data(), length);
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
    QByteArray bytes;
    bytes.reserve(text.bytes.size() + html.bytes.size() + 512);
    bytes += "Content-Type: multipart/alternative;\r\n boundary=\"" + boundary
        + "\"\r\n"
          "Content-Transfer-Encoding: 7bit\r\n\r\n";
    // RFC 2046, 5.1.4: the plainest first.
    for (const auto &[type, part] : {std::pair("plain", &text), std::pair("html", &html)}) {
        bytes += "--" + boundary + "\r\n" + partHeaders(type, *part) + "\r\n";
        bytes += part->bytes;
        bytes += "\r\n";
    }
    bytes += "--" + boundary + "--\r\n";
    return bytes;
}

/// For a program that compares it: as it stands wherever that is possible, else as any text.
QByteArray keyHeader(const QString &name, const QString &value)
{
    const bool asItStands = std::all_of(value.cbegin(), value.cend(), [](QChar c) { return c > u' ' && c <= u'~'; });
    const QByteArray header = name.toLatin1();
    return asItStands ? header + ": " + value.toLatin1() + "\r\n" : textHeader(header, value);
}

} // namespace

bool isFreeHeaderName(const QString &name)
{
    static const QStringList Taken{u"date"_s,
                                   u"from"_s,
                                   u"to"_s,
                                   u"cc"_s,
                                   u"bcc"_s,
                                   u"sender"_s,
                                   u"reply-to"_s,
                                   u"subject"_s,
                                   u"message-id"_s,
                                   u"in-reply-to"_s,
                                   u"references"_s,
                                   u"return-path"_s,
                                   u"received"_s,
                                   u"mime-version"_s,
                                   u"auto-submitted"_s,
                                   u"x-sendonce-event"_s,
                                   u"dkim-signature"_s,
                                   u"return-receipt-to"_s,
                                   u"disposition-notification-to"_s};
    const QString lower = name.toLower();
    return !name.isEmpty() && name.size() <= 64
        && std::all_of(name.cbegin(), name.cend(), [](QChar c) { return c > u' ' && c <= u'~' && c != u':'; })
        && !Taken.contains(lower) && !lower.startsWith("content-"_L1) && !lower.startsWith("resent-"_L1);
}

QString messageIdFor(const QString &eventId, const QString &domain)
{
    const QByteArray hash = sha256(eventId.toUtf8()).toHex().first(40);
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
    if (!content.idempotencyHeader.isEmpty() && !isFreeHeaderName(content.idempotencyHeader))
        return invalid(u"the idempotency header has a name that is not allowed"_s);
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
        + (content.idempotencyHeader.isEmpty() ? QByteArray() : keyHeader(content.idempotencyHeader, content.eventId))
        + "MIME-Version: 1.0\r\n" + body(content);
    return message;
}

} // namespace sendonce
