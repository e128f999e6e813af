#include "worker/store/turn.h"

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include <sys/file.h>
#include <unistd.h>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using namespace sendonce;

namespace {

std::atomic_bool never = false;

/// Another process: this test's binary as `tst_turn --hold PATH` (says "held", keeps the turn until its stdin ends) or
/// `--take-often PATH` (turns of 2 ms one after the other, until its stdin ends).
int other(const QString &what, const QString &path)
{
    std::atomic_bool ended = false;
    std::thread input([&] {
        char byte = 0;
        while (::read(STDIN_FILENO, &byte, 1) > 0) { }
        ended = true;
    });
    int taken = 0;
    do {
        const Result<Turn> turn = Turn::take(path, 10s, never);
        if (!turn)
            break;
        if (taken++ == 0) {
            std::puts("held");
            std::fflush(stdout);
        }
        if (what == "--hold"_L1)
            input.join();
        else
            std::this_thread::sleep_for(2ms);
    } while (!ended);
    if (input.joinable())
        input.join();
    std::printf("%d\n", taken);
    return 0;
}

class Other : public QProcess
{
public:
    bool begin(const QString &what, const QString &path)
    {
        start(QCoreApplication::applicationFilePath(), {what, path});
        return waitForReadyRead(10'000) && readLine().trimmed() == "held";
    }
    ~Other() override
    {
        closeWriteChannel();
        waitForFinished(10'000);
    }
};

} // namespace

class TestTurn : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();

    void oneAtATime();
    void threadsAreServedInOrder();
    void waitingEndsWithBusy();
    void waitingEndsWhenToldTo();
    void stoppedBeforeItBegan();
    void movedTurnIsGivenOnce();
    void linksAreTheSameFile();
    void otherDatabasesDoNotWait();
    void unusableFolderIsAnError();

    void otherProcessIsWaitedFor();
    void killedHolderFreesIt();
    void childrenDoNotKeepIt();
    void busyProcessLetsOthersIn();

private:
    QString path() const { return m_folder->filePath(u"t.db"_s); }
    Result<Turn> take(std::chrono::milliseconds timeout = 10s) const { return Turn::take(path(), timeout, never); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestTurn::init()
{
    QTest::failOnWarning(QRegularExpression(u".*"_s));
    m_folder = std::make_unique<QTemporaryDir>();
}

void TestTurn::oneAtATime()
{
    std::atomic_int inside = 0;
    std::atomic_int most = 0;
    std::atomic_int turns = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            for (int n = 0; n < 25; ++n) {
                const Result<Turn> turn = take();
                if (!turn)
                    return;
                most = std::max(most.load(), ++inside);
                std::this_thread::yield();
                --inside;
                ++turns;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(turns, 200);
    QCOMPARE(most, 1);
}

void TestTurn::threadsAreServedInOrder()
{
    std::optional<Turn> held(take().take());
    std::mutex mutex;
    QList<int> order;
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i) {
        threads.emplace_back([&, i] {
            const Result<Turn> turn = take();
            const std::lock_guard lock(mutex);
            order.append(turn ? i : -1);
        });
        // In line before the next one starts.
        QTRY_COMPARE_WITH_TIMEOUT(Turn::waiting(path()), i + 2, 5000);
    }
    held.reset();
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(order, (QList<int>{0, 1, 2, 3, 4, 5}));
    QCOMPARE(Turn::waiting(path()), 0);
}

void TestTurn::waitingEndsWithBusy()
{
    const Result<Turn> held = take();
    QVERIFY(held.ok());
    QElapsedTimer timer;
    timer.start();
    const Result<Turn> refused = take(60ms);
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().kind, ErrorKind::Busy);
    QVERIFY(timer.elapsed() >= 60 && timer.elapsed() < 1000);
    QCOMPARE(take(0ms).error().kind, ErrorKind::Busy);
    QCOMPARE(Turn::waiting(path()), 1); // nobody stays in line
}

void TestTurn::waitingEndsWhenToldTo()
{
    const Result<Turn> held = take();
    std::atomic_bool stop = false;
    std::atomic_bool aborted = false;
    std::thread waiting([&] {
        const Result<Turn> turn = Turn::take(path(), 60s, stop);
        aborted = !turn.ok() && turn.error().kind == ErrorKind::Aborted;
    });
    QTRY_COMPARE_WITH_TIMEOUT(Turn::waiting(path()), 2, 5000);
    QElapsedTimer timer;
    timer.start();
    stop = true;
    waiting.join();
    QVERIFY(aborted);
    QVERIFY(timer.elapsed() < 500); // 20 ms, and a slow machine
}

void TestTurn::stoppedBeforeItBegan()
{
    const std::atomic_bool stop = true;
    QCOMPARE(Turn::take(path(), 10s, stop).error().kind, ErrorKind::Aborted);
    QVERIFY(take(0ms).ok());
}

void TestTurn::movedTurnIsGivenOnce()
{
    std::optional<Turn> moved;
    {
        Result<Turn> turn = take();
        moved.emplace(turn.take());
        Turn twice = std::move(*moved);
        moved.emplace(std::move(twice));
    }
    QCOMPARE(take(0ms).error().kind, ErrorKind::Busy);
    moved.reset();
    QVERIFY(take(0ms).ok());
}

void TestTurn::linksAreTheSameFile()
{
    QFile file(path());
    QVERIFY(file.open(QIODevice::WriteOnly));
    const QString link = m_folder->filePath(u"link.db"_s);
    QVERIFY(QFile::link(path(), link));
    const Result<Turn> held = Turn::take(link, 10s, never);
    QVERIFY(held.ok());
    QCOMPARE(take(0ms).error().kind, ErrorKind::Busy);
}

void TestTurn::otherDatabasesDoNotWait()
{
    const Result<Turn> held = take();
    QVERIFY(Turn::take(m_folder->filePath(u"other.db"_s), 0ms, never).ok());
}

void TestTurn::unusableFolderIsAnError()
{
    const Result<Turn> turn = Turn::take(m_folder->filePath(u"no/such/t.db"_s), 10s, never);
    QVERIFY(!turn.ok());
    QCOMPARE(turn.error().kind, ErrorKind::Io);
    QVERIFY2(turn.error().text.contains(u"no/such/t.db.turn"_s), qPrintable(turn.error().text));
    QVERIFY(QFile::link(m_folder->filePath(u"elsewhere"_s), path() + u".turn"_s));
    QCOMPARE(take().error().kind, ErrorKind::Io); // a link that somebody laid there is not followed
    QVERIFY(!QFile::exists(m_folder->filePath(u"elsewhere"_s)));
}

void TestTurn::otherProcessIsWaitedFor()
{
    Other holder;
    QVERIFY(holder.begin(u"--hold"_s, path()));
    QCOMPARE(take(50ms).error().kind, ErrorKind::Busy);
    std::atomic_bool got = false;
    std::thread waiting([&] { got = take().ok(); });
    holder.closeWriteChannel();
    waiting.join();
    QVERIFY(got);
}

void TestTurn::killedHolderFreesIt()
{
    Other holder;
    QVERIFY(holder.begin(u"--hold"_s, path()));
    QCOMPARE(take(0ms).error().kind, ErrorKind::Busy);
    holder.kill();
    QVERIFY(holder.waitForFinished(10'000));
    QVERIFY(take(5s).ok());
}

void TestTurn::childrenDoNotKeepIt()
{
    QProcess child;
    {
        const Result<Turn> held = take();
        child.start(u"sleep"_s, {u"60"_s});
        QVERIFY(child.waitForStarted(10'000));
        // Asked of the kernel: no descriptor of the child is the turn's file.
        const QDir descriptors(u"/proc/%1/fd"_s.arg(child.processId()));
        const QFileInfoList links = descriptors.entryInfoList(QDir::Files | QDir::System | QDir::NoDotAndDotDot);
        for (const QFileInfo &link : links)
            QVERIFY2(!link.symLinkTarget().contains(u".turn"_s), qPrintable(link.symLinkTarget()));
    }
    QVERIFY(take(0ms).ok());
    child.kill();
    QVERIFY(child.waitForFinished(10'000));
}

// Without the second lock a process that takes turn upon turn kept all others out until their time-out.
void TestTurn::busyProcessLetsOthersIn()
{
    Other busy;
    QVERIFY(busy.begin(u"--take-often"_s, path()));
    QElapsedTimer timer;
    timer.start();
    for (int turns = 0; turns < 20; ++turns) {
        const Result<Turn> turn = take(5s);
        QVERIFY2(turn.ok(), turn.ok() ? "" : qPrintable(turn.error().text));
        std::this_thread::sleep_for(2ms); // the work of a turn
    }
    QVERIFY2(timer.elapsed() < 3000, qPrintable(QString::number(timer.elapsed())));
    busy.closeWriteChannel();
    QVERIFY(busy.waitForFinished(10'000));
    const QByteArray taken = busy.readAll().trimmed();
    QVERIFY2(taken.toInt() >= 10, taken.constData()); // and they came in turns, but for a late one
}

int main(int argc, char *argv[])
{
    QCoreApplication application(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    if (arguments.size() == 3 && arguments[1].startsWith(u"--"_s))
        return other(arguments[1], arguments[2]);
    TestTurn test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_turn.moc"
