#include "worker/scenario/scenarioreport.h"

#include "worker/scenario/htmlpage.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QSaveFile>
#include <QSysInfo>
#include <QXmlStreamWriter>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

QString stateName(ScenarioRun::State state)
{
    switch (state) {
    case ScenarioRun::State::Running:
        return u"running"_s;
    case ScenarioRun::State::Passed:
        return u"passed"_s;
    case ScenarioRun::State::Failed:
        return u"failed"_s;
    case ScenarioRun::State::Stopped:
        return u"stopped"_s;
    }
    return {};
}

QString lineStateName(ScenarioLine::State state)
{
    switch (state) {
    case ScenarioLine::State::Waiting:
        return u"not reached"_s;
    case ScenarioLine::State::Running:
        return u"not ended"_s;
    case ScenarioLine::State::Done:
        return u"ok"_s;
    case ScenarioLine::State::Failed:
        return u"failed"_s;
    }
    return {};
}

QString seconds(qint64 msec)
{
    return QString::number(double(msec) / 1000, 'f', 3);
}

// ---- HTML

QString verdict(const ScenarioRun &run)
{
    switch (run.state) {
    case ScenarioRun::State::Passed:
        return u"<span class=\"good\">✓ passed</span>"_s;
    case ScenarioRun::State::Failed:
        return run.isGuaranteeBroken ? u"<span class=\"bad\">✕ failed: a guarantee is broken</span>"_s
                                     : u"<span class=\"bad\">✕ failed</span>"_s;
    default:
        return u"<span class=\"other\">– %1</span>"_s.arg(stateName(run.state));
    }
}

QString mark(const ScenarioLine &line)
{
    switch (line.state) {
    case ScenarioLine::State::Done:
        return u"<span class=\"good\">✓ ok</span>"_s;
    case ScenarioLine::State::Failed:
        return u"<span class=\"bad\">✕ failed</span>"_s;
    default:
        return u"<span class=\"muted\">– %1</span>"_s.arg(lineStateName(line.state));
    }
}

QString tableOf(const QList<ScenarioLine> &lines, const QString &what, const QString &seen)
{
    QString html = u"<table><thead><tr><th>%1</th><th>%2</th><th></th></tr></thead><tbody>\n"_s.arg(what, seen);
    for (const ScenarioLine &line : lines) {
        html += u"<tr><td>"_s + escaped(line.text) + u"</td><td>"_s + escaped(line.seen) + u"</td><td>"_s + mark(line)
            + u"</td></tr>\n"_s;
    }
    return html + u"</tbody></table>\n"_s;
}

QString sectionOf(const ScenarioReport &report, qsizetype number)
{
    const ScenarioRun &run = report.run;
    QString html = u"<section id=\"run-%1\">\n<h2>"_s.arg(number) + escaped(run.title) + u"</h2>\n"_s;
    html += u"<p class=\"muted\">"_s + escaped(run.scenario) + u" · "_s
        + escaped(run.startedAt.toUTC().toString(Qt::ISODate)) + u" · "_s + seconds(run.msec) + u" s · "_s
        + verdict(run) + u"</p>\n"_s;
    for (const QString &line : report.info.explanation)
        html += u"<p>"_s + escaped(line) + u"</p>\n"_s;
    if (!run.error.isEmpty())
        html += u"<p class=\"bad\">"_s + escaped(run.error) + u"</p>\n"_s;
    html += u"<h3>What was done</h3>\n"_s + tableOf(run.steps, u"Step"_s, u"What was seen"_s);
    html += u"<h3>What was expected</h3>\n"_s + tableOf(run.expectations, u"Expectation"_s, u"What there is"_s);
    html += u"<h3>E-mails</h3>\n"_s;
    if (report.mails.isEmpty())
        html += u"<p class=\"muted\">None.</p>\n"_s;
    for (const ReportedMail &mail : report.mails) {
        html += u"<details><summary>"_s + escaped(mail.event) + u": "_s + escaped(mail.subject) + u" → "_s
            + escaped(mail.to) + u"</summary>\n<p class=\"muted\">Message-ID "_s + escaped(mail.messageId)
            + u"</p>\n<pre>"_s + escaped(mail.text) + u"</pre></details>\n"_s;
    }
    html += u"<h3>Log</h3>\n<details><summary>%1 lines</summary><pre>"_s.arg(report.log.size())
        + escaped(report.log.join(u'\n')) + u"</pre></details>\n"_s;
    return html + u"</section>\n"_s;
}

// ---- JUnit

qsizetype countOf(const QList<ScenarioReport> &reports, bool (*is)(const ScenarioRun &))
{
    return std::count_if(reports.cbegin(), reports.cend(),
                         [is](const ScenarioReport &report) { return is(report.run); });
}

bool hasError(const ScenarioRun &run)
{
    return run.state == ScenarioRun::State::Failed && !run.error.isEmpty();
}

bool hasFailed(const ScenarioRun &run)
{
    return run.state == ScenarioRun::State::Failed && run.error.isEmpty();
}

bool isSkipped(const ScenarioRun &run)
{
    return run.state == ScenarioRun::State::Stopped || run.state == ScenarioRun::State::Running;
}

void writeCase(QXmlStreamWriter &xml, const ScenarioRun &run, const QString &suite)
{
    xml.writeStartElement(u"testcase"_s);
    xml.writeAttribute(u"name"_s, inXml(run.scenario));
    xml.writeAttribute(u"classname"_s, inXml(suite));
    xml.writeAttribute(u"time"_s, seconds(run.msec));
    const QStringList faults = faultsOf(run);
    if (isSkipped(run)) {
        xml.writeEmptyElement(u"skipped"_s);
    } else if (run.state == ScenarioRun::State::Failed) {
        xml.writeStartElement(hasError(run) ? u"error"_s : u"failure"_s);
        xml.writeAttribute(u"message"_s, inXml(faults.value(0)));
        xml.writeAttribute(u"type"_s, run.isGuaranteeBroken ? u"guarantee"_s : u"scenario"_s);
        xml.writeCharacters(inXml(faults.join(u'\n')));
        xml.writeEndElement();
    }
    xml.writeEndElement();
}

Result<void> writeFile(const QString &path, const QByteArray &content)
{
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size() || !file.commit())
        return Error{ErrorKind::Io, u"%1 cannot be written: %2"_s.arg(path, file.errorString()), {}};
    return {};
}

QJsonArray toJson(const QList<ScenarioLine> &lines)
{
    QJsonArray array;
    for (const ScenarioLine &line : lines) {
        QJsonObject object{{u"text"_s, line.text}, {u"state"_s, lineStateName(line.state)}, {u"seen"_s, line.seen}};
        if (line.msec >= 0)
            object.insert(u"msec"_s, line.msec);
        array.append(object);
    }
    return array;
}

} // namespace

QStringList faultsOf(const ScenarioRun &run)
{
    QStringList faults;
    if (!run.error.isEmpty())
        faults.append(run.error);
    for (const ScenarioLine &step : run.steps) {
        if (step.state == ScenarioLine::State::Failed)
            faults.append(u"%1: %2"_s.arg(step.text, step.seen));
    }
    for (const ScenarioLine &expectation : run.expectations) {
        if (expectation.state == ScenarioLine::State::Failed)
            faults.append(u"expected %1; there is: %2"_s.arg(expectation.text, expectation.seen));
    }
    return faults;
}

QByteArray junitXml(const QList<ScenarioReport> &reports, const QString &suite)
{
    QByteArray bytes;
    QXmlStreamWriter xml(&bytes);
    xml.setAutoFormatting(true);
    xml.setAutoFormattingIndent(2);
    xml.writeStartDocument();
    xml.writeStartElement(u"testsuites"_s);
    xml.writeStartElement(u"testsuite"_s);
    qint64 msec = 0;
    QDateTime first;
    QStringList log;
    for (const ScenarioReport &report : reports) {
        msec += report.run.msec;
        if (!first.isValid() || report.run.startedAt < first)
            first = report.run.startedAt;
        log.append(u"== "_s + report.run.scenario);
        log += report.log;
    }
    xml.writeAttribute(u"name"_s, inXml(suite));
    xml.writeAttribute(u"package"_s, u"sendonce"_s);
    xml.writeAttribute(u"id"_s, u"0"_s);
    xml.writeAttribute(u"tests"_s, QString::number(reports.size()));
    xml.writeAttribute(u"failures"_s, QString::number(countOf(reports, hasFailed)));
    xml.writeAttribute(u"errors"_s, QString::number(countOf(reports, hasError)));
    if (const qsizetype skipped = countOf(reports, isSkipped); skipped > 0) // not every schema knows it
        xml.writeAttribute(u"skipped"_s, QString::number(skipped));
    xml.writeAttribute(u"time"_s, seconds(msec));
    if (!first.isValid())
        first = QDateTime::currentDateTimeUtc();
    xml.writeAttribute(u"timestamp"_s, first.toUTC().toString(u"yyyy-MM-ddTHH:mm:ss"_s));
    const QString host = inXml(QSysInfo::machineHostName());
    xml.writeAttribute(u"hostname"_s, host.isEmpty() ? u"localhost"_s : host);
    xml.writeEmptyElement(u"properties"_s);
    for (const ScenarioReport &report : reports)
        writeCase(xml, report.run, suite);
    xml.writeTextElement(u"system-out"_s, inXml(log.join(u'\n')));
    xml.writeTextElement(u"system-err"_s, {});
    xml.writeEndElement();
    xml.writeEndElement();
    xml.writeEndDocument();
    return bytes;
}

QByteArray htmlPage(const QList<ScenarioReport> &reports, const QString &title)
{
    const auto passed = std::count_if(reports.cbegin(), reports.cend(), [](const ScenarioReport &report) {
        return report.run.state == ScenarioRun::State::Passed;
    });
    QString html;
    html += u"<p>%1 of %2 passed.</p>\n"_s.arg(passed).arg(reports.size());
    if (reports.size() > 1) {
        html += u"<table><thead><tr><th>Scenario</th><th></th><th>Verdict</th><th>Seconds</th></tr></thead><tbody>\n"_s;
        for (qsizetype i = 0; i < reports.size(); ++i) {
            const ScenarioRun &run = reports[i].run;
            html += u"<tr><td><a href=\"#run-%1\">"_s.arg(i) + escaped(run.scenario) + u"</a></td><td>"_s
                + escaped(run.title) + u"</td><td>"_s + verdict(run) + u"</td><td class=\"number\">"_s
                + seconds(run.msec) + u"</td></tr>\n"_s;
        }
        html += u"</tbody></table>\n"_s;
    }
    for (qsizetype i = 0; i < reports.size(); ++i)
        html += sectionOf(reports[i], i);
    return htmlPageOf(title, html);
}

QJsonObject toJson(const ScenarioRun &run)
{
    return {{u"scenario"_s, run.scenario},
            {u"title"_s, run.title},
            {u"state"_s, stateName(run.state)},
            {u"guaranteeBroken"_s, run.isGuaranteeBroken},
            {u"error"_s, run.error},
            {u"startedAt"_s, run.startedAt.toUTC().toString(Qt::ISODateWithMs)},
            {u"msec"_s, run.msec},
            {u"steps"_s, toJson(run.steps)},
            {u"expectations"_s, toJson(run.expectations)},
            {u"folder"_s, run.folder}};
}

QByteArray jsonLines(const QList<ScenarioReport> &reports)
{
    QByteArray lines;
    for (const ScenarioReport &report : reports)
        lines += QJsonDocument(toJson(report.run)).toJson(QJsonDocument::Compact) + '\n';
    return lines;
}

Result<void> writeReports(const QList<ScenarioReport> &reports, const QString &path)
{
    const QString ending = QFileInfo(path).suffix().toLower();
    if (ending == "html"_L1 || ending == "htm"_L1)
        return writeFile(path, htmlPage(reports, u"Sendonce: scenarios"_s));
    if (ending == "xml"_L1)
        return writeFile(path, junitXml(reports, u"scenarios"_s));
    if (ending == "json"_L1 || ending == "jsonl"_L1)
        return writeFile(path, jsonLines(reports));
    return Error{
        ErrorKind::Invalid,
        u"the file %1 has no ending that says its form; .html, .xml (JUnit), .json and .jsonl are accepted"_s.arg(path),
        {}};
}

Result<void> writeEvidence(const ScenarioReport &report, const QString &folder)
{
    const QDir dir(folder);
    QJsonArray mails;
    for (const ReportedMail &mail : report.mails) {
        mails.append(QJsonObject{{u"event"_s, mail.event},
                                 {u"to"_s, mail.to},
                                 {u"subject"_s, mail.subject},
                                 {u"messageId"_s, mail.messageId}});
    }
    QJsonObject evidence = toJson(report.run);
    evidence.insert(u"mails"_s, mails);
    for (const auto &[name, content] : {std::pair(u"log.txt"_s, (report.log.join(u'\n') + u'\n').toUtf8()),
                                        std::pair(u"run.json"_s, QJsonDocument(evidence).toJson()),
                                        std::pair(u"report.html"_s, htmlPage({report}, report.run.title))}) {
        if (const auto written = writeFile(dir.filePath(name), content); !written)
            return written;
    }
    return {};
}

QString logText(int worker, const LogLine &line)
{
    static const QStringList Levels = {u"DEBUG"_s, u"INFO"_s, u"WARNING"_s, u"ERROR"_s};
    return u"%1 %2 worker %3: %4"_s.arg(line.at.toUTC().toString(u"HH:mm:ss.zzz"_s), Levels.value(int(line.level)),
                                        QString::number(worker), line.text);
}

} // namespace sendonce
