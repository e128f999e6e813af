#include "worker/consume/lanethread.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

namespace {

/// A lane's thread whose deliveries end before they need a service: their bodies are no JSON.
struct Bench
{
    Bench()
    {
        LaneSettings settings;
        settings.config.dataDir = dir.path();
        settings.config.databaseUrl = u"sqlite:///"_s + dir.filePath(u"jobs.db"_s);
        settings.eventTypes = std::make_shared<EventTypes>();
        settings.stop = std::make_shared<std::atomic_bool>(false);
        settings.faults = std::make_shared<FaultGate>(QString(), FaultGate::Death::Lane);
        thread = std::make_unique<LaneThread>(settings, backlog, 1, 1);
        thread->start();
    }
    void deliver(const QString &messageId)
    {
        LaneThread::Order order{1, {}};
        order.order.message.messageId = messageId;
        order.order.message.body = "no event"_ba;
        order.order.receivedNsec = Lane::nowNsec();
        thread->deliver({order});
    }
    QTemporaryDir dir;
    std::shared_ptr<Backlog> backlog = std::make_shared<Backlog>();
    std::unique_ptr<LaneThread> thread;
};

/// proc(5): 'S' for a thread that sleeps, 'R' for one that runs or would; 0 when there is no thread of that name.
char stateOfThread(const QByteArray &name)
{
    const QStringList tasks = QDir(u"/proc/self/task"_s).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    for (const QString &task : tasks) {
        QFile file(u"/proc/self/task/%1/stat"_s.arg(task));
        if (!file.open(QIODevice::ReadOnly))
            continue;
        const QByteArray line = file.readAll();
        if (line.contains('(' + name + ')'))
            return line[line.lastIndexOf(')') + 2];
    }
    return 0;
}

} // namespace

class LaneThreadTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void whoWasRousedTakesTheOrder()
    {
        Bench bench;
        for (const QString &id : {u"a"_s, u"b"_s, u"c"_s}) {
            bench.thread->rouse();
            bench.deliver(id);
            QTRY_VERIFY(bench.backlog->hasNews());
            const auto reports = bench.backlog->withdraw().reports;
            QCOMPARE(reports.size(), 1);
            QCOMPARE(reports.first().report.messageId, id);
            QCOMPARE(reports.first().report.outcome, Outcome::Failed);
        }
    }

    void whoWasRousedForNothingSleepsAgain()
    {
        Bench bench;
        QTRY_COMPARE(stateOfThread("lane 1"), 'S');
        bench.thread->rouse();
        int asleep = 0; // times in a row: it may be seen before it has woken up
        const auto sleeps = [&asleep] {
            asleep = stateOfThread("lane 1") == 'S' ? asleep + 1 : 0;
            return asleep >= 50;
        };
        QTRY_VERIFY(sleeps());
        bench.deliver(u"late"_s);
        QTRY_VERIFY(bench.backlog->hasNews());
        QCOMPARE(bench.backlog->withdraw().reports.first().report.messageId, u"late"_s);
    }

    void whoWasRousedCanEnd()
    {
        Bench bench;
        bench.thread->rouse();
        bench.thread->end();
        QVERIFY(bench.thread->wait(10'000));
    }
};

QTEST_GUILESS_MAIN(LaneThreadTest)
#include "tst_lanethread.moc"
