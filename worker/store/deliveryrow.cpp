#include "worker/store/deliveryrow.h"

#include <QStringList>

#include <algorithm>
#include <array>

namespace sendonce::deliveryrow {

using namespace Qt::StringLiterals;

namespace {

constexpr qsizetype TextLimit = 2000;
constexpr qsizetype IdLimit = 250;

/// Words, not numbers: people look into the journal with other tools. In the order of the enums.
constexpr std::array OutcomeNames{"sent"_L1, "duplicate"_L1, "gone"_L1, "failed"_L1, "in doubt"_L1, "given back"_L1};
constexpr std::array<QLatin1StringView, StageCount> StageNames{"received"_L1,  "validated"_L1,   "claimed"_L1,
                                                               "looked up"_L1, "handed over"_L1, "accepted"_L1,
                                                               "committed"_L1, "deleted"_L1};

template <typename Enum, typename Names>
Enum fromName(const Names &names, const QString &name, Enum otherwise)
{
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? otherwise : Enum(found - names.begin());
}

QString cut(const QString &text, qsizetype limit)
{
    if (text.isNull())
        return u""_s;
    QString kept = text;
    if (text.size() > limit) {
        const bool splitsPair = text[limit - 2].isHighSurrogate();
        kept = text.left(limit - (splitsPair ? 2 : 1)) + u'…';
    }
    return kept.contains(QChar()) ? kept.replace(QChar(), QChar::ReplacementCharacter) : kept;
}

} // namespace

QString keptText(const QString &text)
{
    return cut(text, TextLimit);
}

QString keptId(const QString &id)
{
    return cut(id, IdLimit);
}

QVariantList valuesOf(const DeliveryReport &report, const QString &worker, qint64 recordedAt)
{
    QStringList stages;
    for (const qint64 usec : report.stageUsec)
        stages.append(QString::number(usec));
    const qint64 receivedAt = report.receivedAt.isValid() ? report.receivedAt.toMSecsSinceEpoch() * 1000 : recordedAt;
    return {receivedAt,
            keptId(worker),
            report.lane,
            keptId(report.messageId),
            report.receiveCount,
            keptId(report.eventId),
            keptText(report.eventType),
            keptText(report.applicationId),
            QString(OutcomeNames[size_t(report.outcome)]),
            QString(StageNames[size_t(report.failedStage)]),
            keptText(report.reason),
            keptText(report.mailReply),
            report.permanent,
            report.possiblyMailedTwice,
            report.otherBody,
            keptText(report.userId),
            keptText(report.recipient),
            keptText(report.mailMessageId),
            stages.join(u','),
            keptText(report.logLine),
            recordedAt};
}

DeliveryReport reportOf(const QVariantList &row)
{
    DeliveryReport report;
    qsizetype column = 0;
    const auto next = [&] { return row[column++]; };
    report.receivedAt = QDateTime::fromMSecsSinceEpoch(next().toLongLong() / 1000, Qt::UTC);
    next(); // worker
    report.lane = next().toInt();
    report.messageId = next().toString();
    report.receiveCount = next().toInt();
    report.eventId = next().toString();
    report.eventType = next().toString();
    report.applicationId = next().toString();
    report.outcome = fromName(OutcomeNames, next().toString(), Outcome::Failed);
    report.failedStage = fromName(StageNames, next().toString(), Stage::Received);
    report.reason = next().toString();
    report.mailReply = next().toString();
    report.permanent = next().toBool();
    report.possiblyMailedTwice = next().toBool();
    report.otherBody = next().toBool();
    report.userId = next().toString();
    report.recipient = next().toString();
    report.mailMessageId = next().toString();
    const QStringList stages = next().toString().split(u',');
    for (int stage = 0; stage < StageCount && stage < stages.size(); ++stage)
        report.stageUsec[size_t(stage)] = stages[stage].toLongLong();
    report.logLine = next().toString();
    return report;
}

} // namespace sendonce::deliveryrow
