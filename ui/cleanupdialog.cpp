#include "ui/cleanupdialog.h"

#include "ui/displaytext.h"

#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace sendonce {

CleanUpDialog::CleanUpDialog(bool typed, const QString &whyNot, QWidget *parent)
    : ActDialog(tr("Clean up processed events"), tr("Forget"), parent)
    , m_isTyped(typed)
    , m_whyNot(whyNot)
    , m_typed(new QLineEdit)
{
    setObjectName(u"cleanUpDialog"_s);
    setWords(tr("Looking for events that no message can bring back…"));
    m_typed->setObjectName(u"cleanUpTyped"_s);
    m_typed->setPlaceholderText(tr("Type the count to go on"));
    m_typed->setAccessibleName(m_typed->placeholderText());
    m_typed->hide();
    fields()->addWidget(m_typed);
    connect(m_typed, &QLineEdit::textChanged, this, &CleanUpDialog::follow);
    connect(this, &ActDialog::confirmed, this, [this] {
        setBusy(tr("Forgetting…"));
        Q_EMIT cleanUpWanted();
    });
    QMetaObject::invokeMethod(this, &CleanUpDialog::previewQueried, Qt::QueuedConnection);
    follow();
}

void CleanUpDialog::showPreview(const CleanUp &preview)
{
    m_isKnown = true;
    m_preview = preview;
    QString words = !preview.error.isEmpty() ? tr("What is old enough to be forgotten could not be found out.")
        : preview.rows == 0
        ? tr("Nothing is older than %1 days (before %2).").arg(preview.keepDays).arg(dayAndTime(preview.before))
        : preview.rows == 1 ? tr("1 event was processed more than %1 days ago.\nIt was at %2.")
                                  .arg(preview.keepDays)
                                  .arg(dayAndTime(preview.oldest))
                            : tr("%1 events were processed more than %2 days ago.\nOldest %3, newest %4.")
                                  .arg(countText(preview.rows))
                                  .arg(preview.keepDays)
                                  .arg(dayAndTime(preview.oldest), dayAndTime(preview.newest));
    if (preview.rows > 0)
        words += tr("\nWhat was processed since %1 stays.\n\n").arg(dayAndTime(preview.before)) // no time breaks
            + tr("Forgotten, an event would be mailed again if a message about it came back. The events of the dead "
                 "letters that were looked at last stay.");
    setWords(words);
    if (!preview.error.isEmpty())
        setNote(preview.error, Tone::Failed);
    else
        setNote(preview.warning, Tone::InDoubt);
    m_typed->setVisible(m_isTyped && preview.rows > 0);
    yesButton()->setText(preview.rows > 0 ? tr("Forget %1").arg(countText(preview.rows)) : tr("Forget"));
    follow();
}

void CleanUpDialog::showDone(const CleanUp &report)
{
    if (!isBusy() || report.scheduled)
        return; // not what was asked for here
    ActReport done;
    done.done = report.error.isEmpty() ? 1 : report.rows;
    done.failed = report.error.isEmpty() ? 0 : 1;
    done.text = tr("Forgot %1 and %2")
                    .arg(report.rows == 1 ? tr("1 event") : tr("%1 events").arg(countText(report.rows)),
                         report.journalRows == 1 ? tr("1 row of the journal")
                                                 : tr("%1 rows of the journal").arg(countText(report.journalRows)));
    if (!report.error.isEmpty())
        done.problems = {report.error};
    showReport(done);
}

void CleanUpDialog::showActFailed(const QString &text)
{
    CleanUp report;
    report.error = text;
    if (isBusy())
        showDone(report);
    else if (!m_isKnown)
        showPreview(report);
}

void CleanUpDialog::follow()
{
    if (isBusy())
        return;
    setPossible(!m_whyNot.isEmpty()       ? m_whyNot
                    : !m_isKnown          ? tr("Still looking")
                    : m_preview.rows == 0 ? tr("There is nothing to forget")
                    : m_isTyped && m_typed->text().trimmed() != QString::number(m_preview.rows)
                    ? tr("Type %1 to go on").arg(m_preview.rows)
                    : QString());
}

} // namespace sendonce
