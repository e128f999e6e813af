#include "worker/operate/storytelling.h"

#include <QRegularExpression>

namespace sendonce {

using namespace Qt::StringLiterals;

const QString BeingReplayed = u"sent again from the dead letter queue"_s;

namespace {

const QString Replayed = u"replayed as message "_s;

QString withLimit(const QString &text, int maxReceiveCount)
{
    static const QRegularExpression Received(u"^received (\\d+)(?= · |$)"_s);
    const auto match = Received.match(text);
    if (!match.hasMatch() || match.captured(1).toInt() > maxReceiveCount)
        return text; // more often than that: the queue's policy was another one then
    return u"%1 of %2%3"_s.arg(match.captured(), QString::number(maxReceiveCount), text.mid(match.capturedEnd()));
}

} // namespace

QString replayedAsMessage(const QString &messageId)
{
    return Replayed + messageId;
}

EventStory tellable(EventStory story, int maxReceiveCount)
{
    QList<StoryLine> told;
    QList<qsizetype> begun; // places of replays whose reply has not come up yet
    for (StoryLine &line : story.lines) {
        if (line.text.startsWith(Replayed) && !begun.isEmpty()) {
            told[begun.takeLast()].text = line.text;
            continue;
        }
        if (line.text == BeingReplayed)
            begun.append(told.size());
        line.text = withLimit(line.text, maxReceiveCount);
        told.append(std::move(line));
    }
    story.lines = told;
    return story;
}

} // namespace sendonce
