#include "tests/world/world.h"

#include <QtTest>

#include <QDir>
#include <QFile>
#include <QJsonObject>
#include <QRegularExpression>

#include <csignal>
#include <memory>

using namespace Qt::StringLiterals;
using sendonce::world::Ended;
using sendonce::world::World;

/// `sendoncectl matrix` as people and CI see it: the true program. What each cell must be is tst_guaranteematrix's.
class CtlMatrixTest : public QObject
{
    Q_OBJECT

    World m_world;

    std::unique_ptr<QProcess> spawn(const QStringList &words) const
    {
        return m_world.spawn(QStringList{u"matrix"_s} + words);
    }
    Ended run(const QStringList &words) const { return m_world.ctl(QStringList{u"matrix"_s} + words); }

    QStringList filesHere() const { return QDir(m_world.folder()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot); }

private Q_SLOTS:
    void initTestCase() { m_world.setVariable(u"TMPDIR"_s, m_world.folder()); }

    void aTableForPeople()
    {
        const Ended ended = run({u"--design"_s, u"one-transaction"_s, u"--design"_s, u"claim-first"_s, u"--hazard"_s,
                                 u"mail-refused"_s, u"--hazard"_s, u"second-message"_s});
        QVERIFY2(ended.exitCode == 0, qPrintable(ended.out + ended.err)); // a failing design breaks no promise of ours
        QVERIFY2(ended.out.contains(QRegularExpression(u"\\nMail refused once +0 lost +1 ok\\n"_s)),
                 qPrintable(ended.out));
        QVERIFY2(ended.out.contains(u"All of 8 cells are as theory has them."_s), qPrintable(ended.out));
        QCOMPARE(ended.err, QString()); // nobody watches: no progress
        QCOMPARE(filesHere(), QStringList()); // nobody wanted its worlds kept
    }

    void aJsonLineForEachCellAndItsEvidence()
    {
        const Ended ended = run({u"--design"_s, u"one-transaction"_s, u"--hazard"_s, u"crash-accepted"_s, u"--json"_s,
                                 u"--html"_s, u"matrix.html"_s, u"--data-dir"_s, m_world.path(u"kept"_s)});
        QVERIFY2(ended.exitCode == 0, qPrintable(ended.out + ended.err)); // announced: not broken
        QCOMPARE(ended.lines().size(), 2); // both receivers
        for (int line = 0; line < 2; ++line) {
            const QJsonObject cell = ended.json(line);
            const bool suppresses = cell["design"_L1].toString() == "one-transaction+suppressing"_L1;
            QCOMPARE(cell["hazard"_L1].toString(), u"crash-accepted"_s);
            QCOMPARE(cell["mails"_L1].toInt(), suppresses ? 1 : 2);
            QCOMPARE(cell["expected"_L1].toInt(), suppresses ? 1 : 2);
            QCOMPARE(cell["announced"_L1].toInt(), 1);
            QVERIFY(cell["seconds"_L1].toDouble() > 0);
            const QDir evidence(cell["folder"_L1].toString());
            QVERIFY2(evidence.path().startsWith(m_world.path(u"kept"_s)), qPrintable(evidence.path()));
            for (const QString &name : {u"journal.db"_s, u"log.txt"_s, u"cell.json"_s})
                QVERIFY2(evidence.exists(name), qPrintable(name));
            QCOMPARE(QDir(evidence.filePath(u"mailbox/new"_s)).entryList(QDir::Files).size(), suppresses ? 1 : 2);
        }
        QFile html(m_world.path(u"matrix.html"_s));
        QVERIFY(html.open(QIODevice::ReadOnly));
        QVERIFY(html.readAll().contains("2 told"));
    }

    void repeatedItShowsRates()
    {
        const Ended ended = run({u"--design"_s, u"no-idempotency"_s, u"--hazard"_s, u"second-message"_s, u"--repeat"_s,
                                 u"3"_s, u"--json"_s});
        QCOMPARE(ended.exitCode, 0);
        const QJsonObject cell = ended.json(0);
        QCOMPARE(cell["runs"_L1].toInt(), 3);
        QCOMPARE(cell["other"_L1].toInt(), 3);
        QCOMPARE(cell["text"_L1].toString(), u"2 in 3 of 3"_s);
    }

    void aReportThatCannotBeWrittenIsOne()
    {
        const Ended ended = run({u"--design"_s, u"no-idempotency"_s, u"--hazard"_s, u"second-message"_s, u"--html"_s,
                                 u"none/matrix.html"_s});
        QCOMPARE(ended.exitCode, 1);
        QVERIFY2(ended.err.contains(u"none/matrix.html"_s), qPrintable(ended.err));
        QVERIFY(ended.out.contains(u"2 doubled"_s)); // what was measured is told all the same
    }

    void wrongUsageIsTwo_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("says");
        QTest::newRow("design") << QStringList{u"--design"_s, u"two-phase"_s} << u"one-transaction"_s;
        QTest::newRow("hazard") << QStringList{u"--hazard"_s, u"flood"_s} << u"crash-accepted"_s;
        QTest::newRow("repeat, word") << QStringList{u"--repeat"_s, u"often"_s} << u"a number"_s;
        QTest::newRow("repeat, none") << QStringList{u"--repeat"_s, u"0"_s} << u"10"_s;
        QTest::newRow("html") << QStringList{u"--html"_s, u"a.txt"_s} << u"a file that ends in .html"_s;
        QTest::newRow("a word") << QStringList{u"all"_s} << u"all"_s;
    }
    void wrongUsageIsTwo()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, says);
        const Ended ended = run(words);
        QCOMPARE(ended.exitCode, 2);
        QVERIFY2(ended.err.contains(says), qPrintable(ended.err));
        QCOMPARE(ended.out, QString());
    }

    void ctrlCEndsItAndTellsWhatWasMeasured()
    {
        const auto process = spawn({u"--data-dir"_s, m_world.path(u"stopped"_s)});
        const QString worlds = m_world.path(u"stopped/matrix"_s);
        QVERIFY(QTest::qWaitFor([&worlds] { return !QDir(worlds).isEmpty(); }, 30'000));
        ::kill(pid_t(process->processId()), SIGINT);
        const Ended ended = World::wait(*process);
        QCOMPARE(ended.exitCode, 130);
        QVERIFY2(ended.out.contains(u" cells are as theory has them."_s), qPrintable(ended.out));
    }
};

QTEST_GUILESS_MAIN(CtlMatrixTest)
#include "tst_ctlmatrix.moc"
