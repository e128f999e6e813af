#include "worker/consume/backlog.h"

#include <QtTest>

#include <set>
#include <thread>
#include <vector>

using namespace sendonce;
using namespace Qt::StringLiterals;

namespace {

LaneOrder order(const QString &id)
{
    LaneOrder order;
    order.message.messageId = id;
    return order;
}

LaneReport report(int lane, Outcome outcome = Outcome::Sent)
{
    LaneReport report;
    report.lane = lane;
    report.report.outcome = outcome;
    return report;
}

QString idOf(const std::optional<LaneOrder> &order)
{
    return order ? order->message.messageId : QString();
}

} // namespace

class BacklogTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void aLaneThatIsThroughTakesTheNext()
    {
        Backlog backlog;
        backlog.offer({order(u"a"_s), order(u"b"_s)}, 0);
        QVERIFY(!backlog.hasNews());
        auto finished = backlog.finish(report(1));
        QCOMPARE(idOf(finished.next), u"a"_s);
        QVERIFY(!finished.isUrgent); // there is another one
        QVERIFY(backlog.hasNews());
        finished = backlog.finish(report(2));
        QCOMPARE(idOf(finished.next), u"b"_s);
        QVERIFY(finished.isUrgent); // more has to be asked for
        finished = backlog.finish(report(1));
        QVERIFY(!finished.next);
        const Backlog::News news = backlog.withdraw();
        QCOMPARE(news.reports.size(), 3);
        QCOMPARE(news.reports[0].next, u"a"_s);
        QCOMPARE(news.reports[1].next, u"b"_s);
        QCOMPARE(news.reports[2].next, QString());
        QVERIFY(news.reports[0].endedNsec > 0 && news.reports[0].endedNsec <= news.reports[2].endedNsec);
        QVERIFY(news.reservations.isEmpty());
        QVERIFY(!backlog.hasNews());
    }

    void whatIsWithdrawnCannotBeTaken()
    {
        Backlog backlog;
        backlog.offer({order(u"a"_s)}, 0);
        backlog.withdraw();
        QVERIFY(!backlog.finish(report(1)).next);
        QVERIFY(!backlog.reserve(2));
    }

    void whoCannotGoOnTakesNothing_data()
    {
        QTest::addColumn<LaneReport>("ended");
        QTest::newRow("failed") << report(1, Outcome::Failed);
        QTest::newRow("given back") << report(1, Outcome::GivenBack);
        QTest::newRow("in doubt") << report(1, Outcome::InDoubt);
        LaneReport other = report(1);
        other.databaseLost = Error{ErrorKind::Unreachable, u"away"_s, {}};
        QTest::newRow("database lost") << other;
        other = report(1);
        other.crowdedOut = true;
        QTest::newRow("crowded out") << other;
        other = report(1);
        other.crashed = FaultPoint::WorkerCommitted;
        QTest::newRow("crashed") << other;
    }
    void whoCannotGoOnTakesNothing()
    {
        QFETCH(LaneReport, ended);
        Backlog backlog;
        backlog.offer({order(u"a"_s), order(u"b"_s)}, -1);
        QCOMPARE(idOf(backlog.reserve(1)), u"a"_s);
        const auto finished = backlog.finish(ended);
        QVERIFY(!finished.next);
        QVERIFY(finished.isUrgent);
        const Backlog::News news = backlog.withdraw();
        QCOMPARE(news.reports.first().next, QString());
        QVERIFY(news.reservations.isEmpty()); // nobody has "a"
    }

    void aLaneWithoutWorkIsNewsUnlessMoreIsOnItsWay()
    {
        Backlog backlog;
        backlog.offer({}, 0);
        QVERIFY(backlog.finish(report(1)).isUrgent);
        backlog.offer({}, -1);
        QVERIFY(!backlog.finish(report(1)).isUrgent);
    }

    void whoWantsToKnowWhenSoManyAreLeftIsToldOnce()
    {
        Backlog backlog;
        backlog.offer({order(u"a"_s), order(u"b"_s), order(u"c"_s), order(u"d"_s)}, 2);
        QVERIFY(!backlog.finish(report(1)).isUrgent); // takes "a"
        QVERIFY(backlog.finish(report(2)).isUrgent);
        QVERIFY(!backlog.finish(report(3)).isUrgent);
        backlog.withdraw();
        backlog.offer({order(u"d"_s)}, 2);
        QVERIFY(backlog.finish(report(1)).isUrgent);
    }

    void whatIsReservedIsNextForItsLaneAndNobodyElse()
    {
        Backlog backlog;
        backlog.offer({order(u"a"_s), order(u"b"_s), order(u"c"_s)}, 0);
        QCOMPARE(idOf(backlog.reserve(1)), u"a"_s);
        QCOMPARE(idOf(backlog.finish(report(2)).next), u"b"_s);
        Backlog::News news = backlog.withdraw();
        QCOMPARE(news.reservations.size(), 1);
        QCOMPARE(news.reservations.first().lane, 1);
        QCOMPARE(news.reservations.first().messageId, u"a"_s);
        QVERIFY(backlog.withdraw().reservations.isEmpty()); // told once
        // It is the lane's although nothing is on offer any more.
        QCOMPARE(idOf(backlog.finish(report(1)).next), u"a"_s);
        QCOMPARE(backlog.withdraw().reports.first().next, u"a"_s);
        QVERIFY(!backlog.finish(report(1)).next);
    }

    /// Four lanes and a consumer that withdraws and offers all the time: each message is one lane's.
    void nothingIsTakenTwiceOrForgotten()
    {
        constexpr int Lanes = 4, All = 400;
        Backlog backlog;
        QList<LaneOrder> waiting;
        for (int i = 0; i < All; ++i)
            waiting.append(order(QString::number(i)));
        std::atomic_bool isOver = false;
        std::vector<std::vector<QString>> done(Lanes);
        std::vector<std::thread> lanes;
        for (int lane = 0; lane < Lanes; ++lane) {
            lanes.emplace_back([&, lane] {
                while (!isOver) {
                    const auto reserved = done[size_t(lane)].size() % 3 == 0 ? backlog.reserve(lane) : std::nullopt;
                    const auto finished = backlog.finish(report(lane));
                    if (reserved && idOf(finished.next) != idOf(reserved))
                        qFatal("lane %d got another one than it had reserved", lane);
                    if (finished.next)
                        done[size_t(lane)].push_back(idOf(finished.next));
                    else
                        std::this_thread::yield();
                }
            });
        }
        std::set<QString> told;
        QHash<int, QString> reservations;
        const auto left = [&](const QString &id) {
            return std::find_if(waiting.begin(), waiting.end(), [&](const auto &each) { return idOf(each) == id; });
        };
        while (told.size() < All) {
            const Backlog::News news = backlog.withdraw();
            for (const LaneReport &each : news.reports) {
                if (each.next.isEmpty())
                    continue;
                if (reservations.value(each.lane) == each.next)
                    reservations.remove(each.lane);
                else
                    waiting.erase(left(each.next));
                if (!told.insert(each.next).second)
                    qFatal("%s was taken twice", qPrintable(each.next));
            }
            for (const Backlog::Reservation &each : news.reservations) {
                reservations.insert(each.lane, each.messageId);
                waiting.erase(left(each.messageId));
            }
            backlog.offer(waiting.first(std::min<qsizetype>(10, waiting.size())), 0);
        }
        isOver = true;
        for (std::thread &lane : lanes)
            lane.join();
        std::set<QString> all;
        for (const auto &each : done)
            all.insert(each.cbegin(), each.cend());
        QCOMPARE(int(all.size()), All);
        QVERIFY(waiting.isEmpty());
    }
};

Q_DECLARE_METATYPE(sendonce::LaneReport)

QTEST_GUILESS_MAIN(BacklogTest)
#include "tst_backlog.moc"
