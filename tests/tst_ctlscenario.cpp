#include "tests/world/world.h"

#include <QtTest>

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <csignal>
#include <memory>

using namespace Qt::StringLiterals;
using sendonce::world::Ended;
using sendonce::world::World;

/// `sendoncectl scenario` as people and CI see it: the true program, which needs no services but its own.
class CtlScenarioTest : public QObject
{
    Q_OBJECT

    World m_world;

    std::unique_ptr<QProcess> spawn(const QStringList &words) const
    {
        return m_world.spawn(QStringList{u"scenario"_s} + words);
    }
    Ended run(const QStringList &words) const { return m_world.ctl(QStringList{u"scenario"_s} + words); }

    QString folderWith(const QString &name, const QByteArray &scenario) const
    {
        const QString folder = m_world.path(u"own-"_s + name);
        QDir().mkpath(folder);
        QFile file(folder + u'/' + name + u".json"_s);
        return file.open(QIODevice::WriteOnly) && file.write(scenario) > 0 ? folder : QString();
    }

private Q_SLOTS:
    void theCatalogueIsListed()
    {
        const Ended plain = run({u"list"_s});
        QCOMPARE(plain.exitCode, 0);
        QVERIFY2(plain.out.contains(u"exact-instant "_s), qPrintable(plain.out));
        const Ended json = run({u"list"_s, u"--json"_s});
        QCOMPARE(json.lines().size(), plain.lines().size() - 1); // the headings
        QCOMPARE(json.json(0)["name"_L1].toString(), u"first-delivery"_s);
        QVERIFY(!json.json(0)["steps"_L1].toArray().isEmpty());
        QVERIFY(!json.json(0)["expectations"_L1].toArray().isEmpty());
        QVERIFY(!json.json(0)["explanation"_L1].toArray().isEmpty());
    }

    void scenariosRunAndLeaveReportsAndEvidence()
    {
        const Ended ended = run({u"run"_s, u"duplicate"_s, u"first-delivery"_s, u"--junit"_s, u"out.xml"_s, u"--html"_s,
                                 u"out.html"_s, u"--keep"_s, u"kept"_s});
        QVERIFY2(ended.exitCode == 0, qPrintable(ended.out + ended.err));
        QCOMPARE(ended.lines().last(), u"2 passed, 0 failed"_s);
        for (const QString &name : {u"out.xml"_s, u"out.html"_s}) {
            QFile file(m_world.path(name));
            QVERIFY(file.open(QIODevice::ReadOnly));
            const QByteArray content = file.readAll();
            QVERIFY(content.contains("duplicate") && content.contains("first-delivery"));
        }
        const QStringList kept = QDir(m_world.path(u"kept"_s)).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
        QCOMPARE(kept.size(), 2);
        for (const QString &folder : kept) {
            for (const QString &evidence : {u"journal.db"_s, u"log.txt"_s, u"report.html"_s})
                QVERIFY2(QFile::exists(m_world.path(u"kept/"_s + folder + u'/' + evidence)), qPrintable(evidence));
        }
    }

    void jsonIsALineForEachRun()
    {
        const Ended ended = run({u"run"_s, u"duplicate"_s, u"--json"_s});
        QCOMPARE(ended.exitCode, 0);
        QCOMPARE(ended.lines().size(), 1);
        QCOMPARE(ended.json(0)["state"_L1].toString(), u"passed"_s);
        QVERIFY(!QFile::exists(ended.json(0)["folder"_L1].toString())); // nobody wanted it kept
    }

    void aBrokenGuaranteeIsThreeAndAnotherFaultIsOne()
    {
        const QByteArray twoMails =
            "{\"name\": \"mine\", \"title\": \"Two mails\", \"steps\": "
            "[{\"start\": \"all\"}, {\"send\": {\"event\": \"A\"}}, {\"wait\": {\"queue\": 0}}], "
            "\"expect\": {\"mails\": {\"A\": 2}}}";
        const Ended broken = run({u"run"_s, u"mine"_s, u"--scenario-dir"_s, folderWith(u"broken"_s, twoMails)});
        QCOMPARE(broken.exitCode, 3);
        QVERIFY2(broken.out.contains(u"expected A: 2 e-mails; there is: 1 e-mail"_s), qPrintable(broken.out));
        QByteArray noClaim = twoMails;
        noClaim.replace("\"mails\": {\"A\": 2}", "\"claims\": {\"A\": 0}");
        const Ended failed = run({u"run"_s, u"mine"_s, u"--scenario-dir"_s, folderWith(u"failed"_s, noClaim)});
        QCOMPARE(failed.exitCode, 1);
        QVERIFY2(failed.out.contains(u"expected A: no claims; there is: 1 claim"_s), qPrintable(failed.out));
    }

    void aFileThatIsNoScenarioIsNamed()
    {
        const QString folder = folderWith(u"bad"_s, "{\"name\": \"mine\",\n\"title\": 7}");
        const Ended list = run({u"list"_s, u"--scenario-dir"_s, folder});
        QCOMPARE(list.exitCode, 1);
        QVERIFY2(list.err.contains(u"bad.json, line 2: title is a number (7); a text is accepted"_s),
                 qPrintable(list.err));
        QVERIFY(list.out.contains(u"duplicate"_s)); // the others are there all the same
    }

    void wrongUsageIsTwo_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("says");
        QTest::newRow("none") << QStringList{} << u"name the scenarios, or say --all"_s;
        QTest::newRow("both") << QStringList{u"duplicate"_s, u"--all"_s} << u"name the scenarios, or say --all"_s;
        QTest::newRow("unknown") << QStringList{u"no-such"_s} << u"there is no scenario “no-such”"_s;
        QTest::newRow("junit") << QStringList{u"duplicate"_s, u"--junit"_s, u"a.txt"_s}
                               << u"a file that ends in .xml"_s;
        QTest::newRow("html") << QStringList{u"duplicate"_s, u"--html"_s, u"a.xml"_s} << u"a file that ends in .html"_s;
        QTest::newRow("at once") << QStringList{u"duplicate"_s, u"--at-once"_s, u"0"_s} << u"a number from 1 to 32"_s;
    }
    void wrongUsageIsTwo()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, says);
        const Ended ended = run(QStringList{u"run"_s} + words);
        QCOMPARE(ended.exitCode, 2);
        QVERIFY2(ended.err.contains(says), qPrintable(ended.err));
    }

    void slowlyItTellsEachStep()
    {
        const auto process = spawn({u"run"_s, u"first-delivery"_s, u"--slow"_s});
        QString out;
        const bool told = QTest::qWaitFor(
            [&] {
                out += QString::fromUtf8(process->readAllStandardOutput());
                return out.contains(u"send A about application 3"_s);
            },
            30'000);
        QVERIFY2(told, qPrintable(out));
        QCOMPARE(World::wait(*process).exitCode, 0);
    }

    void ctrlCEndsItCleanly()
    {
        const auto process = spawn({u"run"_s, u"exact-instant-held"_s, u"--slow"_s});
        QString out;
        QVERIFY(QTest::qWaitFor(
            [&] {
                out += QString::fromUtf8(process->readAllStandardOutput());
                return out.contains(u"  arm "_s);
            },
            30'000));
        ::kill(pid_t(process->processId()), SIGINT);
        const Ended ended = World::wait(*process);
        QCOMPARE(ended.exitCode, 130);
        QVERIFY2(ended.out.contains(u"stopped"_s), qPrintable(ended.out));
    }
};

QTEST_GUILESS_MAIN(CtlScenarioTest)
#include "tst_ctlscenario.moc"
