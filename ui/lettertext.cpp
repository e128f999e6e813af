#include "ui/lettertext.h"

#include "ui/displaytext.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

constexpr qsizetype BytesPerLine = 16;
constexpr qsizetype BytesShown = 64 * 1024; ///< of one attribute; the rest is in an export

struct LetterText
{
    Q_DECLARE_TR_FUNCTIONS(LetterText)
};

QString stageName(Stage stage)
{
    const std::array names{LetterText::tr("receiving"),    LetterText::tr("reading the event"),
                           LetterText::tr("claiming"),     LetterText::tr("looking up"),
                           LetterText::tr("handing over"), LetterText::tr("waiting for the final reply"),
                           LetterText::tr("committing"),   LetterText::tr("deleting")};
    return names[size_t(stage)];
}

QString outcomeText(const DeliveryReport &report)
{
    switch (report.outcome) {
    case Outcome::Sent:
        return LetterText::tr("mailed");
    case Outcome::Duplicate:
        return LetterText::tr("skipped as a duplicate");
    case Outcome::Gone:
        return LetterText::tr("nothing to mail: the application is gone");
    case Outcome::Failed:
        return report.permanent ? LetterText::tr("failed for good at %1").arg(stageName(report.failedStage))
                                : LetterText::tr("failed at %1").arg(stageName(report.failedStage));
    case Outcome::InDoubt:
        return LetterText::tr("in doubt at %1").arg(stageName(report.failedStage));
    case Outcome::GivenBack:
        return LetterText::tr("given back");
    }
    return {};
}

/// The last stage that was reached, as the time the delivery took.
QString tookText(const DeliveryReport &report)
{
    const qint64 usec = *std::max_element(report.stageUsec.cbegin(), report.stageUsec.cend());
    if (usec < 0)
        return {};
    return usec < 1'000'000 ? LetterText::tr("%1 ms").arg(double(usec) / 1000, 0, 'f', 1)
                            : LetterText::tr("%1 s").arg(double(usec) / 1e6, 0, 'f', 1);
}

QString hexText(const QByteArray &bytes, const QString &indent)
{
    QStringList lines;
    for (qsizetype at = 0; at < std::min(bytes.size(), BytesShown); at += BytesPerLine)
        lines += indent + QString::fromLatin1(bytes.mid(at, BytesPerLine).toHex(' '));
    if (bytes.size() > BytesShown)
        lines += indent + LetterText::tr("… and %1 more bytes").arg(countText(bytes.size() - BytesShown));
    return lines.join(u'\n');
}

qsizetype widest(const QStringList &texts)
{
    qsizetype width = 0;
    for (const QString &text : texts)
        width = std::max(width, text.size());
    return std::min<qsizetype>(width, 40);
}

} // namespace

QString attributesText(const MessageAttributes &attributes)
{
    if (attributes.isEmpty())
        return LetterText::tr("The message has no attributes.");
    QStringList names, types, lines;
    for (auto it = attributes.cbegin(); it != attributes.cend(); ++it) {
        names += it.key();
        types += it->dataType;
    }
    const qsizetype nameWidth = widest(names), typeWidth = widest(types);
    for (auto it = attributes.cbegin(); it != attributes.cend(); ++it) {
        const QString head =
            it.key().leftJustified(nameWidth) + u"  "_s + it->dataType.leftJustified(typeWidth) + u"  "_s;
        if (!it->dataType.startsWith("Binary"_L1)) {
            lines += head + it->stringValue;
            continue;
        }
        lines += head
            + (it->binaryValue.size() == 1 ? LetterText::tr("1 byte")
                                           : LetterText::tr("%1 bytes").arg(countText(it->binaryValue.size())));
        lines += hexText(it->binaryValue, QString(4, u' '));
    }
    return lines.join(u'\n');
}

QString systemAttributesText(const QMap<QString, QString> &attributes)
{
    if (attributes.isEmpty())
        return LetterText::tr("The queue gave none.");
    const qsizetype width = widest(attributes.keys());
    QStringList lines;
    for (auto it = attributes.cbegin(); it != attributes.cend(); ++it) {
        QString line = it.key().leftJustified(width) + u"  "_s + it.value();
        if (const qint64 msec = it.value().toLongLong(); it.key().endsWith("Timestamp"_L1) && msec > 0)
            line += u"  ("_s + dayAndTime(QDateTime::fromMSecsSinceEpoch(msec, Qt::UTC)) + u')';
        lines += line;
    }
    return lines.join(u'\n');
}

QString attemptsText(const QList<Attempt> &attempts)
{
    if (attempts.isEmpty())
        return LetterText::tr("No worker of ours saw it: the journal of this data folder\nhas no delivery of it.");
    QStringList lines;
    for (const Attempt &attempt : attempts) {
        const DeliveryReport &report = attempt.report;
        QStringList by{LetterText::tr("received %1").arg(report.receiveCount)};
        if (!attempt.worker.isEmpty())
            by += attempt.worker;
        by += LetterText::tr("lane %1").arg(report.lane);
        if (const QString took = tookText(report); !took.isEmpty())
            by += took;
        lines += dayAndTime(report.receivedAt) + u"  "_s + outcomeText(report);
        const QString indent(4, u' ');
        lines += indent + by.join(u" · "_s);
        if (!report.reason.isEmpty())
            lines += indent + report.reason;
        if (!report.mailReply.isEmpty() && report.mailReply != report.reason)
            lines += indent + LetterText::tr("server: %1").arg(report.mailReply);
        if (report.otherBody)
            lines += indent + LetterText::tr("its body was another one");
    }
    return lines.join(u'\n');
}

QString mailsText(const DeadLetterDetail &detail)
{
    QStringList lines;
    for (const Attempt &attempt : detail.attempts) {
        const DeliveryReport &report = attempt.report;
        if (report.outcome != Outcome::Sent && report.outcome != Outcome::InDoubt)
            continue;
        lines += dayAndTime(report.receivedAt) + u"  "_s
            + (report.outcome == Outcome::Sent ? LetterText::tr("sent to %1") : LetterText::tr("perhaps sent to %1"))
                  .arg(report.recipient.isEmpty() ? u"–"_s : report.recipient);
        const QString indent(4, u' ');
        if (!report.mailMessageId.isEmpty())
            lines += indent + LetterText::tr("Message-ID %1").arg(report.mailMessageId);
        if (!report.mailReply.isEmpty())
            lines += indent + LetterText::tr("server: %1").arg(report.mailReply);
        if (report.possiblyMailedTwice)
            lines += indent + LetterText::tr("possibly mailed twice");
    }
    if (lines.isEmpty())
        lines += LetterText::tr("No e-mail was sent for this event, as far as this console knows.");
    if (!detail.hasMailbox)
        return lines.join(u'\n');
    lines += QString();
    lines += detail.mails.isEmpty() ? LetterText::tr("In the embedded mailbox: none")
        : detail.mails.size() == 1  ? LetterText::tr("In the embedded mailbox: 1")
                                    : LetterText::tr("In the embedded mailbox: %1").arg(detail.mails.size());
    for (const MailRow &mail : detail.mails)
        lines += QString(4, u' ') + dayAndTime(mail.receivedAt) + u"  "_s + mail.to + u"  "_s + mail.subject;
    return lines.join(u'\n');
}

int mailCount(const DeadLetterDetail &detail)
{
    const auto sent = std::count_if(detail.attempts.cbegin(), detail.attempts.cend(),
                                    [](const Attempt &attempt) { return attempt.report.outcome == Outcome::Sent; });
    return int(std::max<qsizetype>(sent, detail.mails.size()));
}

} // namespace sendonce
