#include "app/ctl/commands.h"
#include "app/ctl/dlqrun.h"

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

/// Looks through the dead letters, whose events must stay known, previews, asks, and forgets.
class CleanRun : public DlqRun
{
public:
    CleanRun(const Config &config, const CommandLine &line) : DlqRun(config), m_line(line)
    {
        connect(&m_worker, &Worker::deadLettersChanged, this, &CleanRun::looked);
        connect(&m_worker, &Worker::cleanUpPreviewed, this, &CleanRun::previewed);
        connect(&m_worker, &Worker::cleanUpDone, this, &CleanRun::done);
    }

private:
    void opened() override
    {
        if (m_config.readOnly && !m_line.has(u"dry-run"_s)) { // before the browse, which counts as a receive
            failed(u"clean up"_s, u"this profile is read-only: it looks, but does not act"_s);
            return;
        }
        m_looking = true;
        m_worker.browseDeadLetters(m_line.has(u"yes"_s));
    }

    void failed(const QString &act, const QString &text) override
    {
        complain(u"%1: %2"_s.arg(act, text));
        if (!m_looking) // a browse tells the rest itself
            finish(Failed);
    }

    void interrupted(int code) override
    {
        if (!m_looking) {
            finish(code); // each batch is whole
            return;
        }
        m_stopCode = code; // what was seen is made visible first
        m_worker.cancelBrowse();
    }

    void looked(const DeadLetterList &list)
    {
        if (!list.finished || !m_looking)
            return;
        m_looking = false;
        if (m_stopCode >= 0) {
            finish(m_stopCode);
        } else if (list.error.isEmpty() || list.noQueue) {
            if (list.full)
                complain(
                    u"warning: there are more dead letters than could be looked at; only the %1 seen are spared"_s.arg(
                        list.seen));
            m_worker.previewCleanUp();
        } else {
            complain(u"the dead letters could not be looked through, so nothing is forgotten: %1%2"_s.arg(
                list.error, list.needsYes ? u"; with --yes it begins"_s : QString()));
            finish(list.needsYes ? Usage : Failed);
        }
    }

    void previewed(const CleanUp &preview)
    {
        if (!preview.error.isEmpty()) {
            complain(preview.error);
            finish(Failed);
            return;
        }
        if (!preview.warning.isEmpty())
            complain(u"warning: "_s + preview.warning);
        m_preview = preview;
        const QString what = preview.rows == 0
            ? u"nothing was handled more than %1 days ago"_s.arg(preview.keepDays)
            : u"%1 events were handled more than %2 days ago, from %3 to %4"_s.arg(
                QString::number(preview.rows), QString::number(preview.keepDays), preview.oldest.toString(Qt::ISODate),
                preview.newest.toString(Qt::ISODate));
        const bool isDry = m_line.has(u"dry-run"_s);
        if (isDry && m_line.has(u"json"_s))
            tell(preview, false);
        else if (!m_line.has(u"json"_s))
            say(what);
        // Without old claims there may still be rows of the journal to go.
        if (isDry)
            finish(Done);
        else if (preview.rows == 0 || confirmed(m_config, m_line, u"Forget them?"_s))
            m_worker.cleanUp();
        else
            finish(Usage);
    }

    void done(const CleanUp &report)
    {
        if (m_line.has(u"json"_s))
            tell(report, true);
        else
            say(u"%1 events forgotten, with %2 rows of the journal; the events of %3 dead letters were spared"_s
                    .arg(report.rows)
                    .arg(report.journalRows)
                    .arg(report.spared));
        if (!report.error.isEmpty())
            complain(report.error);
        finish(report.error.isEmpty() ? Done : Failed);
    }

    void tell(const CleanUp &report, bool isDone)
    {
        const auto time = [](const QDateTime &at) {
            return at.isValid() ? QJsonValue(at.toString(Qt::ISODateWithMs)) : QJsonValue();
        };
        sayJson(QJsonObject{{u"done"_s, isDone},
                            {u"keepDays"_s, report.keepDays},
                            {u"before"_s, time(report.before)},
                            {u"rows"_s, report.rows},
                            {u"oldest"_s, time(m_preview.oldest)},
                            {u"newest"_s, time(m_preview.newest)},
                            {u"journalRows"_s, report.journalRows},
                            {u"spared"_s, report.spared}});
    }

    const CommandLine &m_line;
    CleanUp m_preview;
    bool m_looking = false;
    int m_stopCode = -1;
};

} // namespace

int runEventsClean(const QStringList &words)
{
    CommandLine line(u"sendoncectl events clean"_s,
                     u"forgets events that were handled long ago; those of dead letters stay"_s,
                     {u"queue-url"_s, u"dlq-url"_s, u"endpoint-url"_s, u"region"_s, u"aws-profile"_s, u"database-url"_s,
                      u"keep-days"_s, u"data-dir"_s, u"read-only"_s},
                     {{u"dry-run"_s, {}, {}, u"say what would be forgotten, and leave it"_s},
                      {u"yes"_s, {}, {}, u"do not ask; for scripts"_s},
                      {u"json"_s, {}, {}, u"JSON lines"_s}},
                     {u"sendoncectl events clean --dry-run"_s, u"sendoncectl events clean --keep-days 90 --yes"_s});
    if (const auto ended = answered(line, words))
        return *ended;
    return runDlq<CleanRun>(line);
}

} // namespace sendonce
