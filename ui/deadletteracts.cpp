#include "ui/deadletteracts.h"

#include "ui/deadletterspanel.h"
#include "ui/displaytext.h"
#include "ui/editdialog.h"
#include "ui/keptdialog.h"
#include "ui/letteractions.h"
#include "ui/letterfiledialog.h"
#include "ui/movedialog.h"
#include "ui/replaydialog.h"
#include "ui/rowtable.h"
#include "ui/runstrip.h"
#include "ui/runswindow.h"
#include "ui/typeddialog.h"

using namespace Qt::StringLiterals;

namespace sendonce {

DeadLetterActs::DeadLetterActs(DeadLettersPanel *panel, QWidget *window)
    : QObject(window)
    , m_panel(panel)
    , m_window(window)
{
    connect(panel, &DeadLettersPanel::actWanted, this, &DeadLetterActs::act);
    for (const LetterAct each :
         {LetterAct::Replay, LetterAct::EditAndReplay, LetterAct::Delete, LetterAct::Export, LetterAct::ForgetClaim})
        panel->table()->addRowAction(panel->acts()->of(each));
    const RunStrip *strip = panel->runStrip();
    connect(strip, &RunStrip::pauseRequested, this, &DeadLetterActs::pauseRequested);
    connect(strip, &RunStrip::resumeRequested, this, &DeadLetterActs::resumeRequested);
    connect(strip, &RunStrip::cancelRequested, this, &DeadLetterActs::cancelRequested);
    connect(strip, &RunStrip::allRequested, this, &DeadLetterActs::showAllRuns);
    connect(strip, &RunStrip::closed, this, [this](qint64 run) {
        m_closedRun = std::max(m_closedRun, run);
        followRuns();
    });
}

void DeadLetterActs::setRights(bool readOnly, bool embedded)
{
    m_readOnly = readOnly;
    m_embedded = embedded;
    m_panel->setRights(readOnly, embedded);
    if (m_runsWindow)
        m_runsWindow->setReadOnly(readOnly);
}

void DeadLetterActs::setReady()
{
    Q_EMIT runsQueried();
}

void DeadLetterActs::act(LetterAct act, const QStringList &messageIds)
{
    switch (act) {
    case LetterAct::Replay:
    case LetterAct::Canary:
        askToReplay(messageIds, act == LetterAct::Canary);
        break;
    case LetterAct::EditAndReplay:
        edit(messageIds.value(0));
        break;
    case LetterAct::Delete:
        askToDelete(messageIds);
        break;
    case LetterAct::Purge:
        askToPurge();
        break;
    case LetterAct::Export:
        askToExport(messageIds);
        break;
    case LetterAct::Import:
        askToImport();
        break;
    case LetterAct::ForgetClaim:
        askToForget(messageIds.value(0));
        break;
    case LetterAct::KeptCopies:
        showKeptCopies();
        break;
    case LetterAct::MoveAll:
        askToMoveAll();
        break;
    case LetterAct::Runs:
        showAllRuns();
        break;
    }
}

// ---- what the worker says ------------------------------------------------------------------------------------------

void DeadLetterActs::setRules(const EventRules &rules)
{
    m_rules = rules;
    if (m_editDialog)
        m_editDialog->setRules(rules);
}

void DeadLetterActs::setQueueNames(const QueueNames &names)
{
    m_names = names;
    m_panel->setQueueNames(names);
}

void DeadLetterActs::updateLetters(const QList<DeadLetter> &letters)
{
    if (m_replayDialog)
        m_replayDialog->update(letters);
    if (m_editDialog)
        m_editDialog->update(letters);
}

void DeadLetterActs::showLetter(const DeadLetterDetail &letter)
{
    if (m_editDialog)
        m_editDialog->showLetter(letter);
}

void DeadLetterActs::updateItems(const QList<ReplayItem> &items)
{
    if (m_runsWindow)
        m_runsWindow->updateItems(items);
    // What was edited is on its way: from here on its row tells.
    const QString edited = m_editDialog ? m_ordered.value(u"edit"_s).value(0) : QString();
    const bool begun = std::any_of(items.cbegin(), items.cend(), [&edited](const ReplayItem &item) {
        return !edited.isEmpty() && item.messageId == edited;
    });
    if (begun) {
        m_ordered.remove(u"edit"_s);
        m_editDialog->close();
    }
}

void DeadLetterActs::showProgress(const ReplayProgress &run)
{
    m_runs.insert(run.run, run);
    if (m_runsWindow)
        m_runsWindow->showProgress(run);
    followRuns();
}

void DeadLetterActs::showRuns(const QList<ReplayProgress> &runs)
{
    for (const ReplayProgress &run : runs) {
        if (!run.isOver() || m_runs.contains(run.run))
            m_runs.insert(run.run, run);
    }
    if (m_runsWindow)
        m_runsWindow->showRuns(runs);
    followRuns();
}

void DeadLetterActs::showRunItems(const ReplayItems &items)
{
    if (m_runsWindow)
        m_runsWindow->showItems(items);
}

void DeadLetterActs::showKeptLetters(const KeptLetters &letters)
{
    if (m_keptDialog)
        m_keptDialog->showLetters(letters);
}

void DeadLetterActs::showMoveTask(const MoveTaskProgress &progress)
{
    if (m_moveDialog)
        m_moveDialog->showProgress(progress);
}

void DeadLetterActs::showActDone(const ActReport &report)
{
    if (report.act == "put back"_L1 && m_keptDialog)
        m_keptDialog->showPutBack(report);
    else if (const auto dialog = m_reporting.value(report.act))
        dialog->showReport(report);
}

/// Nothing came of an order: its letters can be acted on again.
void DeadLetterActs::showActFailed(const QString &act, const QString &text)
{
    m_panel->unlockLetters(m_ordered.take(act));
    if (const auto dialog = m_reporting.value(act))
        dialog->showFailure(text);
}

// ---- what has to be asked ------------------------------------------------------------------------------------------

void DeadLetterActs::askToReplay(const QStringList &messageIds, bool canary)
{
    const QList<DeadLetter> letters = m_panel->letters(messageIds);
    if (letters.isEmpty())
        return;
    if (m_replayDialog)
        m_replayDialog->close();
    m_replayDialog = new ReplayDialog(letters, canary, m_window);
    connect(m_replayDialog, &ReplayDialog::ordered, this, [this](const ReplayOrder &order) {
        m_panel->lockLetters(order.messageIds);
        m_ordered.insert(u"replay"_s, order.messageIds);
        Q_EMIT replayOrdered(order);
    });
    m_replayDialog->show();
}

void DeadLetterActs::edit(const QString &messageId)
{
    const QList<DeadLetter> letters = m_panel->letters({messageId});
    if (letters.isEmpty())
        return;
    if (m_editDialog)
        m_editDialog->close();
    m_editDialog = new EditDialog(letters.first(), m_rules, m_window);
    m_reporting.insert(u"edit"_s, m_editDialog.data());
    connect(m_editDialog, &EditDialog::ordered, this, [this](const EditOrder &order) {
        m_panel->lockLetters({order.messageId});
        m_ordered.insert(u"edit"_s, {order.messageId});
        Q_EMIT editOrdered(order);
    });
    m_editDialog->show();
    Q_EMIT letterRequested(messageId);
}

void DeadLetterActs::askToDelete(const QStringList &messageIds)
{
    if (messageIds.isEmpty())
        return;
    const bool one = messageIds.size() == 1;
    const QString count = countText(messageIds.size());
    TypedDialog::Question question;
    question.title = one ? tr("Delete 1 dead letter?") : tr("Delete %1 dead letters?").arg(count);
    question.words = one
        ? tr("It leaves the dead letter queue, and no e-mail is sent for it. A copy is kept, and can be "
             "put back (Kept copies).")
        : tr("They leave the dead letter queue, and no e-mail is sent for them. A copy of each is "
             "kept, and can be put back (Kept copies).");
    question.yes = tr("Delete %1").arg(count);
    if (!m_embedded) {
        question.prompt = tr("Type the count to go on:");
        question.expected = QString::number(messageIds.size());
    }
    auto *dialog = new TypedDialog(question, m_window);
    dialog->setObjectName(u"deleteDialog"_s);
    connect(dialog, &TypedDialog::answered, this, [this, dialog, messageIds] {
        m_panel->lockLetters(messageIds);
        m_ordered.insert(u"delete"_s, messageIds);
        Q_EMIT deleteRequested(messageIds);
        dialog->close(); // each row tells what becomes of it
    });
    dialog->open();
}

void DeadLetterActs::askToPurge()
{
    TypedDialog::Question question;
    question.title = tr("Purge the dead letter queue?");
    question.words = tr("Everything in %1 is deleted for good, also what was never looked at. No copies are kept; what "
                        "was not mailed is never mailed.")
                         .arg(shownText(m_names.deadLetters));
    question.yes = tr("Purge");
    question.prompt = tr("Type the queue's name, %1, to go on:").arg(shownText(m_names.deadLetters));
    question.expected = m_names.deadLetters;
    question.busy = tr("Purging…");
    auto *dialog = new TypedDialog(question, m_window);
    dialog->setObjectName(u"purgeDialog"_s);
    m_reporting.insert(u"purge"_s, dialog);
    connect(dialog, &TypedDialog::answered, this, [this](const QString &typed) { Q_EMIT purgeRequested(typed); });
    dialog->open();
}

void DeadLetterActs::askToExport(const QStringList &messageIds)
{
    if (messageIds.isEmpty())
        return;
    auto *dialog = new LetterFileDialog(LetterFileDialog::Way::Export, messageIds.size(), m_window);
    m_reporting.insert(u"export"_s, dialog);
    connect(dialog, &LetterFileDialog::exportWanted, this,
            [this, messageIds](const QString &path, bool csv) { Q_EMIT exportRequested(messageIds, path, csv); });
    dialog->open();
}

void DeadLetterActs::askToImport()
{
    auto *dialog = new LetterFileDialog(LetterFileDialog::Way::Import, 0, m_window);
    m_reporting.insert(u"import"_s, dialog);
    connect(dialog, &LetterFileDialog::importWanted, this, &DeadLetterActs::importRequested);
    dialog->open();
}

void DeadLetterActs::askToForget(const QString &messageId)
{
    const QList<DeadLetter> letters = m_panel->letters({messageId});
    const QString eventId = letters.isEmpty() ? QString() : letters.first().eventId;
    TypedDialog::Question question;
    question.title = tr("Forget a claim?");
    question.words =
        (eventId.isEmpty() ? QString() : tr("Event %1 · %2\n").arg(shownText(eventId), letters.first().verdictText))
        + tr("This event can mail again: its next delivery or replay sends, whether or not the first e-mail arrived.");
    question.yes = tr("Forget");
    question.prompt = eventId.isEmpty() ? tr("Type the event id:") : tr("Type the event id to go on:");
    question.expected = eventId;
    question.asksReason = true;
    question.busy = tr("Forgetting…");
    auto *dialog = new TypedDialog(question, m_window);
    dialog->setObjectName(u"forgetDialog"_s);
    m_reporting.insert(u"forget"_s, dialog);
    connect(dialog, &TypedDialog::answered, this, &DeadLetterActs::forgetRequested);
    dialog->show(); // the table has the id, to be copied
}

void DeadLetterActs::showKeptCopies()
{
    if (!m_keptDialog) {
        m_keptDialog = new KeptDialog(m_window);
        m_keptDialog->setReadOnly(m_readOnly);
        m_reporting.insert(u"put back"_s, m_keptDialog.data());
        connect(m_keptDialog, &KeptDialog::queried, this, &DeadLetterActs::keptQueried);
        connect(m_keptDialog, &KeptDialog::putBackWanted, this, &DeadLetterActs::putBackRequested);
    }
    m_keptDialog->show();
    m_keptDialog->raise();
    m_keptDialog->activateWindow();
}

void DeadLetterActs::askToMoveAll()
{
    if (!m_moveDialog) {
        m_moveDialog = new MoveDialog(m_names.deadLetters, m_about, m_window);
        m_reporting.insert(u"move task"_s, m_moveDialog.data());
        connect(m_moveDialog, &MoveDialog::queried, this, &DeadLetterActs::moveTaskQueried);
        connect(m_moveDialog, &MoveDialog::startWanted, this, &DeadLetterActs::moveTaskStarted);
        connect(m_moveDialog, &MoveDialog::cancelWanted, this, &DeadLetterActs::moveTaskCancelled);
    }
    m_moveDialog->show();
    m_moveDialog->raise();
    m_moveDialog->activateWindow();
}

void DeadLetterActs::showAllRuns()
{
    if (!m_runsWindow) {
        m_runsWindow = new RunsWindow(m_window);
        m_runsWindow->setReadOnly(m_readOnly);
        connect(m_runsWindow, &RunsWindow::itemsQueried, this, &DeadLetterActs::runItemsQueried);
        connect(m_runsWindow, &RunsWindow::pauseRequested, this, &DeadLetterActs::pauseRequested);
        connect(m_runsWindow, &RunsWindow::resumeRequested, this, &DeadLetterActs::resumeRequested);
        connect(m_runsWindow, &RunsWindow::cancelRequested, this, &DeadLetterActs::cancelRequested);
    }
    m_runsWindow->show();
    m_runsWindow->raise();
    m_runsWindow->activateWindow();
    Q_EMIT runsQueried();
}

/// The newest replay that is not over, else the newest one, unless its line was closed.
void DeadLetterActs::followRuns()
{
    const qint64 newest = m_runs.isEmpty() ? 0 : m_runs.lastKey();
    m_runs.removeIf([this, newest](const QMap<qint64, ReplayProgress>::iterator &it) {
        return it->isOver() && (it.key() <= m_closedRun || it.key() != newest);
    });
    const ReplayProgress *shown = nullptr;
    int open = 0;
    for (const ReplayProgress &run : std::as_const(m_runs)) {
        if (!run.isOver())
            ++open;
        if (!run.isOver() || !shown || shown->isOver())
            shown = &run;
    }
    if (shown)
        m_panel->runStrip()->show(*shown, open - (shown->isOver() ? 0 : 1));
    else
        m_panel->runStrip()->hide();
}

} // namespace sendonce
