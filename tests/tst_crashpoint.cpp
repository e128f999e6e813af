#include "worker/faults/crashpoint.h"

#include <QCoreApplication>
#include <QProcess>
#include <QTest>

#include <csignal>
#include <cstdio>

using namespace sendonce;
using namespace Qt::StringLiterals;

namespace {

constexpr auto ChildOption = "--reach-every-stage"; // with the name of the crash point, or "none"

/// What a delivery does, as far as crash points see it: each stage in its order, its number on stdout.
int reachEveryStage(const QString &armed)
{
    const CrashPoints points(crashStage(armed));
    for (int stage = 0; stage < StageCount; ++stage) {
        std::printf("%d\n", stage);
        std::fflush(stdout);
        points.reached(Stage(stage));
    }
    return 0;
}

} // namespace

class TestCrashPoint : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }
    void namesAreThoseOfTheOption();
    void namesAndStagesAgree();
    void killsAtItsStage_data();
    void killsAtItsStage();
};

void TestCrashPoint::namesAreThoseOfTheOption()
{
    QCOMPARE(crashNames(),
             QStringList({u"received"_s, u"claimed"_s, u"looked-up"_s, u"handed-over"_s, u"accepted"_s, u"committed"_s,
                          u"deleted"_s}));
}

void TestCrashPoint::namesAndStagesAgree()
{
    for (const QString &name : crashNames()) {
        QVERIFY(crashStage(name).has_value());
        QCOMPARE(crashName(*crashStage(name)), name);
    }
    QCOMPARE(crashName(Stage::Validated), QString());
    for (const QString &wrong : {u"validated"_s, u"Claimed"_s, u"looked up"_s, u""_s})
        QVERIFY(!crashStage(wrong).has_value());
}

void TestCrashPoint::killsAtItsStage_data()
{
    QTest::addColumn<QString>("armed");
    QTest::addColumn<int>("lastStage"); ///< of StageCount: all were reached, nothing was killed
    for (const QString &name : crashNames())
        QTest::newRow(qPrintable(name)) << name << int(*crashStage(name));
    QTest::newRow("none") << u"none"_s << StageCount - 1;
}

void TestCrashPoint::killsAtItsStage()
{
    QFETCH(QString, armed);
    QFETCH(int, lastStage);
    QProcess child;
    child.start(QCoreApplication::applicationFilePath(), {QLatin1StringView(ChildOption), armed});
    QVERIFY(child.waitForFinished());
    const QList<QByteArray> lines = child.readAllStandardOutput().trimmed().split('\n');
    QCOMPARE(lines.last().toInt(), lastStage);
    QCOMPARE(lines.size(), lastStage + 1);
    if (armed == "none"_L1) {
        QCOMPARE(child.exitStatus(), QProcess::NormalExit);
        QCOMPARE(child.exitCode(), 0);
    } else {
        QCOMPARE(child.exitStatus(), QProcess::CrashExit);
        QCOMPARE(child.exitCode(), SIGKILL);
    }
}

int main(int argc, char **argv)
{
    if (argc == 3 && qstrcmp(argv[1], ChildOption) == 0)
        return reachEveryStage(QString::fromLatin1(argv[2]));
    const QCoreApplication application(argc, argv);
    TestCrashPoint test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_crashpoint.moc"
