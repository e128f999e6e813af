#include "worker/consume/consumermachine.h"

#include <QtTest>

#include <functional>

using namespace sendonce;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;
using Kind = ConsumerCommand::Kind;

namespace {

Message message(const QString &id, const QString &handle = u"h"_s)
{
    Message result;
    result.messageId = id;
    result.receiptHandle = handle;
    return result;
}

QList<Kind> kinds(const ConsumerCommands &commands)
{
    QList<Kind> result;
    for (const auto &command : commands)
        result.append(command.kind);
    return result;
}

using Ended = ConsumerMachine::Ended;

QList<Message> messages(int count, const QString &prefix = u"m"_s)
{
    QList<Message> result;
    for (int i = 0; i < count; ++i)
        result.append(message(prefix + QString::number(i)));
    return result;
}

int count(const ConsumerCommands &commands, Kind kind)
{
    return int(kinds(commands).count(kind));
}

/// A worker of so many lanes whose deliveries have taken `pace` each so far; all lanes are free, one receive of 10 is
/// under way.
ConsumerMachine paced(int lanes, std::chrono::milliseconds pace, std::chrono::milliseconds visibility = 30s,
                      int *asked = nullptr)
{
    ConsumerMachine machine(lanes, visibility);
    ConsumerCommands commands = machine.start(0s);
    commands = machine.received({message(u"first"_s)}, commands[0].count, 0s);
    const int lane = commands[1].lane;
    commands += machine.laneFree(lane, Ended::Mailed, pace);
    if (asked)
        *asked = commands.last().count;
    return machine;
}

/// Lanes of eight, two of them at first, that work at once after 160 deliveries, duplicates among them.
int lanesAfter(const std::function<std::chrono::milliseconds(int)> &took,
               const std::function<std::chrono::milliseconds(int)> &mail)
{
    ConsumerMachine machine(8, 30s, {}, 0, 2);
    machine.start(0s);
    QList<int> busy;
    const auto note = [&busy](const ConsumerCommands &commands) {
        for (const ConsumerCommand &each : commands) {
            if (each.kind == Kind::Dispatch)
                busy.append(each.lane);
        }
    };
    auto now = 0ms;
    note(machine.received(messages(2), 2, now));
    for (int i = 0; i < 160; ++i) {
        note(machine.received(messages(3, u"%1-"_s.arg(i)), 0, now));
        now += took(i);
        note(machine.laneFree(busy.takeFirst(), Ended::Mailed, now, mail(i)));
        if (i % 4 == 0)
            note(machine.laneFree(busy.takeFirst(), Ended::NoMail, now));
    }
    note(machine.received(messages(10, u"last"_s), 0, now));
    return int(busy.size());
}

/// Two lanes at work with "m0" and "m1", the rest of `all` waiting.
ConsumerMachine busyLanes(int all, qint64 limit = 0, MailPace pace = {})
{
    ConsumerMachine machine(2, 30s, pace, limit);
    machine.start(0s);
    const auto first = machine.received({message(u"first"_s)}, 2, 0s);
    machine.laneFree(first[1].lane, Ended::Mailed, 5ms);
    machine.received(messages(all), 1, 10ms);
    return machine;
}
QStringList offered(const ConsumerMachine &machine, std::chrono::milliseconds now = 20ms)
{
    QStringList ids;
    for (const ConsumerMachine::Waiting &each : machine.offerable(now))
        ids.append(each.message.messageId);
    return ids;
}

} // namespace

class ConsumerMachineTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void asksForAsManyAsLanesAreFree()
    {
        ConsumerMachine four(4);
        auto commands = four.start(0s);
        QCOMPARE(kinds(commands), QList{Kind::Receive});
        QCOMPARE(commands[0].count, 4);
        QVERIFY(commands[0].longPoll);
        commands = four.received({message(u"a"_s)}, 4, 5s);
        QCOMPARE(kinds(commands), (QList{Kind::Hold, Kind::Dispatch, Kind::Receive}));
        QCOMPARE(commands[1].lane, 1);
        QCOMPARE(commands[1].receivedAt, 5s);
        QCOMPARE(commands[2].count, 3);
    }

    void theSleepingLaneIsTheOneThatTheNextMessageGets()
    {
        ConsumerMachine machine(3);
        QVERIFY(!machine.sleepingLane()); // not started
        machine.start(0s);
        QCOMPARE(machine.sleepingLane(), std::optional(1));
        machine.received({message(u"a"_s), message(u"b"_s)}, 3, 1s); // lanes 1 and 2
        QVERIFY(!machine.sleepingLane());
        machine.laneFree(1, Ended::Mailed, 2s);
        QVERIFY(!machine.sleepingLane()); // lane 2 is awake
        machine.laneFree(2, Ended::Mailed, 2s);
        QCOMPARE(machine.sleepingLane(), std::optional(2));
        const auto commands = machine.received({message(u"c"_s)}, 3, 3s);
        QCOMPARE(commands[1].kind, Kind::Dispatch);
        QCOMPARE(commands[1].lane, 2);
        machine.laneFree(2, Ended::Mailed, 4s);
        machine.databaseLost();
        QVERIFY(!machine.sleepingLane());
    }

    void neverAsksForMoreThanTen()
    {
        ConsumerMachine many(32);
        QCOMPARE(many.start(0s)[0].count, 10);
    }

    void idleHoldsOneLongPoll()
    {
        ConsumerMachine many(32);
        QCOMPARE(count(many.start(0s), Kind::Receive), 1);
        QCOMPARE(count(many.received({}, 10, 20s), Kind::Receive), 1);
    }

    void doesNotReceiveWhileEveryLaneIsBusyAndNoPaceIsKnown()
    {
        ConsumerMachine one(1);
        one.start(0s);
        QCOMPARE(kinds(one.received({message(u"a"_s)}, 1, 0s)), (QList{Kind::Hold, Kind::Dispatch}));
        QCOMPARE(one.inHand(), 1);
    }

    void quickLanesHaveABatchWaiting()
    {
        ConsumerMachine one = paced(1, 10ms); // 100 a second
        auto commands = one.received(messages(1), 10, 1s);
        QCOMPARE(kinds(commands), (QList{Kind::Hold, Kind::Dispatch, Kind::Receive}));
        QCOMPARE(commands[2].count, 10);
        commands = one.received(messages(10, u"n"_s), 10, 1s);
        QCOMPARE(count(commands, Kind::Hold), 10);
        QCOMPARE(count(commands, Kind::Receive), 0);
        QCOMPARE(one.inHand(), 11);
        // The lane takes from what waits, oldest first; only when a whole batch fits is more asked for.
        for (int i = 0; i < 9; ++i) {
            commands = one.laneFree(1, Ended::Mailed, 1s + 10ms * (i + 1));
            QCOMPARE(kinds(commands), QList{Kind::Dispatch});
            QCOMPARE(commands[0].message.messageId, u"n%1"_s.arg(i));
        }
        QCOMPARE(kinds(one.laneFree(1, Ended::Mailed, 2s)), (QList{Kind::Dispatch, Kind::Receive}));
    }

    void slowLanesTakeNoMoreThanTheyStartInAQuarterOfTheVisibility_data()
    {
        QTest::addColumn<int>("lanes");
        QTest::addColumn<int>("paceMsec");
        QTest::addColumn<int>("visibilitySec");
        QTest::addColumn<int>("held");
        QTest::newRow("a mail takes longer than that") << 1 << 20'000 << 30 << 0;
        QTest::newRow("two in 7.5 s") << 1 << 3'000 << 30 << 2;
        QTest::newRow("four lanes") << 4 << 4'000 << 30 << 7;
        QTest::newRow("short visibility") << 1 << 100 << 2 << 5;
        QTest::newRow("never more than a batch") << 32 << 1 << 43'200 << 10;
    }

    void slowLanesTakeNoMoreThanTheyStartInAQuarterOfTheVisibility()
    {
        QFETCH(int, lanes);
        QFETCH(int, paceMsec);
        QFETCH(int, visibilitySec);
        QFETCH(int, held);
        int asked = 0;
        ConsumerMachine machine =
            paced(lanes, std::chrono::milliseconds(paceMsec), std::chrono::seconds(visibilitySec), &asked);
        // A queue that never runs dry answers whatever is asked.
        QList<int> underWay{asked};
        int dispatched = 0, waiting = 0;
        for (int round = 0; !underWay.isEmpty(); ++round) {
            QVERIFY(round < 100);
            const int count = underWay.takeFirst();
            const auto commands = machine.received(messages(count, u"r%1-"_s.arg(round)), count, 1s);
            QCOMPARE(::count(commands, Kind::GiveBack), 0);
            dispatched += ::count(commands, Kind::Dispatch);
            waiting += ::count(commands, Kind::Hold) - ::count(commands, Kind::Dispatch);
            for (const auto &command : commands) {
                if (command.kind == Kind::Receive)
                    underWay.append(command.count);
            }
        }
        QCOMPARE(dispatched, lanes);
        QVERIFY2(waiting <= held, qPrintable(QString::number(waiting)));
        QVERIFY(held < 10 || waiting > 0);
    }

    void aFullAnswerIsFollowedByMoreThanOneReceive()
    {
        ConsumerMachine machine = paced(32, 10ms);
        auto commands = machine.received(messages(10), 10, 1s);
        QCOMPARE(count(commands, Kind::Receive), 3); // 22 lanes and 10 places are free
        QCOMPARE(commands.last().longPoll, false); // only one of them may wait
        commands = machine.received(messages(3, u"n"_s), 10, 1s);
        QCOMPARE(count(commands, Kind::Receive), 0); // the queue is empty now, and two are still under way
    }

    void aMessageInHandThatComesAgainIsNotStartedTwice()
    {
        ConsumerMachine two(2);
        two.start(0s);
        two.received({message(u"a"_s, u"old"_s)}, 2, 0s);
        const auto commands = two.received({message(u"a"_s, u"new"_s)}, 1, 1s);
        QCOMPARE(commands[0].kind, Kind::NewerHandle);
        QCOMPARE(commands[0].message.receiptHandle, u"new"_s);
        QCOMPARE(two.inHand(), 1);
    }

    void aWaitingMessageThatComesAgainIsGivenBackWithItsNewestHandle()
    {
        ConsumerMachine one = paced(1, 10ms);
        one.received(messages(1), 10, 1s);
        one.received({message(u"w"_s, u"old"_s)}, 10, 1s);
        QCOMPARE(one.received({message(u"w"_s, u"new"_s)}, 9, 2s)[0].kind, Kind::NewerHandle);
        const auto commands = one.stop();
        QCOMPARE(commands.last().kind, Kind::GiveBack);
        QCOMPARE(commands.last().message.receiptHandle, u"new"_s);
    }

    void theSameMessageTwiceInOneReceiveIsOneDelivery()
    {
        ConsumerMachine two(2);
        two.start(0s);
        const auto commands = two.received({message(u"a"_s, u"1"_s), message(u"a"_s, u"2"_s)}, 2, 0s);
        QCOMPARE(kinds(commands).mid(0, 3), (QList{Kind::Hold, Kind::NewerHandle, Kind::Dispatch}));
    }

    void moreThanAskedForIsGivenBack()
    {
        ConsumerMachine one(1);
        one.start(0s);
        QCOMPARE(kinds(one.received({message(u"a"_s), message(u"b"_s)}, 1, 0s)),
                 (QList{Kind::Hold, Kind::GiveBack, Kind::Dispatch}));
    }

    void theLaneThatWorkedLastWorksNext()
    {
        ConsumerMachine four(4);
        four.start(0s);
        QCOMPARE(four.received(messages(2), 4, 0s)[2].lane, 1);
        four.laneFree(2, Ended::Mailed, 1s);
        const auto commands = four.received({message(u"x"_s)}, 2, 1s);
        QCOMPARE(commands[1].kind, Kind::Dispatch);
        QCOMPARE(commands[1].lane, 2);
    }

    void whoFindsTheEventBusyGivesTheWaitingOnesBack()
    {
        ConsumerMachine one = paced(1, 10ms);
        one.received(messages(1), 10, 1s);
        one.received(messages(3, u"w"_s), 10, 1s);
        QCOMPARE(one.inHand(), 4);
        const auto commands = one.laneFree(1, Ended::GivenBack, 2s);
        QCOMPARE(count(commands, Kind::GiveBack), 3);
        QCOMPARE(count(commands, Kind::Dispatch), 0);
        QCOMPARE(one.inHand(), 0);
    }

    void stopWhenIdleAbortsTheLongPollAndIsStoppedAtOnce()
    {
        ConsumerMachine one(1);
        one.start(0s);
        QCOMPARE(kinds(one.stop()), QList{Kind::AbortReceives});
        QCOMPARE(kinds(one.receiveFailed({ErrorKind::Aborted, {}, {}}, 1, 0, 1s)), QList{Kind::Stopped});
    }

    void stopWaitsForWhatIsInWorkAndGivesTheRestBack()
    {
        ConsumerMachine one = paced(1, 10ms);
        one.received(messages(1), 10, 1s);
        one.received(messages(2, u"w"_s), 10, 1s);
        QCOMPARE(kinds(one.stop()), (QList{Kind::GiveBack, Kind::GiveBack}));
        QCOMPARE(kinds(one.laneFree(1, Ended::Mailed, 2s)), QList{Kind::Stopped});
    }

    void messagesThatArriveWhileStoppingAreGivenBack()
    {
        ConsumerMachine one(1);
        one.start(0s);
        one.stop();
        QCOMPARE(kinds(one.received({message(u"a"_s)}, 1, 1s)), (QList{Kind::GiveBack, Kind::Stopped}));
    }

    void stopBeforeStartAndTwiceAreFine()
    {
        ConsumerMachine one(1);
        QCOMPARE(kinds(one.stop()), QList{Kind::Stopped});
        QCOMPARE(kinds(one.stop()), QList{Kind::Stopped});
    }

    void startWhileStoppingGoesOn()
    {
        ConsumerMachine one(1);
        one.start(0s);
        one.stop();
        QVERIFY(one.start(1s).isEmpty()); // the aborted receive has not come back yet
        QCOMPARE(kinds(one.receiveFailed({ErrorKind::Aborted, {}, {}}, 1, 0, 1s)), QList{Kind::Receive});
    }

    void backsOffWithGrowingPausesAndRecovers()
    {
        ConsumerMachine one(1);
        one.start(0s);
        const Error lost{ErrorKind::Unreachable, {}, {}};
        QList<std::chrono::milliseconds> waits;
        for (int i = 0; i < 8; ++i) {
            const auto commands = one.receiveFailed(lost, 1, 1.0, 1s);
            QCOMPARE(kinds(commands), QList{Kind::Wait});
            waits.append(commands[0].wait);
            QCOMPARE(kinds(one.timerFired(1s)), QList{Kind::Receive});
        }
        QCOMPARE(waits, (QList<std::chrono::milliseconds>{1s, 2s, 4s, 8s, 16s, 30s, 30s, 30s}));
        QCOMPARE(one.failures(), 8);
        one.received({}, 1, 2s);
        QCOMPARE(one.failures(), 0);
        QCOMPARE(one.receiveFailed(lost, 1, 0.0, 3s)[0].wait, 500ms); // jitter never makes a tight loop of it
    }

    void severalReceivesThatFailTogetherAreOneFailure()
    {
        ConsumerMachine machine = paced(32, 10ms);
        QCOMPARE(count(machine.received(messages(10), 10, 1s), Kind::Receive), 3);
        const Error lost{ErrorKind::Unreachable, {}, {}};
        QCOMPARE(kinds(machine.receiveFailed(lost, 10, 1, 2s)), QList{Kind::Wait});
        QCOMPARE(kinds(machine.receiveFailed(lost, 10, 1, 2s)), QList<Kind>());
        QCOMPARE(kinds(machine.receiveFailed(lost, 10, 1, 2s)), QList<Kind>());
        QCOMPARE(machine.failures(), 1);
        QCOMPARE(kinds(machine.timerFired(3s)), QList{Kind::Receive});
    }

    void aStopWhileBackingOffNeedsNoReceive()
    {
        ConsumerMachine one(1);
        one.start(0s);
        one.receiveFailed({ErrorKind::Unreachable, {}, {}}, 1, 0, 1s);
        QCOMPARE(kinds(one.stop()), QList{Kind::Stopped});
        QVERIFY(one.timerFired(2s).isEmpty());
    }

    void noMoreIsStartedThanTheLimit()
    {
        ConsumerMachine machine(4, 30s, {}, 3);
        QCOMPARE(machine.start(0s)[0].count, 3);
        auto commands = machine.received(messages(2), 3, 0s);
        QCOMPARE(count(commands, Kind::Dispatch), 2);
        QCOMPARE(commands.last().count, 1);
        commands = machine.received(messages(2, u"n"_s), 1, 0s); // more than was asked for
        QCOMPARE(count(commands, Kind::Dispatch), 1);
        QCOMPARE(count(commands, Kind::GiveBack), 1);
        QVERIFY(machine.laneFree(1, Ended::Mailed, 1s).isEmpty());
    }

    void mailsLeaveAtTheRateThatIsAllowed()
    {
        ConsumerMachine machine(8, 30s, {2});
        machine.start(0s);
        auto commands = machine.received(messages(8), 8, 0s);
        QCOMPARE(count(commands, Kind::Dispatch), 2); // a second's worth at once
        QCOMPARE(commands.last().kind, Kind::WaitForRate);
        QCOMPARE(commands.last().wait, 500ms);
        commands = machine.rateTimerFired(500ms);
        QCOMPARE(kinds(commands), (QList{Kind::Dispatch, Kind::WaitForRate}));
        // A duplicate sends nothing, and its place goes to the next.
        QCOMPARE(count(machine.laneFree(1, Ended::NoMail, 600ms), Kind::Dispatch), 1);
        QCOMPARE(count(machine.laneFree(2, Ended::Mailed, 600ms), Kind::Dispatch), 0);
    }

    void noMoreIsHeldThanTheRateLetsStart()
    {
        ConsumerMachine machine(32, 8s, {2}); // 4 in a quarter of 8 s
        QCOMPARE(machine.start(0s)[0].count, 4);
    }

    void aMailServerThatAsksForPatienceGetsIt()
    {
        ConsumerMachine machine = paced(2, 10ms);
        machine.received(messages(2), 2, 1s);
        machine.received(messages(2, u"w"_s), 10, 1s);
        auto commands = machine.laneFree(1, Ended::Throttled, 2s);
        QCOMPARE(kinds(commands), (QList{Kind::GiveBack, Kind::GiveBack, Kind::WaitForRate}));
        QCOMPARE(commands.last().wait, 1s);
        QVERIFY(machine.rateTimerFired(2500ms).last().kind == Kind::WaitForRate); // too early
        QCOMPARE(kinds(machine.rateTimerFired(3s)), QList{Kind::Receive});
        commands = machine.laneFree(2, Ended::Throttled, 3s); // and again: longer
        QCOMPARE(commands.last().wait, 2s);
    }

    void refusedKeysStopReceivesAndNothingElse()
    {
        ConsumerMachine two(2);
        two.start(0s);
        two.received({message(u"a"_s)}, 2, 0s); // and receives for the other lane
        QVERIFY(!two.hasRoom());
        QVERIFY(two.receiveRefused(1).isEmpty()); // no pause of its own
        QVERIFY(two.laneFree(1, Ended::Mailed, 1s).isEmpty());
        QVERIFY(two.timerFired(1s).isEmpty());
        QVERIFY(two.hasRoom());
        auto commands = two.resume(2s);
        QCOMPARE(kinds(commands), QList{Kind::Receive});
        two.pause(); // what is under way may still bring something
        QCOMPARE(kinds(two.received({message(u"b"_s)}, commands[0].count, 3s)), (QList{Kind::Hold, Kind::Dispatch}));
    }

    void whoTriesKeysReceivesOnce()
    {
        ConsumerMachine machine = paced(32, 10ms);
        QCOMPARE(count(machine.received(messages(10), 10, 1s), Kind::Receive), 3);
        for (int i = 0; i < 3; ++i)
            machine.receiveRefused(10);
        QCOMPARE(kinds(machine.resume(2s)), QList{Kind::Receive});
    }

    void aPauseOutlivesStopAndStart()
    {
        ConsumerMachine one(1);
        one.start(0s);
        one.receiveRefused(1);
        QCOMPARE(kinds(one.stop()), QList{Kind::Stopped});
        QVERIFY(one.start(1s).isEmpty());
        QCOMPARE(kinds(one.resume(2s)), QList{Kind::Receive});
    }

    void resumeEndsABackOff()
    {
        ConsumerMachine one(1);
        one.start(0s);
        one.receiveFailed({ErrorKind::Unreachable, {}, {}}, 1, 0, 0s);
        one.pause();
        QCOMPARE(kinds(one.resume(1s)), QList{Kind::Receive});
        QVERIFY(one.timerFired(2s).isEmpty());
    }

    void nothingIsReceivedOrStartedWhileTheDatabaseIsAway()
    {
        ConsumerMachine one = paced(1, 10ms);
        one.received(messages(1), 10, 1s);
        one.received(messages(2, u"w"_s), 10, 1s);
        QCOMPARE(kinds(one.databaseLost()), (QList{Kind::GiveBack, Kind::GiveBack}));
        QVERIFY(one.laneFree(1, Ended::GivenBack, 2s).isEmpty());
        QVERIFY(one.timerFired(3s).isEmpty());
        QCOMPARE(kinds(one.databaseBack(4s)), QList{Kind::Receive});
        QCOMPARE(kinds(one.databaseLost()), QList{Kind::AbortReceives});
        QCOMPARE(kinds(one.received(messages(1), 1, 5s)), QList{Kind::GiveBack}); // it came all the same
    }

    void lanesAreAddedWhereDeliveriesTakeLong()
    {
        ConsumerMachine quick(8, 30s, {}, 0, 2);
        QCOMPARE(quick.start(0s)[0].count, 2);
        auto commands = quick.received(messages(2), 2, 0s);
        QCOMPARE(count(commands, Kind::Dispatch), 2);
        commands = quick.laneFree(commands[2].lane, Ended::Mailed, 5ms);
        quick.received(messages(10, u"q"_s), 10, 6ms);
        QCOMPARE(quick.inHand(), 11);
        commands = quick.laneFree(1, Ended::Mailed, 11ms);
        QCOMPARE(count(commands, Kind::Dispatch), 1); // still two of eight

        QCOMPARE(lanesAfter([](int) { return 100ms; }, [](int) { return 1ms; }), 8); // of the database's
        QCOMPARE(lanesAfter([](int) { return 20ms; }, [](int) { return 15ms; }), 8); // of the mail server's
        QCOMPARE(lanesAfter([](int) { return 20ms; }, [](int) { return 5ms; }), 2);
        // A busy machine: nearly all take long, and one now and then does not.
        QCOMPARE(
            lanesAfter([](int i) { return i % 6 < 3 ? 20ms : 200ms; }, [](int i) { return i % 5 == 0 ? 2ms : 90ms; }),
            2);
    }

    void aLaneWithoutAConnectionLeavesItsMessageToOthers()
    {
        ConsumerMachine two(2, 30s);
        QCOMPARE(two.start(0s)[0].count, 2);
        auto commands = two.received(messages(2), 2, 0s);
        const int first = commands[2].lane, second = commands[3].lane;
        // It stays here, and is no one's failure.
        QVERIFY(count(two.laneFree(first, Ended::NoConnection, 1ms), Kind::GiveBack) == 0);
        QCOMPARE(two.inHand(), 2);
        commands = two.laneFree(second, Ended::Mailed, 5ms);
        QCOMPARE(commands[0].kind, Kind::Dispatch);
        QCOMPARE(commands[0].message.messageId, u"m0"_s);
        QCOMPARE(commands[0].lane, second);
        // The first lane is not asked before its time, and then last.
        commands = two.laneFree(second, Ended::Mailed, 10ms);
        QCOMPARE(count(commands, Kind::Dispatch), 0);
        two.rateTimerFired(3s);
        commands = two.received(messages(2, u"n"_s), 2, 3s);
        QCOMPARE(commands[2].lane, second);
        QCOMPARE(commands[3].lane, first);
    }

    void withoutAnyConnectionItIsTriedAgainAndAgainButNotForEver()
    {
        ConsumerMachine one(1, 30s);
        one.start(0s);
        auto commands = one.received(messages(1), 1, 0s);
        for (auto now = 250ms; now < 24s; now += 250ms) {
            commands = one.laneFree(1, Ended::NoConnection, now - 250ms);
            QCOMPARE(count(commands, Kind::GiveBack), 0);
            QCOMPARE(count(commands, Kind::Dispatch), 0);
            QCOMPARE(count(commands, Kind::Receive), 0);
            commands = one.rateTimerFired(now);
            QCOMPARE(count(commands, Kind::Dispatch), 1);
        }
        commands = one.laneFree(1, Ended::NoConnection, 24s);
        QCOMPARE(commands.last().kind, Kind::GiveBack);
        QCOMPARE(one.inHand(), 0);
        one.stop();
        QCOMPARE(one.start(25s)[0].count, 1); // and it counts again
    }

    void aLaneThatHasCrashedBeginsAnewAfterAWhile()
    {
        ConsumerMachine one(1, 30s);
        one.start(0s);
        one.received(messages(1), 1, 0s);
        auto commands = one.laneFree(1, Ended::Crashed, 1s);
        QCOMPARE(kinds(commands), (QList{Kind::WaitForRate}));
        QCOMPARE(commands[0].wait, 500ms);
        QCOMPARE(one.inHand(), 0); // nobody has it any more: the queue gives it to whoever comes
        QCOMPARE(kinds(one.rateTimerFired(1499ms)), (QList{Kind::WaitForRate})); // a timer may be early
        commands = one.rateTimerFired(1500ms);
        QCOMPARE(kinds(commands), (QList{Kind::Receive}));
        commands = one.received(messages(1), 1, 2s);
        QCOMPARE(count(commands, Kind::Dispatch), 1);
    }

    void othersGoOnMeanwhile()
    {
        ConsumerMachine two(2, 30s);
        two.start(0s);
        auto commands = two.received(messages(2), 2, 0s);
        const int first = commands[2].lane, second = commands[3].lane;
        commands = two.laneFree(first, Ended::Crashed, 1s);
        QCOMPARE(count(commands, Kind::Receive), 0);
        commands = two.laneFree(second, Ended::Mailed, 1100ms);
        QCOMPARE(count(commands, Kind::Receive), 1);
        commands = two.received(messages(2, u"n"_s), 2, 1200ms);
        QCOMPARE(count(commands, Kind::Dispatch), 1);
        QVERIFY(std::all_of(commands.cbegin(), commands.cend(), [&](const ConsumerCommand &each) {
            return each.kind != Kind::Dispatch || each.lane == second;
        }));
    }

    void aCrashIsNoReasonToWaitWithAStop()
    {
        ConsumerMachine one(1, 30s);
        one.start(0s);
        one.received(messages(1), 1, 0s);
        one.laneFree(1, Ended::Crashed, 1s);
        QCOMPARE(kinds(one.stop()), (QList{Kind::Stopped}));
        QCOMPARE(kinds(one.rateTimerFired(1500ms)), QList<Kind>()); // nothing begins behind a stop
        QCOMPARE(kinds(one.start(2s)), (QList{Kind::Receive}));

        // Started again while the lane is still away, and crashed while it was being stopped.
        one.received(messages(1), 1, 2s);
        one.stop();
        auto commands = one.laneFree(1, Ended::Crashed, 3s);
        QVERIFY(commands.last().kind == Kind::Stopped);
        QCOMPARE(kinds(one.start(3100ms)), QList<Kind>());
        QCOMPARE(kinds(one.rateTimerFired(3500ms)), (QList{Kind::Receive}));
    }

    void aCrashedLaneIsNotKeptAwayByOneWithoutAConnection()
    {
        ConsumerMachine three(3, 30s);
        three.start(0s);
        auto commands = three.received(messages(3), 3, 0s);
        const int first = commands[3].lane, second = commands[4].lane;
        three.laneFree(first, Ended::Crashed, 0s);
        three.laneFree(second, Ended::NoConnection, 100ms); // it tries again after 2 s
        commands = three.rateTimerFired(400ms);
        QCOMPARE(commands[0].kind, Kind::WaitForRate);
        QCOMPARE(commands[0].wait, 100ms);
    }

    // ---- lanes that take the next message by themselves

    void whatWaitsIsOfferedInItsOrder()
    {
        ConsumerMachine machine = busyLanes(5);
        QCOMPARE(offered(machine), (QStringList{u"m2"_s, u"m3"_s, u"m4"_s}));
        const ConsumerCommand taken = machine.wentOn(1, Ended::Mailed, u"m2"_s, 15ms);
        QCOMPARE(taken.kind, Kind::Taken);
        QCOMPARE(taken.lane, 1);
        QCOMPARE(taken.message.messageId, u"m2"_s);
        QCOMPARE(offered(machine), (QStringList{u"m3"_s, u"m4"_s}));
        QCOMPARE(machine.inHand(), 4);
        // Held as any other: it is not started twice.
        QCOMPARE(kinds(machine.received({message(u"m2"_s, u"newer"_s)}, 0, 16ms)), QList{Kind::NewerHandle});
        const auto free = machine.laneFree(1, Ended::Mailed, 20ms);
        QCOMPARE(free.first().kind, Kind::Dispatch);
        QCOMPARE(free.first().message.messageId, u"m3"_s);
    }

    void whenTheLastOneIsTakenMoreIsAskedFor()
    {
        ConsumerMachine machine = busyLanes(3);
        QCOMPARE(machine.tellAt(), 0);
        machine.wentOn(2, Ended::Mailed, u"m2"_s, 15ms);
        QCOMPARE(kinds(machine.caughtUp(15ms)), QList{Kind::Receive});
        QCOMPARE(machine.tellAt(), -1);
    }

    void aBatchIsAskedForWhenTheRestIsStartedBeforeItComes_data()
    {
        QTest::addColumn<std::chrono::milliseconds>("delivery");
        QTest::addColumn<std::chrono::milliseconds>("fetch");
        QTest::addColumn<int>("left"); // waiting when more is asked for
        QTest::newRow("six in 6 to 9 ms, a receive takes 3") << 6ms << 3ms << 2;
        QTest::newRow("a receive takes as long as five deliveries, or longer") << 6ms << 50ms << 5;
        QTest::newRow("a slow mail server") << 200ms << 3ms << 0;
    }
    void aBatchIsAskedForWhenTheRestIsStartedBeforeItComes()
    {
        QFETCH(std::chrono::milliseconds, delivery);
        QFETCH(std::chrono::milliseconds, fetch);
        QFETCH(int, left);
        ConsumerMachine machine(6, 30s);
        auto at = 0ms;
        int asked = 0, batch = 0, waiting = 0, most = 0;
        const auto noteAsked = [&asked](const ConsumerCommands &commands) {
            for (const ConsumerCommand &each : commands)
                asked += each.kind == Kind::Receive ? each.count : 0;
        };
        const auto receive = [&] {
            const int count = std::exchange(asked, 0);
            const auto commands = machine.received(messages(count, u"b%1-"_s.arg(batch++)), count, at);
            noteAsked(commands);
            QCOMPARE(::count(commands, Kind::GiveBack), 0);
            waiting += count - ::count(commands, Kind::Dispatch);
            most = std::max(most, waiting);
        };
        noteAsked(machine.start(at));
        receive(); // one for each lane
        QCOMPARE(asked, 0);
        noteAsked(machine.laneFree(1, Ended::Mailed, at += delivery)); // now a pace is known
        receive();
        for (int round = 0; round < 40; ++round) {
            at += delivery;
            for (int lane = 1; lane <= 6 && waiting > 0 && asked == 0; ++lane) {
                machine.wentOn(lane, Ended::Mailed, offered(machine, at).first(), at);
                --waiting;
                noteAsked(machine.caughtUp(at));
            }
            if (asked == 0)
                continue;
            QCOMPARE(asked, 10);
            if (batch > 10) // by now it knows what a receive takes, and a delivery
                QCOMPARE(waiting, left);
            QCOMPARE(machine.tellAt(), -1);
            at += fetch;
            receive();
        }
        QVERIFY(batch > 20);
        QVERIFY(most <= 10 + left); // of those that were late by nobody's fault
    }

    void whatIsReservedIsNotOfferedAgainAndBegunByItsLane()
    {
        ConsumerMachine machine = busyLanes(4);
        machine.reserved(2, u"m2"_s);
        QCOMPARE(offered(machine), QStringList{u"m3"_s});
        QCOMPARE(machine.inHand(), 4);
        QCOMPARE(kinds(machine.received({message(u"m2"_s, u"newer"_s)}, 0, 16ms)), QList{Kind::NewerHandle});
        QCOMPARE(machine.wentOn(2, Ended::Mailed, u"m2"_s, 15ms).message.messageId, u"m2"_s);
        QCOMPARE(machine.inHand(), 3);
    }

    void whatIsReservedByALaneThatCannotGoOnIsOthers()
    {
        ConsumerMachine machine = busyLanes(4);
        machine.reserved(2, u"m2"_s);
        auto commands = machine.laneFree(2, Ended::Crashed, 20ms);
        QCOMPARE(count(commands, Kind::Dispatch), 0); // this lane begins anew
        QCOMPARE(offered(machine), (QStringList{u"m2"_s, u"m3"_s}));
        commands = machine.laneFree(1, Ended::Mailed, 21ms);
        QCOMPARE(commands.first().message.messageId, u"m2"_s); // it had waited the longest
    }

    void whatIsReservedIsGivenBackWithTheOthers()
    {
        ConsumerMachine machine = busyLanes(4);
        machine.reserved(2, u"m2"_s);
        QCOMPARE(count(machine.databaseLost(), Kind::GiveBack), 1);
        QCOMPARE(count(machine.laneFree(2, Ended::GivenBack, 20ms), Kind::GiveBack), 1);
        QCOMPARE(machine.inHand(), 1);

        ConsumerMachine stopped = busyLanes(4);
        stopped.reserved(2, u"m2"_s);
        QCOMPARE(count(stopped.stop(), Kind::GiveBack), 1);
        QVERIFY(offered(stopped).isEmpty());
        // Its lane has begun with it already: it is that lane's to give back.
        stopped.wentOn(2, Ended::Mailed, u"m2"_s, 20ms);
        QCOMPARE(count(stopped.laneFree(2, Ended::GivenBack, 21ms), Kind::Stopped), 0);
        QCOMPARE(count(stopped.laneFree(1, Ended::Mailed, 22ms), Kind::Stopped), 1);
    }

    void nothingIsOfferedThatMustNotBegin()
    {
        ConsumerMachine away = busyLanes(4);
        away.databaseLost();
        away.received(messages(2, u"n"_s), 0, 15ms);
        QVERIFY(offered(away).isEmpty());
        // Under a rate limit each mail needs a token, and while the mail server asks for patience none leaves.
        QVERIFY(offered(busyLanes(4, 0, {1000})).isEmpty());
        ConsumerMachine patient = busyLanes(4);
        patient.laneFree(1, Ended::Throttled, 20ms);
        patient.received(messages(2, u"n"_s), 0, 25ms);
        QVERIFY(offered(patient, 25ms).isEmpty());
        // "first" and the two at work count as well.
        QCOMPARE(offered(busyLanes(4, 4)), QStringList{u"m2"_s});
        ConsumerMachine limited = busyLanes(4, 4);
        limited.reserved(1, u"m2"_s);
        QVERIFY(offered(limited).isEmpty());
    }

    void aPaceIsLearnedFromWhatLanesDoByThemselves()
    {
        ConsumerMachine machine(1, 4s);
        machine.start(0s);
        machine.received(messages(1), 1, 0s);
        machine.laneFree(1, Ended::Mailed, 1ms);
        machine.received(messages(10), 10, 1ms); // quick: a batch waits
        auto at = 1ms;
        for (int i = 1; i < 10; ++i)
            machine.wentOn(1, Ended::Mailed, u"m%1"_s.arg(i), at += 1000ms);
        // Of a quarter of 4 s it starts one: no more is asked for than that.
        const auto commands = machine.laneFree(1, Ended::Mailed, at + 1000ms);
        QCOMPARE(kinds(commands), QList{Kind::Receive});
        QCOMPARE(commands.first().count, 2);
    }
};

QTEST_GUILESS_MAIN(ConsumerMachineTest)
#include "tst_consumermachine.moc"
