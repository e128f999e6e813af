#include "worker/faults/crashpoint.h"

#include <QTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

class TestCrashPoint : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }
    void namesAreThoseOfTheOption();
    void namesAndStagesAgree();
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

QTEST_GUILESS_MAIN(TestCrashPoint)
#include "tst_crashpoint.moc"
