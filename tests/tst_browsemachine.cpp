#include "worker/operate/browsemachine.h"

#include <QtTest>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

/// How a DLQ is looked through, without a queue or a clock.
class BrowseMachineTest : public QObject
{
    Q_OBJECT
    using Kind = BrowseCommand::Kind;

    static QList<BrowseMachine::Seen> letters(int from, int count, const QString &handle = u"h"_s)
    {
        QList<BrowseMachine::Seen> seen;
        for (int i = from; i < from + count; ++i)
            seen.append({u"m%1"_s.arg(i), u"%1%2"_s.arg(handle).arg(i)});
        return seen;
    }
    static int count(const BrowseCommands &commands, Kind kind)
    {
        return int(std::count_if(commands.cbegin(), commands.cend(),
                                 [kind](const BrowseCommand &command) { return command.kind == kind; }));
    }
    static BrowseMachine::Limits one()
    {
        BrowseMachine::Limits limits;
        limits.receives = 1;
        return limits;
    }
    /// Answers every Release; the last commands.
    static BrowseCommands releaseAll(BrowseMachine &machine, BrowseCommands commands)
    {
        while (count(commands, Kind::Release) > 0) {
            BrowseCommands next;
            for (int i = count(commands, Kind::Release); i > 0; --i)
                next += machine.released(0);
            commands = next;
        }
        return commands;
    }

private Q_SLOTS:
    void severalReceivesAreOutAtOnce()
    {
        BrowseMachine machine({});
        const BrowseCommands first = machine.start();
        QCOMPARE(count(first, Kind::Receive), 4);
        QCOMPARE(first[0].count, 10);
        QCOMPARE(count(machine.received(first[0].receive, letters(0, 10), 0ms, nullptr), Kind::Receive), 1);
    }

    void aLetterSeenTwiceIsOneWithTheNewestHandle()
    {
        BrowseMachine machine(one());
        machine.start();
        QList<qsizetype> fresh;
        machine.received(1, letters(0, 3), 0ms, &fresh);
        QCOMPARE(fresh, (QList<qsizetype>{0, 1, 2}));
        fresh.clear();
        machine.received(2, letters(2, 2, u"new"_s), 0ms, &fresh);
        QCOMPARE(fresh, QList<qsizetype>{1});
        QCOMPARE(machine.size(), 4);
        QCOMPARE(machine.handle(machine.placeOf(u"m2"_s)), u"new2"_s);
        QCOMPARE(machine.handle(0), u"h0"_s);
    }

    void oneEmptyAnswerIsNoProofAndThoseBegunBeforeTheLastLetterDoNotCount()
    {
        BrowseMachine::Limits limits;
        limits.receives = 2;
        BrowseMachine machine(limits);
        machine.start(); // 1 and 2
        machine.received(1, letters(0, 10), 0ms, nullptr); // 3
        QCOMPARE(count(machine.received(2, {}, 0ms, nullptr), Kind::Receive), 1); // begun before: 4
        QCOMPARE(count(machine.received(3, {}, 0ms, nullptr), Kind::Release), 0);
        const BrowseCommands end = machine.received(4, {}, 0ms, nullptr);
        QCOMPARE(count(end, Kind::Release), 0); // 5 is still out: it may bring some
        QCOMPARE(count(machine.received(5, letters(10, 1), 0ms, nullptr), Kind::Release), 2);
        QCOMPARE(machine.size(), 11);
    }

    void everythingIsMadeVisibleAtTheEndAndWhatIsRefusedIsCounted()
    {
        BrowseMachine machine(one());
        machine.start();
        machine.received(1, letters(0, 10), 0ms, nullptr);
        machine.received(2, letters(10, 5), 0ms, nullptr);
        machine.received(3, {}, 0ms, nullptr);
        const BrowseCommands end = machine.received(4, {}, 0ms, nullptr);
        QCOMPARE(count(end, Kind::Release), 2);
        QCOMPARE(end[0].letters.size(), 10);
        QCOMPARE(end[1].letters, (QList<qsizetype>{10, 11, 12, 13, 14}));
        QVERIFY(machine.released(2).isEmpty());
        const BrowseCommands last = machine.released(0);
        QCOMPARE(count(last, Kind::Finished), 1);
        QCOMPARE(machine.stillHidden(), 2);
    }

    void noMoreThanTheLimitIsHeldAndThatIsSaid()
    {
        BrowseMachine::Limits limits;
        limits.held = 25;
        limits.receives = 4;
        BrowseMachine machine(limits);
        const BrowseCommands first = machine.start();
        QCOMPARE(count(first, Kind::Receive), 3);
        QCOMPARE(first[2].count, 5);
        machine.received(1, letters(0, 10), 0ms, nullptr);
        machine.received(2, letters(10, 10), 0ms, nullptr);
        QVERIFY(!machine.isFull());
        releaseAll(machine, machine.received(3, letters(20, 5), 0ms, nullptr));
        QVERIFY(machine.isFull());
        QCOMPARE(machine.size(), 25);
    }

    void receivesThatFailMidwayEndItWithWhatWasSeen()
    {
        BrowseMachine machine(one());
        machine.start();
        machine.received(1, letters(0, 10), 0ms, nullptr);
        const Error lost{ErrorKind::Unreachable, u"closed before the reply"_s, {}};
        BrowseCommands commands = machine.receiveFailed(2, lost);
        QCOMPARE(commands.size(), 1);
        QCOMPARE(commands[0].kind, Kind::Wait);
        commands = machine.waited();
        QCOMPARE(count(commands, Kind::Receive), 1);
        machine.receiveFailed(3, lost);
        machine.waited();
        commands = machine.receiveFailed(4, lost);
        QCOMPARE(count(commands, Kind::Release), 1);
        QCOMPARE(count(releaseAll(machine, commands), Kind::Finished), 1);
        QCOMPARE(machine.error(), lost.text);
        QCOMPARE(machine.size(), 10);
        QCOMPARE(machine.lostReceives(), 3);
    }

    void aFailureThatPassesDoesNotEndIt()
    {
        BrowseMachine machine(one());
        machine.start();
        machine.receiveFailed(1, {ErrorKind::Throttled, u"slow down"_s, {}});
        machine.waited();
        machine.received(2, letters(0, 1), 0ms, nullptr);
        QVERIFY(machine.error().isEmpty());
        machine.receiveFailed(3, {ErrorKind::NotFound, u"the queue is gone"_s, {}});
        QCOMPARE(machine.error(), u"the queue is gone"_s); // of no use to try again
    }

    void aCancelWaitsForWhatIsOut()
    {
        BrowseMachine::Limits limits;
        limits.receives = 2;
        BrowseMachine machine(limits);
        machine.start();
        machine.received(1, letters(0, 10), 0ms, nullptr);
        QVERIFY(machine.cancel().isEmpty());
        QVERIFY(machine.received(2, letters(10, 3), 0ms, nullptr).isEmpty()); // 3 is out
        const BrowseCommands end = machine.received(3, {}, 0ms, nullptr);
        QCOMPARE(count(end, Kind::Release), 2);
        QVERIFY(machine.isCancelled());
        QCOMPARE(machine.size(), 13);
    }

    void whatIsHeldForHalfTheTimeIsHiddenAgain()
    {
        BrowseMachine machine(one());
        machine.start();
        machine.received(1, letters(0, 3), 0ms, nullptr);
        machine.received(2, letters(3, 1), 200s, nullptr);
        QVERIFY(machine.tick(299s).isEmpty());
        const BrowseCommands due = machine.tick(300s);
        QCOMPARE(due.size(), 1);
        QCOMPARE(due[0].kind, Kind::Renew);
        QCOMPARE(due[0].letters, (QList<qsizetype>{0, 1, 2}));
        machine.renewed();
        QCOMPARE(machine.tick(501s)[0].letters, QList<qsizetype>{3});
    }

    void aSearchEndsWhenAllAreFoundAndKeepsThose()
    {
        BrowseMachine machine(one(), {u"m1"_s, u"m12"_s});
        machine.start();
        machine.received(1, letters(0, 10), 0ms, nullptr);
        const BrowseCommands end = machine.received(2, letters(10, 5), 0ms, nullptr);
        QCOMPARE(count(end, Kind::Release), 2);
        for (const BrowseCommand &command : end)
            QVERIFY(!command.letters.contains(1) && !command.letters.contains(12));
        QVERIFY(machine.missing().isEmpty());
    }

    void aSearchInVainAsksWhetherToGoOn()
    {
        BrowseMachine machine(one(), {u"m1"_s, u"elsewhere"_s});
        machine.start();
        machine.received(1, letters(0, 10), 0ms, nullptr);
        machine.received(2, {}, 0ms, nullptr);
        QCOMPARE(count(machine.received(3, {}, 0ms, nullptr), Kind::Missing), 1);
        QCOMPARE(machine.missing(), QStringList{u"elsewhere"_s});
        QCOMPARE(count(machine.goOn(), Kind::Receive), 1);
        machine.received(4, {}, 0ms, nullptr);
        QCOMPARE(count(machine.received(5, {}, 0ms, nullptr), Kind::Missing), 1);
        const BrowseCommands end = machine.end();
        QCOMPARE(count(end, Kind::Release), 1);
        QCOMPARE(end[0].letters.size(), 9); // not m1
    }
};

QTEST_APPLESS_MAIN(BrowseMachineTest)
#include "tst_browsemachine.moc"
