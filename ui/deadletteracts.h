#pragma once

#include "ui/letteract.h"
#include "worker/types.h"

#include <QMap>
#include <QObject>
#include <QPointer>

class QWidget;

namespace sendonce {

class ActDialog;
class DeadLettersPanel;
class EditDialog;
class KeptDialog;
class MoveDialog;
class ReplayDialog;
class RunsWindow;

/// Has done what a person wants of dead letters: asks what has to be asked, says it by signals, and shows what became
/// of it. Belongs to the window; knows no worker (attach.h joins the two).
class DeadLetterActs : public QObject
{
    Q_OBJECT
public:
    /// The panel outlives it. \param window over which the dialogs stand, and its owner
    DeadLetterActs(DeadLettersPanel *panel, QWidget *window);

    /// Of the profile. What cannot be undone has to be typed where the services are not embedded.
    void setRights(bool readOnly, bool embedded);
    void setReady(); ///< the worker answers: replays that were interrupted are looked for
    void showDepth(qint64 deadLetters) { m_about = deadLetters; }
    const EventRules &rules() const { return m_rules; }

public Q_SLOTS:
    void act(sendonce::LetterAct act, const QStringList &messageIds);
    void setRules(const sendonce::EventRules &rules);
    void setQueueNames(const sendonce::QueueNames &names);
    void updateLetters(const QList<sendonce::DeadLetter> &letters);
    void showLetter(const sendonce::DeadLetterDetail &letter);
    void updateItems(const QList<sendonce::ReplayItem> &items);
    void showProgress(const sendonce::ReplayProgress &run);
    void showRuns(const QList<sendonce::ReplayProgress> &runs);
    void showRunItems(const sendonce::ReplayItems &items);
    void showKeptLetters(const sendonce::KeptLetters &letters);
    void showMoveTask(const sendonce::MoveTaskProgress &progress);
    void showActDone(const sendonce::ActReport &report);
    void showActFailed(const QString &act, const QString &text);

Q_SIGNALS:
    void replayOrdered(const sendonce::ReplayOrder &order);
    void pauseRequested(qint64 run);
    void resumeRequested(qint64 run);
    void cancelRequested(qint64 run);
    void runsQueried();
    void runItemsQueried(qint64 run);
    void letterRequested(const QString &messageId);
    void editOrdered(const sendonce::EditOrder &order);
    void deleteRequested(const QStringList &messageIds);
    void purgeRequested(const QString &typedName);
    void exportRequested(const QStringList &messageIds, const QString &path, bool csv);
    void importRequested(const QString &path, bool toSource);
    void forgetRequested(const QString &eventId, const QString &reason);
    void keptQueried(int limit);
    void putBackRequested(const QList<qint64> &keptIds);
    void moveTaskQueried();
    void moveTaskStarted(int perSecond);
    void moveTaskCancelled();

private:
    void askToReplay(const QStringList &messageIds, bool canary);
    void edit(const QString &messageId);
    void askToDelete(const QStringList &messageIds);
    void askToPurge();
    void askToExport(const QStringList &messageIds);
    void askToImport();
    void askToForget(const QString &messageId);
    void showKeptCopies();
    void askToMoveAll();
    void showAllRuns();
    void followRuns();

    DeadLettersPanel *m_panel;
    QWidget *m_window;
    QPointer<ReplayDialog> m_replayDialog;
    QPointer<EditDialog> m_editDialog;
    QPointer<KeptDialog> m_keptDialog;
    QPointer<MoveDialog> m_moveDialog;
    QMap<QString, QPointer<ActDialog>> m_reporting; ///< by act: who shows the report
    RunsWindow *m_runsWindow = nullptr;
    QMap<qint64, ReplayProgress> m_runs; ///< by number: those not over, and the newest one that ended
    qint64 m_closedRun = 0; ///< up to this one the line over the table was closed
    QMap<QString, QStringList> m_ordered; ///< by act: the letters of the last order, locked by us
    EventRules m_rules;
    QueueNames m_names;
    qint64 m_about = -1;
    bool m_readOnly = false;
    bool m_embedded = true;
};

} // namespace sendonce
