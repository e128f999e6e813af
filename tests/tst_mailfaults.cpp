#include "worker/local/mailfaults.h"

#include <QSignalSpy>
#include <QTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

class TestMailFaults : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void nothingIsArmedAtFirst()
    {
        MailFaults faults;
        QSignalSpy changed(&faults, &MailFaults::changed);
        QCOMPARE(faults.armed(), ArmedFaults());
        QVERIFY(!faults.takeFault());
        faults.disarm();
        QCOMPARE(changed.size(), 0);
    }

    void isUsedUpOneByOne()
    {
        MailFaults faults;
        QSignalSpy changed(&faults, &MailFaults::changed);
        faults.failNext(2, 451);
        QCOMPARE(faults.armed(), (ArmedFaults{{u"mail"_s, 2, 451, u"4.3.0 mail server down (armed fault)"_s}}));
        QCOMPARE(faults.takeFault()->remaining, 1);
        QCOMPARE(faults.armed().first().remaining, 1);
        QCOMPARE(faults.takeFault()->replyCode, 451);
        QCOMPARE(faults.armed(), ArmedFaults());
        QCOMPARE(changed.size(), 3);
        QVERIFY(!faults.takeFault());
        QCOMPARE(changed.size(), 3);
    }

    void theClassOfTheTextAgreesWithTheCode()
    {
        MailFaults faults;
        faults.failNext(1, 499);
        QVERIFY(faults.takeFault()->text.startsWith(u"4.3.0 "_s));
        faults.failNext(1, 500);
        QVERIFY(faults.takeFault()->text.startsWith(u"5.3.0 "_s));
        faults.failNext(1, 550, u"5.1.1 no such user"_s);
        QCOMPARE(faults.takeFault()->text, u"5.1.1 no such user"_s);
    }

    void theLatestReplacesWhatWasArmed()
    {
        MailFaults faults;
        faults.failNext(5, 451);
        faults.failNext(1, 554);
        QCOMPARE(faults.armed().size(), 1);
        QCOMPARE(faults.takeFault()->replyCode, 554);
        QVERIFY(!faults.takeFault());
    }

    void disarmForgets()
    {
        MailFaults faults;
        faults.failNext(5, 451);
        QSignalSpy changed(&faults, &MailFaults::changed);
        faults.disarm();
        QCOMPARE(changed.size(), 1);
        QVERIFY(!faults.takeFault());
    }
};

QTEST_GUILESS_MAIN(TestMailFaults)
#include "tst_mailfaults.moc"
