#include "worker/operate/verdict.h"

#include "worker/events/event.h"

#include <QtTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

/// What a dead letter's row says of a replay (spec.md, rule 9).
class VerdictTest : public QObject
{
    Q_OBJECT
    EventTypes m_types;

    DeadLetter judged(const DeadLetterFacts &facts,
                      const QByteArray &body = composeStatusChanged(u"E"_s, 3, u"a"_s, u"b"_s)) const
    {
        DeadLetter letter;
        letter.message.body = body;
        letter.message.messageId = u"M"_s;
        describe(letter, m_types);
        judge(letter, facts);
        return letter;
    }

    static Journal::Knowledge failed(const QString &reason)
    {
        Journal::Knowledge known;
        known.lastReason = reason;
        known.lastFailedAt = QDateTime(QDate(2026, 12, 1), QTime(14, 6, 41), Qt::UTC);
        return known;
    }

private Q_SLOTS:
    void initTestCase()
    {
        auto types = EventTypes::load({});
        QVERIFY(types);
        m_types = types.take();
    }

    void notHandledTellsTheJournalsReason()
    {
        DeadLetterFacts facts;
        facts.journal = failed(u"451 4.3.0 mail server down"_s);
        const DeadLetter letter = judged(facts);
        QCOMPARE(letter.verdict, Verdict::NotHandled);
        QCOMPARE(letter.verdictText, u"not handled · a replay sends"_s);
        QCOMPARE(letter.reason, u"451 4.3.0 mail server down"_s);
        QCOMPARE(letter.eventId, u"E"_s);
        QCOMPARE(letter.applicationId, u"3"_s);
        QCOMPARE(letter.diedAt, facts.journal->lastFailedAt);
    }

    void aRefusalForGoodIsMarked()
    {
        DeadLetterFacts facts;
        facts.journal = failed(u"550 5.1.1 no such mailbox"_s);
        facts.journal->permanent = true;
        QCOMPARE(judged(facts).reason, u"550 5.1.1 no such mailbox (permanent)"_s);
    }

    void whatNoWorkerOfOursSawSaysSo() { QCOMPARE(judged({}).reason, u"no worker of ours saw it"_s); }

    void handled_data()
    {
        QTest::addColumn<bool>("journalled");
        QTest::addColumn<bool>("mailed");
        QTest::addColumn<bool>("gone");
        QTest::addColumn<QString>("how");
        QTest::newRow("mailed") << true << true << false << u"mailed"_s;
        QTest::newRow("application gone") << true << false << true << u"application gone"_s;
        QTest::newRow("by another worker") << false << false << false << u"by another worker"_s;
    }

    void handled()
    {
        QFETCH(bool, journalled);
        QFETCH(bool, mailed);
        QFETCH(bool, gone);
        QFETCH(QString, how);
        DeadLetterFacts facts;
        facts.processedAt = QDateTime(QDate(2026, 11, 30), QTime(14, 2, 11), Qt::UTC);
        if (journalled) {
            facts.journal.emplace();
            facts.journal->mailed = mailed;
            facts.journal->gone = gone;
        }
        const DeadLetter letter = judged(facts);
        QCOMPARE(letter.verdict, Verdict::Handled);
        QVERIFY2(letter.verdictText.contains(how), qPrintable(letter.verdictText));
        QVERIFY(letter.verdictText.endsWith(u"a replay is skipped"_s));
    }

    void inDoubtIsNotHidden()
    {
        DeadLetterFacts facts;
        facts.journal = failed(u"reply lost after the final dot"_s);
        facts.journal->inDoubt = true;
        QCOMPARE(judged(facts).verdict, Verdict::InDoubt);
        facts.processedAt = QDateTime::currentDateTimeUtc(); // a claim beats the doubt: the event is handled
        QCOMPARE(judged(facts).verdict, Verdict::Handled);
    }

    void whatAReplayOfADoubtDoesFollowsThePolicy()
    {
        DeadLetterFacts facts;
        facts.journal = failed(u"reply lost after the final dot"_s);
        facts.journal->inDoubt = true;
        QVERIFY(judged(facts).verdictText.endsWith(u"a replay sends"_s));
        facts.inDoubt = DoubtPolicy::Hold;
        QVERIFY(judged(facts).verdictText.endsWith(u"a replay is held until somebody decides"_s));
        facts.inDoubt = DoubtPolicy::Ask;
        QVERIFY(judged(facts).verdictText.endsWith(u"a replay asks the receiving side first"_s));
    }

    void anUnreadableDatabaseIsUnknownNeverNotHandled()
    {
        DeadLetterFacts facts;
        facts.databaseRead = false;
        QCOMPARE(judged(facts).verdict, Verdict::Unknown);
    }

    void anInvalidBodyFailsAgainWhateverElseIsKnown()
    {
        DeadLetterFacts facts;
        facts.processedAt = QDateTime::currentDateTimeUtc();
        const DeadLetter letter = judged(facts, R"({"type":"application.archived","event_id":"E","application_id":3})");
        QCOMPARE(letter.verdict, Verdict::Invalid);
        QVERIFY2(letter.reason.contains(u"application.archived"_s), qPrintable(letter.reason));
    }
};

QTEST_GUILESS_MAIN(VerdictTest)
#include "tst_verdict.moc"
