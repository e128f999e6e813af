#include "worker/scenario/scenarioreport.h"

#include <QtTest>

#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QXmlStreamReader>

using namespace sendonce;
using namespace Qt::StringLiterals;

/// What runs leave for people and for CI: whatever texts they hold.
class ScenarioReportTest : public QObject
{
    Q_OBJECT

    /// What a stranger may have put into a body, a name or a reply.
    static QString hostile() { return u"<script>alert('x')</script> & \"]]>\" \u0007\uffff \x1b[31m"_s; }

    static ScenarioReport report(ScenarioRun::State state, const QString &text = u"a text"_s)
    {
        ScenarioReport report;
        ScenarioRun &run = report.run;
        run.scenario = u"duplicate"_s;
        run.title = text;
        run.state = state;
        run.startedAt = QDateTime(QDate(2026, 12, 1), QTime(14, 5, 41), Qt::UTC);
        run.msec = 1234;
        run.folder = u"/evidence/1"_s;
        run.steps = {{text, ScenarioLine::State::Done, text, 5}};
        const bool passed = state == ScenarioRun::State::Passed;
        run.expectations = {
            {text, passed ? ScenarioLine::State::Done : ScenarioLine::State::Failed, u"2 e-mails"_s, -1}};
        run.isGuaranteeBroken = state == ScenarioRun::State::Failed;
        report.info.explanation = QStringList{text};
        report.log = QStringList{text, text};
        report.mails = {{u"A"_s, text, text, text, text}};
        return report;
    }

    static QList<ScenarioReport> mixed()
    {
        ScenarioReport broken = report(ScenarioRun::State::Failed, hostile());
        broken.run.error = hostile();
        return {report(ScenarioRun::State::Passed, hostile()), report(ScenarioRun::State::Failed, hostile()), broken};
    }

    static QByteArray fileContent(const QString &path)
    {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u"."_s)); }

    void junitCountsAndNamesWhatFailed()
    {
        QXmlStreamReader xml(junitXml(mixed(), u"scenarios"_s));
        QMap<QString, int> elements;
        QMap<QString, QString> suite;
        QStringList types;
        while (!xml.atEnd()) {
            if (xml.readNext() != QXmlStreamReader::StartElement)
                continue;
            ++elements[xml.name().toString()];
            if (xml.name() == "testsuite"_L1) {
                for (const QXmlStreamAttribute &attribute : xml.attributes())
                    suite.insert(attribute.name().toString(), attribute.value().toString());
            }
            if (xml.name() == "failure"_L1 || xml.name() == "error"_L1)
                types.append(xml.attributes().value(u"type"_s).toString());
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QCOMPARE(suite.value(u"tests"_s), u"3"_s);
        QCOMPARE(suite.value(u"failures"_s), u"1"_s);
        QCOMPARE(suite.value(u"errors"_s), u"1"_s);
        QCOMPARE(suite.value(u"timestamp"_s), u"2026-12-01T14:05:41"_s);
        QCOMPARE(suite.value(u"time"_s), u"3.702"_s);
        QCOMPARE(elements.value(u"testcase"_s), 3);
        QCOMPARE(elements.value(u"failure"_s), 1);
        QCOMPARE(elements.value(u"error"_s), 1);
        QCOMPARE(types, (QStringList{u"guarantee"_s, u"guarantee"_s}));
    }

    void junitIsOfTheUsualForm_data()
    {
        QTest::addColumn<QByteArray>("xml");
        QTest::newRow("mixed") << junitXml(mixed(), u"scenarios"_s);
        QTest::newRow("none") << junitXml({}, u"scenarios"_s);
        QTest::newRow("passed") << junitXml({report(ScenarioRun::State::Passed)}, u"scenarios"_s);
    }
    void junitIsOfTheUsualForm()
    {
        QFETCH(QByteArray, xml);
        const QString xmllint = QStandardPaths::findExecutable(u"xmllint"_s);
        if (xmllint.isEmpty())
            QSKIP("xmllint (package libxml2-utils) is not there");
        QTemporaryDir dir;
        QFile file(dir.filePath(u"junit.xml"_s));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(xml);
        file.close();
        QProcess lint;
        lint.setProcessChannelMode(QProcess::MergedChannels);
        lint.start(xmllint,
                   {u"--noout"_s, u"--schema"_s, QStringLiteral(SENDONCE_SOURCE_DIR "/tests/data/junit/report.xsd"),
                    file.fileName()});
        QVERIFY(lint.waitForFinished());
        const QByteArray said = lint.readAll();
        QVERIFY2(lint.exitCode() == 0, said.constData());
    }

    void aStoppedRunIsSkipped()
    {
        const QByteArray xml = junitXml({report(ScenarioRun::State::Stopped)}, u"scenarios"_s);
        QVERIFY(xml.contains("<skipped/>"));
        QVERIFY(xml.contains("skipped=\"1\""));
    }

    void textsOfStrangersAreInertInHtml()
    {
        const QString html = QString::fromUtf8(htmlPage(mixed(), hostile()));
        QVERIFY(!html.contains(u"<script"_s));
        QVERIFY(html.contains(u"&lt;script&gt;"_s));
        QVERIFY(!html.contains(u'\u0007') && !html.contains(u'\u001b') && !html.contains(u'\uffff'));
        // Nothing is loaded, nothing runs: one file, and what is in it.
        static const QRegularExpression Outside(u"(src|href)=\"(?!#)|url\\(|@import|<link|<iframe|javascript:"_s);
        QVERIFY2(!Outside.match(html).hasMatch(), qPrintable(Outside.match(html).captured()));
        QVERIFY(html.contains(u"default-src 'none'"_s));
        QVERIFY(html.contains(u"prefers-color-scheme: dark"_s));
    }

    void htmlShowsEverything()
    {
        ScenarioReport one = report(ScenarioRun::State::Failed);
        one.run.title = u"the title"_s;
        one.info.explanation = QStringList{u"the explanation"_s};
        one.run.steps = {{u"the step"_s, ScenarioLine::State::Done, u"the sight"_s, 5}};
        one.run.expectations = {{u"the expectation"_s, ScenarioLine::State::Failed, u"what is there"_s, -1}};
        one.log = QStringList{u"the log line"_s};
        one.mails = {{u"the event"_s, u"the recipient"_s, u"the subject"_s, u"the Message-ID"_s, u"the text"_s}};
        const QString html = QString::fromUtf8(htmlPage({one}, u"the page"_s));
        for (const QString &text :
             {u"the page"_s, u"the title"_s, u"the explanation"_s, u"the step"_s, u"the sight"_s, u"the expectation"_s,
              u"what is there"_s, u"the log line"_s, u"the event"_s, u"the recipient"_s, u"the subject"_s,
              u"the Message-ID"_s, u"the text"_s, u"0 of 1 passed"_s, u"a guarantee is broken"_s})
            QVERIFY2(html.contains(text), qPrintable(text));
    }

    void jsonHasALineForEachRun()
    {
        const QList<QByteArray> lines = jsonLines(mixed()).trimmed().split('\n');
        QCOMPARE(lines.size(), 3);
        const QJsonObject passed = QJsonDocument::fromJson(lines[0]).object();
        QCOMPARE(passed["state"_L1].toString(), u"passed"_s);
        QCOMPARE(passed["guaranteeBroken"_L1].toBool(), false);
        const QJsonObject failed = QJsonDocument::fromJson(lines[1]).object();
        QCOMPARE(failed["state"_L1].toString(), u"failed"_s);
        QCOMPARE(failed["guaranteeBroken"_L1].toBool(), true);
        QCOMPARE(failed["expectations"_L1][0]["state"_L1].toString(), u"failed"_s);
        QCOMPARE(failed["expectations"_L1][0]["seen"_L1].toString(), u"2 e-mails"_s);
        QCOMPARE(failed["title"_L1].toString(), hostile());
    }

    void theEndingOfItsNameSaysWhichFormAFileGets()
    {
        QTemporaryDir dir;
        for (const auto &[name, begins] :
             {std::pair(u"a.html"_s, "<!DOCTYPE html>"_ba), std::pair(u"a.xml"_s, "<?xml"_ba),
              std::pair(u"a.json"_s, "{"_ba), std::pair(u"a.JSONL"_s, "{"_ba)}) {
            QVERIFY(writeReports(mixed(), dir.filePath(name)));
            QVERIFY2(fileContent(dir.filePath(name)).startsWith(begins), qPrintable(name));
        }
        const auto unknown = writeReports(mixed(), dir.filePath(u"a.txt"_s));
        QVERIFY(!unknown);
        QCOMPARE(unknown.error().kind, ErrorKind::Invalid);
        QVERIFY2(unknown.error().text.contains(u".html, .xml"_s), qPrintable(unknown.error().text));
        const auto nowhere = writeReports(mixed(), dir.filePath(u"nowhere/a.html"_s));
        QVERIFY(!nowhere);
        QCOMPARE(nowhere.error().kind, ErrorKind::Io);
    }

    void evidenceIsAFolderOfFiles()
    {
        QTemporaryDir dir;
        QVERIFY(writeEvidence(report(ScenarioRun::State::Passed), dir.path()));
        QCOMPARE(fileContent(dir.filePath(u"log.txt"_s)), "a text\na text\n"_ba);
        const QJsonObject run = QJsonDocument::fromJson(fileContent(dir.filePath(u"run.json"_s))).object();
        QCOMPARE(run["mails"_L1][0]["event"_L1].toString(), u"A"_s);
        QVERIFY(fileContent(dir.filePath(u"report.html"_s)).contains("a text"));
    }

    void faultsAreNamed()
    {
        ScenarioReport failed = report(ScenarioRun::State::Failed);
        failed.run.expectations = {{u"A: 1 e-mail"_s, ScenarioLine::State::Failed, u"2 e-mails"_s, -1}};
        QCOMPARE(faultsOf(failed.run), QStringList{u"expected A: 1 e-mail; there is: 2 e-mails"_s});
        QCOMPARE(faultsOf(report(ScenarioRun::State::Passed).run), QStringList());
    }
};

QTEST_GUILESS_MAIN(ScenarioReportTest)
#include "tst_scenarioreport.moc"
