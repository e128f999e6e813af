// A console with many dead letters, measured: ./dev bench console. consoleload [--letters N] [--window-only]
// The true window, worker and embedded services in this process, in a temporary folder; drawn into memory. Prints a
// table of figures beside their targets; exit code 1 when one is missed.
//
// How late a timer of 5 ms comes is how long the window did not answer. A turn that lasts 50 ms is ten ticks that a
// person could have waited for, and counts as ten, or long pauses would hide behind their rarity. Beside it stands the
// CPU time of the window's longest turns, which is the same on a busy machine.
#include "app/config/embedded.h"
#include "app/config/settings.h"
#include "app/process/backstage.h"
#include "ui/attach.h"
#include "ui/deadlettersmodel.h"
#include "ui/deadletterspanel.h"
#include "ui/mainwindow.h"
#include "ui/rowtable.h"
#include "ui/searchfield.h"
#include "worker/events/event.h"
#include "worker/queue/sqsclient.h"
#include "worker/store/journal.h"
#include "worker/worker.h"

#include <QAbstractEventDispatcher>
#include <QApplication>
#include <QCommandLineParser>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QFile>
#include <QHeaderView>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QThread>
#include <QTimer>
#include <QUuid>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr int Batch = 10;
constexpr int BatchesAtOnce = 8;
constexpr auto Tick = 5ms;

[[noreturn]] void fail(const QString &text)
{
    std::fprintf(stderr, "consoleload: %s\n", qPrintable(text));
    std::_Exit(2);
}

/// Lets events happen until it is so. Only here, where there is no window to be held up by it.
template <typename Condition>
void waitUntil(Condition condition, std::chrono::seconds bound = 300s)
{
    QElapsedTimer clock;
    clock.start();
    QEventLoop loop;
    while (!condition()) {
        if (clock.elapsed() > std::chrono::milliseconds(bound).count())
            fail(u"it took too long"_s);
        loop.processEvents(QEventLoop::WaitForMoreEvents);
    }
}

class Probe : public QObject
{
public:
    Probe()
    {
        m_timer.setTimerType(Qt::PreciseTimer);
        m_timer.setInterval(Tick);
        connect(&m_timer, &QTimer::timeout, this, [this] {
            const double late = std::max(0.0, double(m_clock.nsecsElapsed()) / 1e6 - double(Tick.count()));
            m_clock.restart();
            for (double each = late; each >= 0; each -= double(Tick.count()))
                m_late.append(each);
        });
        m_timer.start();
        m_clock.start();
        QAbstractEventDispatcher *dispatcher = QAbstractEventDispatcher::instance();
        connect(dispatcher, &QAbstractEventDispatcher::awake, this, [this] { m_turnBegan = cpuMs(); });
        connect(dispatcher, &QAbstractEventDispatcher::aboutToBlock, this,
                [this] { m_worstTurn = std::max(m_worstTurn, cpuMs() - m_turnBegan); });
    }
    void begin()
    {
        m_late.clear();
        m_worstTurn = 0;
        m_turnBegan = cpuMs();
    }
    double worstTurn() const { return m_worstTurn; } ///< ms of this thread's CPU
    double percentile(double share) const
    {
        if (m_late.isEmpty())
            return 0;
        QList<double> sorted = m_late;
        std::sort(sorted.begin(), sorted.end());
        return sorted.at(qsizetype(double(sorted.size() - 1) * share));
    }

private:
    static double cpuMs()
    {
        timespec time{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return double(time.tv_sec) * 1e3 + double(time.tv_nsec) / 1e6;
    }

    QTimer m_timer;
    QElapsedTimer m_clock;
    QList<double> m_late; ///< ms
    double m_turnBegan = 0, m_worstTurn = 0;
};

double memoryMb()
{
    QFile file(u"/proc/self/status"_s);
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    const QByteArray status = file.readAll();
    const qsizetype at = status.indexOf("VmRSS:");
    return status.mid(at + 6, 20).trimmed().split(' ').first().toDouble() / 1024;
}

class Table
{
public:
    void least(const char *name, double value, double target) { row(name, value, "≥", target, value >= target); }
    void most(const char *name, double value, double target) { row(name, value, "≤", target, value <= target); }
    void told(const char *name, double value) { std::printf("%-46s %10.1f\n", name, value); }
    bool missed() const { return m_missed; }

private:
    void row(const char *name, double value, const char *sign, double target, bool ok)
    {
        std::printf("%-46s %10.1f   %s %-7.0f %s\n", name, value, sign, target, ok ? "ok" : "miss");
        std::fflush(stdout);
        m_missed |= !ok;
    }
    bool m_missed = false;
};

/// Dead letters as a bad night leaves them: most for one reason, some for others, a few that no worker saw.
void fillQueue(const QUrl &dlq, int letters, const QStringList &eventIds)
{
    SqsClient client(SqsSettings{dlq.resolved(QUrl(u"/"_s)), u"us-east-1"_s, {u"test"_s, u"test"_s, {}}});
    QObject context;
    int next = 0, done = 0;
    std::function<void()> sendMore = [&] {
        if (next >= letters)
            return;
        QList<SendEntry> entries;
        for (int i = 0; i < Batch && next < letters; ++i, ++next) {
            entries.append({QString::number(i),
                            composeStatusChanged(eventIds.at(next), 1 + next % 40, u"reviewing"_s, u"interview"_s),
                            {{u"trace"_s, {u"String"_s, u"night-%1"_s.arg(next % 7), {}}}},
                            {},
                            -1});
        }
        client.sendBatch(dlq, entries, &context, [&](const Result<QList<BatchEntryResult>> &result) {
            if (!result)
                fail(result.error().text);
            done += int(result->size());
            sendMore();
        });
    };
    for (int i = 0; i < BatchesAtOnce; ++i)
        sendMore();
    waitUntil([&] { return done >= letters; });
}

void fillJournal(const QString &dataDir, const QStringList &eventIds)
{
    auto journal = Journal::open(dataDir, {});
    if (!journal)
        fail(journal.error().text);
    QList<DeliveryReport> reports;
    const QDateTime then = QDateTime::currentDateTimeUtc().addSecs(-900);
    for (qsizetype i = 0; i < eventIds.size(); ++i) {
        if (i % 50 == 0)
            continue;
        DeliveryReport report;
        report.eventId = eventIds.at(i);
        report.eventType = u"application.status_changed"_s;
        report.messageId = u"m-%1"_s.arg(i);
        report.receiveCount = 3;
        report.lane = 1 + int(i) % 4;
        report.failedStage = Stage::HandedOver;
        report.reason =
            i % 11 == 0 ? u"550 5.1.1 <user%1@example.com> no such mailbox"_s.arg(i) : u"451 4.3.0 mail server down"_s;
        report.permanent = i % 11 == 0;
        report.receivedAt = then.addMSecs(i * 3);
        reports.append(report);
    }
    if (const auto recorded = journal->record(reports); !recorded)
        fail(recorded.error().text);
}

} // namespace

int main(int argc, char **argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    QCommandLineParser parser;
    parser.addOptions({{u"letters"_s, u"how many"_s, u"N"_s, u"50000"_s}});
    parser.process(application);
    const int count = parser.value(u"letters"_s).toInt();

    QTemporaryDir folder;
    // As in the console: services and worker behind the window.
    QThread thread;
    QObject backstage;
    backstage.moveToThread(&thread);
    thread.start();
    std::unique_ptr<LocalServices> services;
    std::optional<LocalAddresses> started;
    const auto start = [&] {
        stepBackstage();
        LocalSettings settings;
        settings.dataDir = folder.path();
        settings.sqsPort = settings.smtpPort = 0;
        services = std::make_unique<LocalServices>();
        auto addresses = startEmbedded(*services, settings);
        if (!addresses)
            fail(addresses.error().text);
        started = addresses.take();
    };
    QMetaObject::invokeMethod(&backstage, start, Qt::BlockingQueuedConnection);
    const auto config = resolve({}, {}, folder.path(), started);
    if (!config)
        fail(config.error().text);
    QStringList eventIds;
    for (int i = 0; i < count; ++i)
        eventIds.append(QUuid::createUuid().toString(QUuid::WithoutBraces));
    fillJournal(folder.path(), eventIds);
    fillQueue(started->dlqUrl(), count, eventIds);

    Table table;
    std::printf("%d dead letters\n", count);
    auto *worker = new Worker(config.value());
    worker->moveToThread(&thread);
    QObject::connect(&thread, &QThread::finished, worker, &QObject::deleteLater);
    MainWindow window;
    QObject context;
    bool opened = false, finished = false, over = false, searched = false;
    QElapsedTimer clock;
    QObject::connect(worker, &Worker::opened, &context, [&] { opened = true; });
    QObject::connect(worker, &Worker::deadLettersChanged, &context, [&](const DeadLetterList &list) {
        if (!list.error.isEmpty())
            fail(list.error);
        finished = list.finished;
        if (finished && list.seen != count)
            fail(u"seen %1 of %2"_s.arg(list.seen).arg(count));
    });
    QObject::connect(worker, &Worker::replayProgressed, &context,
                     [&](const ReplayProgress &progress) { over = progress.isOver() && progress.failed == 0; });
    QObject::connect(worker, &Worker::deadLettersFound, &context, [&] { searched = true; });
    QMetaObject::invokeMethod(worker, &Worker::open);
    waitUntil([&] { return opened; });

    // The engine alone.
    const double before = memoryMb();
    clock.start();
    QMetaObject::invokeMethod(worker, [worker] { worker->browseDeadLetters(); });
    waitUntil([&] { return finished; });
    table.least("browse without a window, letters/s", count / (double(clock.nsecsElapsed()) / 1e9), 2000);
    table.told("memory of the browse, MB", memoryMb() - before);

    // With the window.
    Probe probe;
    attach(window, *worker);
    window.resize(1920, 1080);
    window.show();
    window.showOpened();
    DeadLettersPanel *panel = window.deadLettersPanel();
    window.bringForward(panel);
    waitUntil([&] { return panel->isVisible(); });
    finished = false;
    probe.begin();
    clock.start();
    QMetaObject::invokeMethod(worker, [worker] { worker->browseDeadLetters(); });
    waitUntil([&] { return finished && panel->model()->rowCount() == count; });
    table.least("browse with the window, letters/s", count / (double(clock.nsecsElapsed()) / 1e9), 2000);
    table.most("… window late, p99 ms", probe.percentile(0.99), 16);
    table.told("… window late, worst ms", probe.percentile(1));
    table.told("… longest turn, ms of CPU", probe.worstTurn());
    table.told("memory of browse and window, MB", memoryMb() - before);

    probe.begin();
    const auto arranged = [&](auto act) {
        act();
        waitUntil([&] { return !panel->model()->isArranging(); });
    };
    arranged([&] { panel->table()->sortByColumn(DeadLettersModel::Reason, Qt::AscendingOrder); });
    arranged([&] { panel->table()->sortByColumn(DeadLettersModel::Event, Qt::DescendingOrder); });
    for (const QString &text : {u"4"_s, u"45"_s, u"451"_s, u"451 4.3.0"_s, u"interview"_s, QString()}) {
        searched = text.isEmpty();
        arranged([&] { panel->searchField()->search(text); });
        waitUntil([&] { return searched && !panel->model()->isArranging(); });
    }
    for (int i = 0; i < 100; ++i) {
        panel->table()->verticalScrollBar()->setValue(i * count / 100);
        QApplication::processEvents();
    }
    table.most("sort, search, scroll: window late, p99 ms", probe.percentile(0.99), 16);
    table.told("… window late, worst ms", probe.percentile(1));
    table.told("… longest turn, ms of CPU", probe.worstTurn());

    probe.begin();
    clock.start();
    const QStringList all = panel->shownIds();
    panel->lockLetters(all);
    QMetaObject::invokeMethod(worker, [worker, all] {
        ReplayOrder order;
        order.messageIds = all;
        worker->replay(order);
    });
    waitUntil([&] { return over; }, 900s);
    table.least("replay with the window, messages/s", count / (double(clock.nsecsElapsed()) / 1e9), 1000);
    table.most("… window late, p99 ms", probe.percentile(0.99), 16);
    table.told("… window late, worst ms", probe.percentile(1));
    table.told("… longest turn, ms of CPU", probe.worstTurn());

    bool closed = false;
    QObject::connect(worker, &Worker::closed, &context, [&] { closed = true; });
    QMetaObject::invokeMethod(worker, &Worker::close);
    waitUntil([&] { return closed; });
    window.close();
    QMetaObject::invokeMethod(
        &backstage, [&] { services.reset(); }, Qt::BlockingQueuedConnection);
    thread.quit();
    thread.wait();
    return table.missed() ? 1 : 0;
}
