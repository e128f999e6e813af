#include "worker/consume/consumermachine.h"

#include <QtTest>

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

} // namespace

class ConsumerMachineTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void asksForAsManyAsLanesAreFree()
    {
        ConsumerMachine four(4);
        auto commands = four.start();
        QCOMPARE(kinds(commands), QList{Kind::Receive});
        QCOMPARE(commands[0].count, 4);
        commands = four.received({message(u"a"_s)});
        QCOMPARE(kinds(commands), (QList{Kind::Dispatch, Kind::Receive}));
        QCOMPARE(commands[0].lane, 1);
        QCOMPARE(commands[1].count, 3);
    }

    void neverAsksForMoreThanTen()
    {
        ConsumerMachine many(32);
        QCOMPARE(many.start()[0].count, 10);
    }

    void doesNotReceiveWhileEveryLaneIsBusy()
    {
        ConsumerMachine one(1);
        one.start();
        QCOMPARE(kinds(one.received({message(u"a"_s)})), QList{Kind::Dispatch});
        QCOMPARE(one.inHand(), 1);
        QCOMPARE(kinds(one.laneFree(1)), QList{Kind::Receive});
    }

    void aMessageInHandThatComesAgainIsNotStartedTwice()
    {
        ConsumerMachine two(2);
        two.start();
        two.received({message(u"a"_s, u"old"_s)});
        const auto commands = two.received({message(u"a"_s, u"new"_s)});
        QCOMPARE(commands[0].kind, Kind::NewerHandle);
        QCOMPARE(commands[0].message.receiptHandle, u"new"_s);
        QCOMPARE(two.inHand(), 1);
    }

    void theSameMessageTwiceInOneReceiveIsOneDelivery()
    {
        ConsumerMachine two(2);
        two.start();
        const auto commands = two.received({message(u"a"_s, u"1"_s), message(u"a"_s, u"2"_s)});
        QCOMPARE(kinds(commands).mid(0, 2), (QList{Kind::Dispatch, Kind::NewerHandle}));
    }

    void moreThanAskedForIsGivenBack()
    {
        ConsumerMachine one(1);
        one.start();
        QCOMPARE(kinds(one.received({message(u"a"_s), message(u"b"_s)})), (QList{Kind::Dispatch, Kind::GiveBack}));
    }

    void stopWhenIdleAbortsTheLongPollAndIsStoppedAtOnce()
    {
        ConsumerMachine one(1);
        one.start();
        QCOMPARE(kinds(one.stop()), QList{Kind::AbortReceive});
        QCOMPARE(kinds(one.receiveFailed({ErrorKind::Aborted, {}, {}}, 0)), QList{Kind::Stopped});
    }

    void stopWaitsForWhatIsInWork()
    {
        ConsumerMachine one(1);
        one.start();
        one.received({message(u"a"_s)});
        QVERIFY(one.stop().isEmpty());
        QCOMPARE(kinds(one.laneFree(1)), QList{Kind::Stopped});
    }

    void messagesThatArriveWhileStoppingAreGivenBack()
    {
        ConsumerMachine one(1);
        one.start();
        one.stop();
        QCOMPARE(kinds(one.received({message(u"a"_s)})), (QList{Kind::GiveBack, Kind::Stopped}));
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
        one.start();
        one.stop();
        QVERIFY(one.start().isEmpty()); // the aborted receive has not come back yet
        QCOMPARE(kinds(one.receiveFailed({ErrorKind::Aborted, {}, {}}, 0)), QList{Kind::Receive});
    }

    void backsOffWithGrowingPausesAndRecovers()
    {
        ConsumerMachine one(1);
        one.start();
        const Error lost{ErrorKind::Unreachable, {}, {}};
        QList<std::chrono::milliseconds> waits;
        for (int i = 0; i < 8; ++i) {
            const auto commands = one.receiveFailed(lost, 1.0);
            QCOMPARE(kinds(commands), QList{Kind::Wait});
            waits.append(commands[0].wait);
            QCOMPARE(kinds(one.timerFired()), QList{Kind::Receive});
        }
        QCOMPARE(waits, (QList<std::chrono::milliseconds>{1s, 2s, 4s, 8s, 16s, 30s, 30s, 30s}));
        QCOMPARE(one.failures(), 8);
        one.received({});
        QCOMPARE(one.failures(), 0);
        QCOMPARE(one.receiveFailed(lost, 0.0)[0].wait, 500ms); // jitter never makes a tight loop of it
    }

    void aStopWhileBackingOffNeedsNoReceive()
    {
        ConsumerMachine one(1);
        one.start();
        one.receiveFailed({ErrorKind::Unreachable, {}, {}}, 0);
        QCOMPARE(kinds(one.stop()), QList{Kind::Stopped});
        QVERIFY(one.timerFired().isEmpty());
    }

    void refusedKeysStopReceivesAndNothingElse()
    {
        ConsumerMachine two(2);
        two.start();
        two.received({message(u"a"_s)}); // and receives for the other lane
        QVERIFY(!two.hasRoom());
        QVERIFY(two.receiveRefused().isEmpty()); // no pause of its own
        QVERIFY(two.laneFree(1).isEmpty());
        QVERIFY(two.timerFired().isEmpty());
        QVERIFY(two.hasRoom());
        QCOMPARE(kinds(two.resume()), QList{Kind::Receive});
        two.pause(); // what is under way may still bring something
        QCOMPARE(kinds(two.received({message(u"b"_s)})), QList{Kind::Dispatch});
    }

    void aPauseOutlivesStopAndStart()
    {
        ConsumerMachine one(1);
        one.start();
        one.receiveRefused();
        QCOMPARE(kinds(one.stop()), QList{Kind::Stopped});
        QVERIFY(one.start().isEmpty());
        QCOMPARE(kinds(one.resume()), QList{Kind::Receive});
    }

    void resumeEndsABackOff()
    {
        ConsumerMachine one(1);
        one.start();
        one.receiveFailed({ErrorKind::Unreachable, {}, {}}, 0);
        one.pause();
        QCOMPARE(kinds(one.resume()), QList{Kind::Receive});
        QVERIFY(one.timerFired().isEmpty());
    }
};

QTEST_GUILESS_MAIN(ConsumerMachineTest)
#include "tst_consumermachine.moc"
