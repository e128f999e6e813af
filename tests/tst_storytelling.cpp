#include "worker/operate/storytelling.h"

#include <QTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

/// What the journal tells, made ready for people.
class StorytellingTest : public QObject
{
    Q_OBJECT

    /// Lines a second apart.
    static EventStory storyOf(const QStringList &texts)
    {
        EventStory story;
        story.eventId = u"e"_s;
        for (const QString &text : texts)
            story.lines.append({QDateTime::fromSecsSinceEpoch(1000 + story.lines.size(), Qt::UTC), text});
        return story;
    }
    static QStringList textsOf(const EventStory &story)
    {
        QStringList texts;
        for (const StoryLine &line : story.lines)
            texts.append(line.text);
        return texts;
    }

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void receivesAreCountedOutOfTheirLimit_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("limit");
        QTest::addColumn<QString>("told");
        QTest::newRow("failed") << u"received 2 · lane 1 · 451 busy → rolled back"_s << 3
                                << u"received 2 of 3 · lane 1 · 451 busy → rolled back"_s;
        QTest::newRow("last") << u"received 3 · mailed"_s << 3 << u"received 3 of 3 · mailed"_s;
        QTest::newRow("nothing else") << u"received 1"_s << 3 << u"received 1 of 3"_s;
        QTest::newRow("limit not known") << u"received 2 · mailed"_s << 0 << u"received 2 · mailed"_s;
        QTest::newRow("limit was another one") << u"received 5 · mailed"_s << 3 << u"received 5 · mailed"_s;
        QTest::newRow("count not known") << u"received · mailed"_s << 3 << u"received · mailed"_s;
        QTest::newRow("a stranger's words") << u"451 received 2 · of them"_s << 3 << u"451 received 2 · of them"_s;
        QTest::newRow("a stranger's number") << u"received 2nd · x"_s << 3 << u"received 2nd · x"_s;
    }

    void receivesAreCountedOutOfTheirLimit()
    {
        QFETCH(QString, text);
        QFETCH(int, limit);
        QFETCH(QString, told);
        QCOMPARE(textsOf(tellable(storyOf({text}), limit)), QStringList(told));
    }

    void aReplayStandsBeforeWhatCameOfIt()
    {
        const EventStory told =
            tellable(storyOf({u"received 3 · 451 → rolled back"_s, BeingReplayed, u"received 1 · mailed"_s,
                              replayedAsMessage(u"new"_s), u"received 1 · skipped"_s}),
                     3);
        QCOMPARE(textsOf(told),
                 (QStringList{u"received 3 of 3 · 451 → rolled back"_s, u"replayed as message new"_s,
                              u"received 1 of 3 · mailed"_s, u"received 1 of 3 · skipped"_s}));
        QCOMPARE(told.lines[1].at.toSecsSinceEpoch(), 1001); // when it began
        QCOMPARE(told.eventId, u"e"_s);
    }

    void twoReplaysAtOnce()
    {
        QCOMPARE(textsOf(tellable(storyOf({BeingReplayed, BeingReplayed, u"received 1 · mailed"_s,
                                           replayedAsMessage(u"a"_s), replayedAsMessage(u"b"_s)}),
                                  0)),
                 (QStringList{u"replayed as message b"_s, u"replayed as message a"_s, u"received 1 · mailed"_s}));
    }

    void whatHasNoOtherHalfStays()
    {
        // A console that died in between, and a journal from before there was a first half.
        const QStringList lines{replayedAsMessage(u"a"_s), BeingReplayed, u"received 1 · mailed"_s};
        QCOMPARE(textsOf(tellable(storyOf(lines), 0)), lines);
    }
};

QTEST_GUILESS_MAIN(StorytellingTest)
#include "tst_storytelling.moc"
