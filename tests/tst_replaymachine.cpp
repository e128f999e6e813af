#include "worker/operate/replaymachine.h"

#include <QtTest>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

/// In which order dead letters are replayed, without a queue or a clock.
class ReplayMachineTest : public QObject
{
    Q_OBJECT
    using Kind = ReplayCommand::Kind;
    using State = ReplayItem::State;
    using RunState = ReplayProgress::State;

    static QList<ReplayMachine::Row> rows(int count, qint64 bytes = 100)
    {
        return QList<ReplayMachine::Row>(count, {bytes, Verdict::NotHandled, State::Sending, {}, true});
    }
    static QList<QList<int>> of(const ReplayCommands &commands, Kind kind)
    {
        QList<QList<int>> batches;
        for (const ReplayCommand &command : commands) {
            if (command.kind == kind)
                batches.append(command.rows);
        }
        return batches;
    }
    static ReplayMachine::Entries fine(const QList<int> &rows)
    {
        ReplayMachine::Entries entries;
        for (const int row : rows)
            entries.append({row, true, {}});
        return entries;
    }
    static QList<QList<int>> just(const QList<int> &rows) { return QList<QList<int>>({rows}); }
    static QList<int> range(int from, int to)
    {
        QList<int> rows;
        for (int row = from; row < to; ++row)
            rows.append(row);
        return rows;
    }
    /// Everything goes well with these rows that are being locked.
    static ReplayCommands through(ReplayMachine &machine, const QList<int> &rows)
    {
        machine.locked(fine(rows), 0ms);
        machine.sent(fine(rows), 0ms);
        machine.noted(rows, {}, 0ms);
        return machine.deleted(fine(rows), 0ms);
    }

private Q_SLOTS:
    void lockSendNoteDeleteAndNeverAnotherOrder()
    {
        ReplayMachine machine({}, rows(3));
        const QList<int> all{0, 1, 2};
        const ReplayCommands lock = machine.start(0ms);
        QCOMPARE(lock.size(), 1);
        QCOMPARE(of(lock, Kind::Lock), just(all));
        const ReplayCommands send = machine.locked(fine(all), 0ms);
        QCOMPARE(send.size(), 1);
        QCOMPARE(of(send, Kind::Send), just(all));
        const ReplayCommands note = machine.sent(fine(all), 0ms);
        QCOMPARE(note.size(), 1);
        QCOMPARE(of(note, Kind::Note), just(all));
        const ReplayCommands remove = machine.noted(all, {}, 0ms);
        QCOMPARE(remove.size(), 1);
        QCOMPARE(of(remove, Kind::Delete), just(all));
        const ReplayCommands end = machine.deleted(fine(all), 0ms);
        QCOMPARE(of(end, Kind::Tell), just(all));
        QCOMPARE(machine.rows()[1].state, State::Replayed);
        QCOMPARE(machine.state(), RunState::Finished);
        QCOMPARE(machine.progress().done, 3);
        QCOMPARE(machine.progress().waiting, 3);
    }

    void batchesHoldTenOrOneMebibyteAndEightAreUnderWay()
    {
        ReplayMachine many({}, rows(200));
        const auto batches = of(many.start(0ms), Kind::Lock);
        QCOMPARE(batches.size(), 8);
        QCOMPARE(batches[7], range(70, 80));
        QCOMPARE(of(through(many, batches[0]), Kind::Lock), just(range(80, 90)));

        ReplayMachine big({}, rows(4, 500'000));
        QCOMPARE(of(big.start(0ms), Kind::Lock), (QList<QList<int>>{{0, 1}, {2, 3}}));
        ReplayMachine whole({}, rows(2, 1'048'576));
        QCOMPARE(of(whole.start(0ms), Kind::Lock), (QList<QList<int>>{{0}, {1}}));
    }

    void onlyWhatWasNotedIsDeleted()
    {
        ReplayMachine machine({}, rows(2));
        machine.start(0ms);
        machine.locked(fine({0, 1}), 0ms);
        machine.sent(fine({0, 1}), 0ms);
        const ReplayCommands commands = machine.noted({0, 1}, u"disk full"_s, 0ms);
        QVERIFY(of(commands, Kind::Delete).isEmpty());
        QCOMPARE(of(commands, Kind::Unlock), (QList<QList<int>>{{0, 1}}));
        QCOMPARE(machine.rows()[0].state, State::CopyLeft);
        QCOMPARE(machine.state(), RunState::Halted);
        QCOMPARE(machine.text(), u"disk full"_s);
    }

    void onlyWhatWasSentIsDeletedAndTheRestMadeVisible()
    {
        ReplayMachine machine({}, rows(3));
        machine.start(0ms);
        machine.locked(fine({0, 1, 2}), 0ms);
        const ReplayCommands sent = machine.sent({{0, true, {}}, {1, false, u"too long"_s}, {2, true, {}}}, 0ms);
        QCOMPARE(of(sent, Kind::Unlock), just(QList<int>{1}));
        QCOMPARE(of(sent, Kind::Note), (QList<QList<int>>{{0, 2}}));
        QCOMPARE(machine.rows()[1].state, State::Failed);
        QVERIFY(machine.rows()[1].text.contains(u"too long"_s));
        machine.noted({0, 2}, {}, 0ms);
        const ReplayCommands end = machine.deleted({{0, true, {}}, {2, false, u"refused"_s}}, 0ms);
        QCOMPARE(of(end, Kind::Unlock), just(QList<int>{2}));
        QCOMPARE(machine.rows()[2].state, State::CopyLeft);
        QCOMPARE(machine.state(), RunState::Finished);
        QCOMPARE(machine.progress().failed, 1);
        QCOMPARE(machine.progress().done, 2);
    }

    /// A DLQ that refuses to delete would keep a copy of everything.
    void copiesLeftCountAsFailures()
    {
        ReplayMachine::Settings settings;
        settings.stopAfter = 2;
        settings.batches = 1;
        ReplayMachine machine(settings, rows(20));
        machine.start(0ms);
        const QList<int> first = range(0, 10);
        machine.locked(fine(first), 0ms);
        machine.sent(fine(first), 0ms);
        machine.noted(first, {}, 0ms);
        ReplayMachine::Entries answers = fine(first);
        answers[3] = {3, false, u"refused"_s};
        answers[7] = {7, false, u"refused"_s};
        const ReplayCommands end = machine.deleted(answers, 0ms);
        QCOMPARE(machine.state(), RunState::Halted);
        QVERIFY(of(end, Kind::Lock).isEmpty());
        QCOMPARE(of(end, Kind::Unlock), (QList<QList<int>>{{3, 7}}));
    }

    void aRefusedLockIsSoughtAgainAndThenReplayed()
    {
        ReplayMachine machine({}, rows(2));
        machine.start(0ms);
        const ReplayCommands commands = machine.locked({{0, true, {}}, {1, false, u"stale"_s}}, 0ms);
        QCOMPARE(of(commands, Kind::Seek), just(QList<int>{1}));
        QCOMPARE(of(commands, Kind::Send), just(QList<int>{0}));
        const ReplayCommands again = machine.sought({{1, ReplayMachine::Sought::Where::Here, {}, 5000}}, {}, 0ms);
        QCOMPARE(of(again, Kind::Lock), just(QList<int>{1}));
        machine.locked(fine({1}), 0ms);
        machine.sent(fine({1}), 0ms);
        machine.noted({1}, {}, 0ms);
        machine.deleted(fine({1}), 0ms);
        QCOMPARE(machine.rows()[1].state, State::Replayed);
        QCOMPARE(machine.state(), RunState::Running); // row 0 is under way
    }

    void whatIsGoneFailsAndWhatAnotherRunReplayedDoesNot()
    {
        ReplayMachine machine({}, rows(2));
        machine.start(0ms);
        machine.locked({{0, false, u"stale"_s}, {1, false, u"stale"_s}}, 0ms);
        using Where = ReplayMachine::Sought::Where;
        machine.sought({{0, Where::Gone, u"not there"_s, 0}, {1, Where::Replayed, u"by run 7"_s, 0}}, {}, 0ms);
        QCOMPARE(machine.rows()[0].state, State::Failed);
        QCOMPARE(machine.rows()[1].state, State::Replayed);
        QCOMPARE(machine.state(), RunState::Finished);
    }

    void aQueueThatFailsHaltsItAndNothingIsLost()
    {
        ReplayMachine machine({}, rows(20));
        machine.start(0ms);
        machine.locked(fine(range(0, 10)), 0ms);
        const ReplayCommands halt = machine.sendFailed(range(0, 10), u"the queue does not exist"_s);
        QCOMPARE(of(halt, Kind::Unlock), just(range(0, 10)));
        QCOMPARE(machine.state(), RunState::Halted);
        QVERIFY(machine.text().contains(u"the queue does not exist"_s));
        machine.lockFailed(range(10, 20), u"the queue does not exist"_s);
        QCOMPARE(machine.progress().left, 20);
        QVERIFY(machine.isIdle());
        QCOMPARE(of(machine.resume(0ms), Kind::Lock).size(), 2);
        QCOMPARE(machine.state(), RunState::Running);
    }

    void aCanaryDecides_data()
    {
        QTest::addColumn<Verdict>("verdict");
        QTest::addColumn<int>("outcome");
        QTest::addColumn<bool>("goesOn");
        QTest::newRow("not handled, mailed") << Verdict::NotHandled << int(State::Mailed) << true;
        QTest::newRow("not handled, skipped") << Verdict::NotHandled << int(State::Skipped) << false;
        QTest::newRow("not handled, dead again") << Verdict::NotHandled << int(State::DeadAgain) << false;
        QTest::newRow("handled, skipped") << Verdict::Handled << int(State::Skipped) << true;
        QTest::newRow("handled, mailed") << Verdict::Handled << int(State::Mailed) << false;
        QTest::newRow("in doubt, mailed") << Verdict::InDoubt << int(State::Mailed) << true;
        QTest::newRow("invalid, dead again") << Verdict::Invalid << int(State::DeadAgain) << true;
    }

    void aCanaryDecides()
    {
        QFETCH(Verdict, verdict);
        QFETCH(int, outcome);
        QFETCH(bool, goesOn);
        ReplayMachine::Settings settings;
        settings.canary = true;
        auto letters = rows(3);
        for (auto &letter : letters)
            letter.verdict = verdict;
        ReplayMachine machine(settings, letters);
        const ReplayCommands first = machine.start(0ms);
        QCOMPARE(of(first, Kind::Lock), just(QList<int>{0}));
        QCOMPARE(machine.state(), RunState::AwaitingCanary);
        QVERIFY(of(through(machine, {0}), Kind::Lock).isEmpty());
        const ReplayCommands after = machine.outcome(0, State(outcome), u"text"_s, 0ms);
        QCOMPARE(of(after, Kind::Lock), goesOn ? (QList<QList<int>>{{1, 2}}) : QList<QList<int>>{});
        QCOMPARE(machine.state(), goesOn ? RunState::Running : RunState::Halted);
        if (!goesOn)
            QCOMPARE(of(machine.resume(0ms), Kind::Lock), (QList<QList<int>>{{1, 2}})); // a person says so
    }

    void theCanaryIsOneThatSends()
    {
        ReplayMachine::Settings settings;
        settings.canary = true;
        auto letters = rows(3);
        letters[0].verdict = Verdict::Handled;
        ReplayMachine machine(settings, letters);
        QCOMPARE(of(machine.start(0ms), Kind::Lock), just(QList<int>{1}));
        through(machine, {1});
        QCOMPARE(of(machine.outcome(1, State::Mailed, {}, 0ms), Kind::Lock), (QList<QList<int>>{{0, 2}}));
    }

    void aCanaryWithoutOutcomeHalts()
    {
        ReplayMachine::Settings settings;
        settings.canary = true;
        ReplayMachine machine(settings, rows(2));
        machine.start(0ms);
        through(machine, {0});
        machine.canaryTimedOut(u"no worker"_s);
        QCOMPARE(machine.state(), RunState::Halted);
        QCOMPARE(machine.progress().left, 1);
    }

    void itHaltsAfterSoManyFailures()
    {
        ReplayMachine::Settings settings;
        settings.stopAfter = 2;
        settings.batches = 1;
        ReplayMachine machine(settings, rows(30));
        machine.start(0ms);
        const ReplayCommands second = through(machine, range(0, 10));
        QCOMPARE(of(second, Kind::Lock), just(range(10, 20)));
        machine.outcome(0, State::DeadAgain, u"550"_s, 0ms);
        QCOMPARE(machine.state(), RunState::Running);
        machine.outcome(1, State::DeadAgain, u"550"_s, 0ms);
        QCOMPARE(machine.state(), RunState::Halted);
        QVERIFY(of(through(machine, range(10, 20)), Kind::Lock).isEmpty()); // what was under way is settled
        QCOMPARE(machine.progress().left, 10);
    }

    void noMoreThanTheRate()
    {
        ReplayMachine::Settings settings;
        settings.perSecond = 20;
        ReplayMachine machine(settings, rows(100));
        int sent = 0;
        std::chrono::milliseconds now = 0ms;
        ReplayCommands commands = machine.start(now);
        while (now < 1s) {
            std::chrono::milliseconds wait = 0ms;
            for (const ReplayCommand &command : commands) {
                if (command.kind == Kind::Lock) {
                    sent += int(command.rows.size());
                    through(machine, command.rows);
                } else if (command.kind == Kind::Wait) {
                    wait = command.wait;
                }
            }
            QVERIFY(wait > 0ms);
            now += wait;
            commands = machine.waited(now);
        }
        QVERIFY2(sent >= 20 && sent <= 25, qPrintable(QString::number(sent)));
    }

    void pauseSettlesWhatIsUnderWayAndResumeGoesOn()
    {
        ReplayMachine machine({}, rows(100));
        const auto batches = of(machine.start(0ms), Kind::Lock);
        machine.pause();
        QCOMPARE(machine.state(), RunState::Paused);
        for (const auto &batch : batches)
            QVERIFY(of(through(machine, batch), Kind::Lock).isEmpty());
        QVERIFY(machine.isIdle());
        QCOMPARE(machine.progress().left, 20);
        QCOMPARE(of(machine.resume(0ms), Kind::Lock).size(), 2);
    }

    void cancelLeavesTheOthersWhereTheyAre()
    {
        ReplayMachine machine({}, rows(100));
        const auto batches = of(machine.start(0ms), Kind::Lock);
        const ReplayCommands cancelled = machine.cancel();
        QCOMPARE(of(cancelled, Kind::Tell), just(range(80, 100)));
        QCOMPARE(machine.rows()[80].state, State::Left);
        // Locked, but nothing sent: given back.
        const ReplayCommands locked = machine.locked(fine(batches[0]), 0ms);
        QCOMPARE(of(locked, Kind::Unlock), just(batches[0]));
        QVERIFY(of(locked, Kind::Send).isEmpty());
        for (qsizetype i = 1; i < batches.size(); ++i)
            machine.locked(fine(batches[i]), 0ms);
        QVERIFY(machine.isIdle());
        QCOMPARE(machine.progress().left, 100);
        QCOMPARE(machine.state(), RunState::Cancelled);
    }

    void goneOnWithItFindsWhatWasNotSentAndOnlyDeletesWhatWas()
    {
        auto letters = rows(4);
        letters[0].state = State::Mailed; // over
        letters[1].state = State::CopyLeft; // sent and noted, then the process died
        letters[1].canBeSent = letters[2].canBeSent = letters[3].canBeSent = false;
        ReplayMachine machine({}, letters);
        QCOMPARE(of(machine.start(0ms), Kind::Seek), (QList<QList<int>>{{1, 2, 3}}));
        using Where = ReplayMachine::Sought::Where;
        const ReplayCommands found = machine.sought(
            {{1, Where::Here, {}, 100}, {2, Where::Here, {}, 100}, {3, Where::Gone, u"gone"_s, 0}}, {}, 0ms);
        QCOMPARE(of(found, Kind::Lock), (QList<QList<int>>{{1}, {2}})); // never mixed
        QCOMPARE(of(machine.locked(fine({1}), 0ms), Kind::Delete), just(QList<int>{1}));
        QCOMPARE(of(machine.locked(fine({2}), 0ms), Kind::Send), just(QList<int>{2}));
        machine.deleted(fine({1}), 0ms);
        QCOMPARE(machine.rows()[1].state, State::Replayed);
        QCOMPARE(machine.rows()[3].state, State::Failed);
    }

    void aCopyThatIsGoneWasDeleted()
    {
        auto letters = rows(1);
        letters[0].state = State::CopyLeft;
        letters[0].canBeSent = false;
        ReplayMachine machine({}, letters);
        machine.start(0ms);
        machine.sought({{0, ReplayMachine::Sought::Where::Gone, u"gone"_s, 0}}, {}, 0ms);
        QCOMPARE(machine.rows()[0].state, State::Replayed);
        QCOMPARE(machine.state(), RunState::Finished);
    }

    void aDeletionKeepsACopyFirst()
    {
        ReplayMachine::Settings settings;
        settings.act = ReplayMachine::Act::Delete;
        ReplayMachine machine(settings, rows(2));
        machine.start(0ms);
        const ReplayCommands keep = machine.locked(fine({0, 1}), 0ms);
        QCOMPARE(of(keep, Kind::Note), (QList<QList<int>>{{0, 1}}));
        QVERIFY(of(keep, Kind::Send).isEmpty());
        QCOMPARE(of(machine.noted({0, 1}, {}, 0ms), Kind::Delete), (QList<QList<int>>{{0, 1}}));
        const ReplayCommands end = machine.deleted({{0, true, {}}, {1, false, u"refused"_s}}, 0ms);
        QCOMPARE(of(end, Kind::Unlock), just(QList<int>{1}));
        QCOMPARE(machine.rows()[0].state, State::Deleted);
        QCOMPARE(machine.rows()[1].state, State::Failed);
    }

    void withoutACopyNothingIsDeleted()
    {
        ReplayMachine::Settings settings;
        settings.act = ReplayMachine::Act::Delete;
        ReplayMachine machine(settings, rows(1));
        machine.start(0ms);
        machine.locked(fine({0}), 0ms);
        const ReplayCommands commands = machine.noted({0}, u"disk full"_s, 0ms);
        QVERIFY(of(commands, Kind::Delete).isEmpty());
        QCOMPARE(of(commands, Kind::Unlock), just(QList<int>{0}));
        QCOMPARE(machine.rows()[0].state, State::Failed);
    }
};

QTEST_APPLESS_MAIN(ReplayMachineTest)
#include "tst_replaymachine.moc"
