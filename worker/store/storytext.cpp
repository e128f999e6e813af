#include "worker/store/storytext.h"

#include <QStringList>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

QString orElse(const QString &text, const QString &otherwise)
{
    return text.isEmpty() ? otherwise : text;
}

QString endOf(const DeliveryReport &report)
{
    switch (report.outcome) {
    case Outcome::Sent:
        return (report.mailReply.isEmpty() ? u"mailed"_s : u"mailed (%1)"_s.arg(report.mailReply))
            + u" · claim committed"_s;
    case Outcome::Duplicate:
        return report.otherBody ? u"skipped: already processed, with another body"_s : u"skipped: already processed"_s;
    case Outcome::Gone:
        return (report.applicationId.isEmpty()
                    ? u"skipped: what it is about no longer exists"_s
                    : u"skipped: application %1 no longer exists"_s.arg(report.applicationId))
            + u" · claim committed"_s;
    case Outcome::Failed: {
        QString text = orElse(report.reason, orElse(report.mailReply, u"failed"_s));
        if (report.permanent)
            text += u" (permanent)"_s;
        // Before the claim there is nothing to roll back.
        return text + (report.failedStage < Stage::Claimed ? u" → left to the queue"_s : u" → rolled back"_s);
    }
    case Outcome::InDoubt:
        return u"perhaps mailed: %1 → rolled back"_s.arg(orElse(report.reason, u"the final reply is lost"_s));
    case Outcome::GivenBack:
        return report.reason.isEmpty() ? u"given back"_s : u"given back: %1"_s.arg(report.reason);
    }
    Q_UNREACHABLE();
}

} // namespace

QString storyText(const DeliveryReport &report)
{
    QStringList parts;
    parts.append(report.receiveCount > 0 ? u"received %1"_s.arg(report.receiveCount) : u"received"_s);
    if (report.lane > 0)
        parts.append(u"lane %1"_s.arg(report.lane));
    parts.append(endOf(report));
    if (report.possiblyMailedTwice)
        parts.append(u"possibly mailed twice"_s);
    return parts.join(u" · "_s);
}

} // namespace sendonce
