#include "worker/scenario/world.h"
#include "worker/worker.h"

#include <QtTest>

#include <QRegularExpression>
#include <QTemporaryDir>

#include <ctime>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

/// What a scenario or a cell of the matrix relies on: that a world's acts are done when they say so, and that looking
/// sees what is there.
class ScenarioWorldTest : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    int m_worlds = 0;

    std::unique_ptr<World> world(WorldSettings settings = {})
    {
        settings.folder = m_dir.filePath(u"world-%1"_s.arg(++m_worlds));
        auto made = std::make_unique<World>(settings);
        QSignalSpy opened(made.get(), &World::opened);
        made->open();
        return opened.wait(10'000) ? std::move(made) : nullptr;
    }

    /// Whether `done` came with a value.
    template <typename T, typename Act>
    static std::optional<T> value(Act act)
    {
        std::optional<Result<T>> result;
        act([&result](const Result<T> &each) { result = each; });
        if (!QTest::qWaitFor([&result] { return result.has_value(); }, 20'000) || !*result)
            return std::nullopt;
        if constexpr (std::is_void_v<T>)
            return true;
        else
            return result->value();
    }
    template <typename Act>
    static bool ok(Act act)
    {
        std::optional<Result<void>> result;
        act([&result](const Result<void> &each) { result = each; });
        return QTest::qWaitFor([&result] { return result.has_value(); }, 20'000) && result->ok();
    }
    static bool waits(World &world, World::Condition condition)
    {
        std::optional<bool> held;
        world.await(std::move(condition), 15s, [&held](bool holds) { held = holds; });
        return QTest::qWaitFor([&held] { return held.has_value(); }, 20'000) && *held;
    }
    static bool isEmpty(World &world)
    {
        return waits(world, [&world] { return world.queues() == WorldQueues{0, 0}; });
    }
    static std::optional<SendReport> send(World &world, const SendRequest &request)
    {
        return value<SendReport>([&](auto done) { world.send(request, done); });
    }

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u"."_s)); }

    void aDuplicateIsSeenInMailsClaimsAndOutcomes()
    {
        const auto made = world();
        QVERIFY(made);
        SendRequest request;
        request.copies = 2;
        const auto sent = send(*made, request);
        QVERIFY(sent);
        QCOMPARE(sent->messageIds.size(), 2);
        QVERIFY(waits(*made, [&] { return made->queues() == WorldQueues{2, 0}; }));
        QCOMPARE(made->mails().size(), 0);
        QVERIFY(ok([&](auto done) { made->start(0, done); }));
        QVERIFY(isEmpty(*made));
        QVERIFY(ok([&](auto done) { made->stop(0, done); }));
        QCOMPARE(made->mailsOf(sent->eventId), 1);
        QCOMPARE(made->mails().first().to, u"Sam Rivera <sam@example.com>"_s);
        QCOMPARE(made->claimsOf(sent->eventId), 1);
        QCOMPARE(made->claims(), 1);
        QCOMPARE(made->outcomesOf(sent->eventId), (QList{Outcome::Sent, Outcome::Duplicate}));
        QVERIFY(!made->isAnnounced(sent->eventId));
    }

    void anArmedFaultIsKnownToEachWorkerWhenItIsDone()
    {
        WorldSettings settings;
        settings.workers = 2;
        const auto made = world(settings);
        QVERIFY(made);
        FaultRule rule;
        rule.where = FaultPoint::WorkerAccepted;
        rule.what = FaultEffect::Crash;
        QVERIFY(value<int>([&](auto done) { made->arm(rule, done); }));
        QCOMPARE(made->armed().size(), 1);
        QVERIFY(ok([&](auto done) { made->start(0, done); }));
        const auto sent = send(*made, {});
        QVERIFY(sent);
        QVERIFY(waits(*made, [&] { return made->crashes() == 1; }));
        QVERIFY(isEmpty(*made));
        QVERIFY(ok([&](auto done) { made->stop(0, done); }));
        QCOMPARE(made->mailsOf(sent->eventId), 2);
        QVERIFY(made->isAnnounced(sent->eventId));
        QCOMPARE(made->armed().size(), 0);
    }

    void aFaultThatIsNoFaultIsRefused()
    {
        WorldSettings settings;
        settings.workers = 0;
        const auto made = world(settings);
        QVERIFY(made);
        FaultRule rule;
        rule.where = FaultPoint::DatabaseClaim;
        rule.what = FaultEffect::Crash;
        QVERIFY(!value<int>([&](auto done) { made->arm(rule, done); }));
    }

    void deadLettersAreReplayed()
    {
        const auto made = world();
        QVERIFY(made);
        FaultRule rule;
        rule.times = 3;
        QVERIFY(value<int>([&](auto done) { made->arm(rule, done); }));
        const auto sent = send(*made, {});
        QVERIFY(sent);
        QVERIFY(ok([&](auto done) { made->start(0, done); }));
        QVERIFY(waits(*made, [&] { return made->queues() == WorldQueues{0, 1}; }));
        const auto list = value<DeadLetterList>([&](auto done) { made->browse(done); });
        QVERIFY(list);
        QCOMPARE(list->letters.size(), 1);
        QCOMPARE(list->letters.first().verdict, Verdict::NotHandled);
        QCOMPARE(made->mailsOf(sent->eventId), 0);
        const auto items = value<QList<ReplayItem>>([&](auto done) { made->replay({}, {}, done); });
        QVERIFY(items);
        QCOMPARE(items->size(), 1);
        QVERIFY(isEmpty(*made));
        QVERIFY(ok([&](auto done) { made->stop(0, done); }));
        QCOMPARE(made->mailsOf(sent->eventId), 1);
    }

    void theJobBoardChangesWhileADeliveryWrites()
    {
        const auto made = world();
        QVERIFY(made);
        FaultRule rule;
        rule.where = FaultPoint::WorkerClaimed;
        rule.what = FaultEffect::Slow;
        rule.delay = 300ms;
        QVERIFY(value<int>([&](auto done) { made->arm(rule, done); }));
        QVERIFY(ok([&](auto done) { made->start(0, done); }));
        const auto sent = send(*made, {});
        QVERIFY(sent);
        QVERIFY(waits(*made, [&] { return made->armed().isEmpty(); })); // it sleeps, and holds the writer lock
        QVERIFY(ok([&](auto done) { made->change({{u"DELETE FROM jobs_application WHERE id = ?"_s, {3}}}, done); }));
        QVERIFY(isEmpty(*made));
        QCOMPARE(made->mailsOf(sent->eventId), 1);
        const auto second = send(*made, {});
        QVERIFY(second);
        QVERIFY(isEmpty(*made));
        QVERIFY(ok([&](auto done) { made->stop(0, done); }));
        QCOMPARE(made->mailsOf(second->eventId), 0);
        QCOMPARE(made->outcomesOf(second->eventId), QList{Outcome::Gone});
    }

    void aThousandCopiesGoOut()
    {
        WorldSettings settings;
        settings.workers = 0;
        const auto made = world(settings);
        QVERIFY(made);
        SendRequest request;
        request.copies = 1000;
        const auto sent = send(*made, request);
        QVERIFY(sent);
        QCOMPARE(sent->messageIds.size(), 1000);
        QVERIFY(waits(*made, [&] { return made->queues().queue == 1000; }));
    }

    void closingLeavesTheFiles()
    {
        const auto made = world();
        QVERIFY(made);
        QVERIFY(ok([&](auto done) { made->start(0, done); }));
        QSignalSpy closed(made.get(), &World::closed);
        made->close();
        QVERIFY(closed.wait(10'000));
        QVERIFY(QFile::exists(made->settings().folder + u"/journal.db"_s));
    }

    void openingIsCheap()
    {
        const auto cpu = [] { return std::clock() * 1000 / CLOCKS_PER_SEC; };
        (void)world(); // what the first one loads for all
        const auto before = cpu();
        constexpr int Worlds = 10;
        for (int i = 0; i < Worlds; ++i) {
            const auto made = world();
            QVERIFY(made);
            QSignalSpy closed(made.get(), &World::closed);
            made->close();
            QVERIFY(closed.wait(10'000));
        }
        const auto each = double(cpu() - before) / Worlds;
        qInfo("%.1f ms of CPU for each world", each);
        QVERIFY(each < 300); // 30 to 50; sanitizers take their share
    }
};

QTEST_GUILESS_MAIN(ScenarioWorldTest)
#include "tst_scenarioworld.moc"
