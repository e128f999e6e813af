#include "tests/world/world.h"

#include <QtTest>

using namespace sendonce::world;
using namespace Qt::StringLiterals;

/// A true worker killed (SIGKILL to itself) at each point of a delivery, then another one that finishes the work:
/// mails, claims and what is announced must be those of spec.md's table, exactly.
class CrashPoints : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void theNextWorkerPutsItRight_data()
    {
        QTest::addColumn<int>("mails");
        QTest::addColumn<bool>("announced"); // "possibly mailed twice" at the next start
        QTest::addColumn<QString>("rest");
        const QString sends = u"sent 1, skipped 0, failed 0, in doubt 0"_s;
        QTest::newRow("received") << 1 << false << sends;
        QTest::newRow("claimed") << 1 << false << sends;
        QTest::newRow("looked-up") << 1 << false << sends;
        QTest::newRow("handed-over") << 2 << true << sends;
        QTest::newRow("accepted") << 2 << true << sends;
        QTest::newRow("committed") << 1 << false << u"sent 0, skipped 1, failed 0, in doubt 0"_s;
        QTest::newRow("deleted") << 1 << false << u"sent 0, skipped 0, failed 0, in doubt 0"_s;
    }

    void theNextWorkerPutsItRight()
    {
        QFETCH(int, mails);
        QFETCH(bool, announced);
        QFETCH(QString, rest);
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        world.ctl({u"send"_s, u"--event-id"_s, u"E"_s});
        const Ended dead = world.ctl({u"worker"_s, u"--crash-at"_s, QString::fromLatin1(QTest::currentDataTag())});
        QVERIFY2(dead.killed, qPrintable(dead.err));
        const Ended worker = world.ctl({u"worker"_s, u"--until-empty"_s});
        QCOMPARE(worker.lastLine(), rest);
        QCOMPARE(world.mailsOf(u"E"_s), mails);
        QCOMPARE(worker.logged(u"WARNING"_s, u"possibly mailed twice"_s), announced);
        QCOMPARE(world.events().size(), 1);
        if (mails == 2) { // the copies are recognisable, byte for byte the same mail
            const auto all = world.mails();
            QStringList bytes;
            for (const auto &mail : all) {
                QFile file(world.dataDir() + u"/mailbox/new/"_s + mail.value("id"_L1).toString());
                QVERIFY(file.open(QIODevice::ReadOnly));
                bytes.append(QString::fromUtf8(file.readAll()));
            }
            QCOMPARE(bytes[0], bytes[1]);
        }
    }
};

QTEST_GUILESS_MAIN(CrashPoints)
#include "tst_crashpoints.moc"
