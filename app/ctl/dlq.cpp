#include "app/ctl/commands.h"
#include "app/ctl/dlqrun.h"
#include "app/ctl/listing.h"
#include "worker/operate/letterfile.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTemporaryFile>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

QString isoTime(const QDateTime &time)
{
    return time.isValid() ? time.toString(Qt::ISODateWithMs) : QString();
}

class ListRun : public BrowseRun
{
public:
    using BrowseRun::BrowseRun;

private:
    void browsed(const DeadLetterList &list) override
    {
        const bool json = m_line.has(u"json"_s);
        Listing listing({u"message"_s, u"event"_s, u"type"_s, u"application"_s, u"verdict"_s, u"reason"_s,
                         u"received"_s, u"back"_s, u"sent at"_s, u"first failed at"_s, u"died at"_s, u"expires at"_s},
                        json);
        for (const DeadLetter &letter : chosenOf(list.letters, m_line)) {
            Listing::Row row{{u"messageId"_s, letter.message.messageId},
                             {u"eventId"_s, letter.eventId},
                             {u"type"_s, letter.eventType},
                             {u"application"_s, letter.applicationId},
                             {u"verdict"_s, json ? letterfile::verdictName(letter.verdict) : letter.verdictText},
                             {u"reason"_s, letter.reason},
                             {u"receiveCount"_s, letter.receiveCount},
                             {u"timesBack"_s, letter.timesBack},
                             {u"sentAt"_s, isoTime(letter.sentAt)},
                             {u"firstFailedAt"_s, isoTime(letter.firstFailedAt)},
                             {u"diedAt"_s, isoTime(letter.diedAt)},
                             {u"expiresAt"_s, isoTime(letter.expiresAt)}};
            if (json) {
                row.append({u"verdictText"_s, letter.verdictText});
                row.append({u"replayedAs"_s, letter.replayedAs});
            }
            listing.add(row);
        }
        listing.print(u"the dead letter queue is empty"_s);
        finish(Done);
    }
};

/// Everything about some letters: body, attributes, story.
class ShowRun : public BrowseRun
{
public:
    ShowRun(const Config &config, const CommandLine &line) : BrowseRun(config, line)
    {
        connect(&m_worker, &Worker::deadLetterOpened, this, &ShowRun::letterOpened);
        connect(&m_worker, &Worker::story, this, &ShowRun::storyTold);
    }

private:
    void browsed(const DeadLetterList &list) override
    {
        m_letters = chosenOf(list.letters, m_line);
        if (m_letters.isEmpty()) {
            complain(u"none of the %1 dead letters matches"_s.arg(list.letters.size()));
            finish(Failed);
            return;
        }
        next();
    }

    void next()
    {
        if (m_letters.isEmpty())
            finish(Done);
        else
            m_worker.openDeadLetter(m_letters.first().message.messageId);
    }

    void letterOpened(const DeadLetterDetail &detail)
    {
        if (!detail.error.isEmpty()) {
            complain(detail.error);
            finish(Failed);
            return;
        }
        m_detail = detail;
        if (detail.letter.eventId.isEmpty())
            storyTold({});
        else
            m_worker.queryStory(detail.letter.eventId);
    }

    void storyTold(const EventStory &story)
    {
        m_letters.removeFirst();
        const DeadLetter &letter = m_detail.letter;
        if (m_line.has(u"json"_s)) {
            QJsonObject object = QJsonDocument::fromJson(letterfile::jsonLine(letter)).object();
            QJsonArray lines;
            for (const StoryLine &each : story.lines)
                lines.append(QJsonObject{{u"at"_s, isoTime(each.at)}, {u"text"_s, each.text}});
            object.insert(u"verdictText"_s, letter.verdictText);
            object.insert(u"story"_s, lines);
            sayJson(object);
        } else {
            tell(letter, story);
        }
        next();
    }

    static void tell(const DeadLetter &letter, const EventStory &story)
    {
        const auto field = [](const QString &name, const QString &text) {
            if (!text.isEmpty())
                say(u"%1%2"_s.arg(name, -14).arg(inert(text)));
        };
        field(u"message"_s, letter.message.messageId);
        field(u"event"_s, letter.eventId);
        field(u"type"_s, letter.eventType);
        field(u"application"_s, letter.applicationId);
        field(u"verdict"_s, letter.verdictText);
        field(u"reason"_s, letter.reason);
        field(u"sent at"_s, isoTime(letter.sentAt));
        field(u"first failed"_s, isoTime(letter.firstFailedAt));
        field(u"last failed"_s, isoTime(letter.diedAt));
        field(u"expires at"_s, isoTime(letter.expiresAt));
        field(u"replayed as"_s, letter.replayedAs);
        for (auto it = letter.message.systemAttributes.cbegin(); it != letter.message.systemAttributes.cend(); ++it)
            field(u"system"_s, u"%1 = %2"_s.arg(it.key(), it.value()));
        for (auto it = letter.message.attributes.cbegin(); it != letter.message.attributes.cend(); ++it) {
            const QString value = it->dataType.startsWith("Binary"_L1)
                ? u"0x"_s + QString::fromLatin1(it->binaryValue.toHex())
                : it->stringValue;
            field(u"attribute"_s, u"%1 (%2) = %3"_s.arg(it.key(), it->dataType, value));
        }
        field(u"body"_s, QString::fromUtf8(letter.message.body));
        for (const StoryLine &line : story.lines)
            field(u"story"_s, u"%1 %2"_s.arg(isoTime(line.at), line.text));
        say({});
    }

    QList<DeadLetter> m_letters; ///< still to be shown
    DeadLetterDetail m_detail;
};

class ExportRun : public BrowseRun
{
public:
    ExportRun(const Config &config, const CommandLine &line)
        : BrowseRun(config, line)
        , m_path(line.value(u"to"_s, u"-"_s))
    {
        connect(&m_worker, &Worker::actDone, this, &ExportRun::exported);
    }

private:
    void browsed(const DeadLetterList &list) override
    {
        QStringList ids;
        for (const DeadLetter &letter : chosenOf(list.letters, m_line))
            ids.append(letter.message.messageId);
        if (ids.isEmpty()) {
            complain(list.letters.isEmpty() ? u"the dead letter queue is empty"_s
                                            : u"none of the %1 dead letters matches"_s.arg(list.letters.size()));
            finish(list.letters.isEmpty() ? Done : Failed);
            return;
        }
        if (m_path == "-"_L1) {
            m_temporary.setFileTemplate(m_config.dataDir + u"/export-XXXXXX.tmp"_s);
            if (!m_temporary.open()) {
                complain(u"%1 cannot be written: %2"_s.arg(m_config.dataDir, m_temporary.errorString()));
                finish(Failed);
                return;
            }
        }
        m_worker.exportDeadLetters(ids, m_path == "-"_L1 ? m_temporary.fileName() : m_path, m_line.has(u"csv"_s));
    }

    void exported(const ActReport &report)
    {
        for (const QString &problem : report.problems)
            complain(problem);
        if (m_path == "-"_L1) {
            QFile written(m_temporary.fileName());
            if (written.open(QIODevice::ReadOnly)) {
                while (!written.atEnd()) {
                    const QByteArray part = written.read(65536);
                    std::fwrite(part.constData(), 1, size_t(part.size()), stdout);
                }
                std::fflush(stdout);
            }
        } else {
            say(report.text);
        }
        finish(report.failed > 0 ? Failed : Done);
    }

    QString m_path;
    QTemporaryFile m_temporary;
};

} // namespace

int runDlqList(const QStringList &words)
{
    CommandLine line = dlqLine(u"list"_s, u"looks through the dead letters; each look counts as a receive of theirs"_s,
                               selectionOptions());
    if (const auto ended = answered(line, words))
        return *ended;
    return runDlq<ListRun>(line);
}

int runDlqShow(const QStringList &words)
{
    CommandLine line = dlqLine(u"show"_s, u"body, attributes and story of dead letters"_s, selectionOptions(),
                               {u"sendoncectl dlq show --event-id 23e48c51-7f0e-4b7e-8c55-1f0e6a5d9a41"_s});
    if (const auto ended = answered(line, words))
        return *ended;
    return runDlq<ShowRun>(line);
}

int runDlqExport(const QStringList &words)
{
    CommandLine line = dlqLine(
        u"export"_s, u"writes dead letters as JSON lines, which lose nothing and can be imported, or as CSV"_s,
        selectionOptions()
            + QList<CommandOption>{{u"to"_s, u"FILE"_s, u"standard output"_s, u"file to write"_s},
                                   {u"csv"_s, {}, {}, u"for a spreadsheet; cells that it would run are made text"_s}},
        {u"sendoncectl dlq export --to letters.jsonl"_s});
    if (const auto ended = answered(line, words))
        return *ended;
    return runDlq<ExportRun>(line);
}

} // namespace sendonce
