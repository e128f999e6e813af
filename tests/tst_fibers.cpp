#include "worker/wait/fibers.h"

#include <QtTest>

#include <array>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

/// Two ends of a connection.
struct Pair
{
    Pair() { ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()); }
    ~Pair()
    {
        ::close(ends[0]);
        ::close(ends[1]);
    }
    void say(char c) const { QCOMPARE(::write(ends[1], &c, 1), 1); }
    char hear() const
    {
        char c = 0;
        return ::read(ends[0], &c, 1) == 1 ? c : '-';
    }
    std::array<int, 2> ends{-1, -1};
};

/// As a lane's code is written: it knows nothing of fibers.
char answerOf(const Pair &pair)
{
    while (awaitDescriptor(pair.ends[0], POLLIN, 60'000) == 0) { }
    return pair.hear();
}

} // namespace

class FiberTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void othersRunWhileOneWaits();
    void whoeverIsAnsweredGoesOnFirst();
    void timeOutIsNoEvent();
    void pausesEndInTheirOrder();
    void wakeEndsATurn();
    void endOfTheOtherSideIsAnEvent();
    void stackIsKeptAcrossAWait();
    void stacksAreUsedAgain();
    void withoutFibersTheThreadWaits();
};

void FiberTest::othersRunWhileOneWaits()
{
    const Pair pair;
    Fibers fibers;
    QString heard;
    fibers.start([&] { heard += QLatin1Char(answerOf(pair)); });
    QCOMPARE(fibers.running(), 1);
    fibers.start([&] { heard += u"other "_s; });
    QCOMPARE(heard, u"other "_s);
    QCOMPARE(fibers.running(), 1);
    pair.say('a');
    while (fibers.running() > 0)
        fibers.turn(std::nullopt);
    QCOMPARE(heard, u"other a"_s);
}

void FiberTest::whoeverIsAnsweredGoesOnFirst()
{
    const std::array<Pair, 3> pairs;
    Fibers fibers;
    QString heard;
    for (const Pair &pair : pairs)
        fibers.start([&heard, &pair] {
            heard += QLatin1Char(answerOf(pair));
            heard += QLatin1Char(answerOf(pair));
        });
    for (const auto &[index, said] : {std::pair(2, 'e'), std::pair(0, 'a'), std::pair(2, 'f'), std::pair(1, 'c'),
                                      std::pair(1, 'd'), std::pair(0, 'b')}) {
        pairs[size_t(index)].say(said);
        fibers.turn(std::nullopt);
    }
    QCOMPARE(heard, u"eafcdb"_s);
    QCOMPARE(fibers.running(), 0);
}

void FiberTest::timeOutIsNoEvent()
{
    const Pair pair;
    Fibers fibers;
    std::optional<short> came;
    fibers.start([&] { came = awaitDescriptor(pair.ends[0], POLLIN, 5); });
    QVERIFY(!came);
    while (fibers.running() > 0)
        fibers.turn(std::nullopt);
    QCOMPARE(*came, short(0));
}

void FiberTest::pausesEndInTheirOrder()
{
    Fibers fibers;
    QString ended;
    for (const int msec : {60, 1, 30}) {
        fibers.start([&ended, msec] {
            pauseFor(std::chrono::milliseconds(msec));
            ended += QString::number(msec) + u' ';
        });
    }
    while (fibers.running() > 0)
        fibers.turn(std::nullopt);
    QCOMPARE(ended, u"1 30 60 "_s);
}

void FiberTest::wakeEndsATurn()
{
    const Pair pair;
    Fibers fibers;
    fibers.start([&] { answerOf(pair); });
    for (int i = 0; i < 100; ++i) {
        std::thread other([&] { fibers.wake(); });
        fibers.turn(std::nullopt); // would last for a minute
        other.join();
    }
    fibers.wake();
    fibers.wake(); // one turn is enough for both
    fibers.turn(std::nullopt);
    fibers.turn(Fibers::Clock::now());
    QCOMPARE(fibers.running(), 1);
    pair.say('a');
    fibers.turn(std::nullopt);
    QCOMPARE(fibers.running(), 0);
}

void FiberTest::endOfTheOtherSideIsAnEvent()
{
    const Pair pair;
    Fibers fibers;
    char heard = 0;
    fibers.start([&] { heard = answerOf(pair); });
    ::shutdown(pair.ends[1], SHUT_RDWR);
    fibers.turn(std::nullopt);
    QCOMPARE(heard, '-');
}

void FiberTest::stackIsKeptAcrossAWait()
{
    const Pair pair;
    Fibers fibers;
    bool same = false;
    fibers.start([&] {
        std::array<char, 256 * 1024> large;
        for (size_t i = 0; i < large.size(); ++i)
            large[i] = char(i * 7);
        answerOf(pair);
        same = true;
        for (size_t i = 0; i < large.size(); ++i)
            same = same && large[i] == char(i * 7);
    });
    fibers.start([&] { // another one of that size meanwhile
        std::array<char, 256 * 1024> large;
        large.fill('x');
        QVERIFY(large[1000] == 'x');
    });
    pair.say('a');
    fibers.turn(std::nullopt);
    QVERIFY(same);
}

void FiberTest::stacksAreUsedAgain()
{
    Fibers fibers;
    QSet<quintptr> stacks;
    for (int i = 0; i < 1000; ++i) {
        fibers.start([&] {
            const int here = 0;
            stacks.insert(quintptr(&here));
        });
    }
    QCOMPARE(stacks.size(), 1);
}

void FiberTest::withoutFibersTheThreadWaits()
{
    const Pair pair;
    QCOMPARE(awaitDescriptor(pair.ends[0], POLLIN, 0), short(0));
    QCOMPARE(awaitDescriptor(pair.ends[0], POLLIN, 5), short(0));
    std::thread other([&] {
        pauseFor(5ms);
        pair.say('a');
    });
    QCOMPARE(answerOf(pair), 'a');
    other.join();
    QCOMPARE(awaitDescriptor(pair.ends[0], POLLOUT, -1), short(POLLOUT));
}

QTEST_APPLESS_MAIN(FiberTest)
#include "tst_fibers.moc"
