#include "ui/letteractions.h"

#include "ui/displaytext.h"
#include "ui/icons.h"
#include "ui/rights.h"

#include <QAction>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

/// Those that change something: a profile that is read-only may look and export, no more.
bool changesSomething(LetterAct act)
{
    switch (act) {
    case LetterAct::Export:
    case LetterAct::KeptCopies:
    case LetterAct::Runs:
        return false;
    default:
        return true;
    }
}

} // namespace

QString whyNot(LetterAct act, const LetterActState &state)
{
    if (!state.ready)
        return LetterActions::tr("The services are not open yet");
    if (state.readOnly && changesSomething(act))
        return readOnlyReason();
    switch (act) {
    case LetterAct::Replay:
    case LetterAct::Canary:
    case LetterAct::EditAndReplay:
    case LetterAct::Delete:
    case LetterAct::Export:
        if (state.browsing)
            return LetterActions::tr("The dead letters are still being looked at");
        if (state.shown == 0)
            return LetterActions::tr("No dead letter is shown: browse first");
        break;
    case LetterAct::Purge:
        if (!state.embedded)
            return LetterActions::tr("Only the embedded queue can be purged: here, delete what was looked at");
        if (!state.hasQueue) // its name is typed
            return LetterActions::tr("The name of the dead letter queue is not known yet");
        if (!*state.hasQueue)
            return LetterActions::tr("The queue has no dead letter queue");
        break;
    case LetterAct::MoveAll:
        switch (state.moveTasks.answer) {
        case MoveTaskSupport::Answer::Yes:
            break;
        case MoveTaskSupport::Answer::No:
            return LetterActions::tr("This endpoint has no message move tasks: replay instead");
        case MoveTaskSupport::Answer::NotPermitted:
            return LetterActions::tr("Message move tasks are not permitted with these keys: replay instead");
        case MoveTaskSupport::Answer::Unknown:
            return LetterActions::tr("Whether this endpoint has message move tasks is not known yet");
        }
        break;
    default:
        break;
    }
    if (act == LetterAct::EditAndReplay && state.chosen != 1)
        return LetterActions::tr("Choose one dead letter to edit");
    if (act == LetterAct::Delete && state.chosen == 0)
        return LetterActions::tr("Choose the dead letters to delete");
    if (act == LetterAct::Canary && state.chosen == 1)
        return LetterActions::tr("A canary goes ahead of others: choose more than one, or none for all");
    return {};
}

LetterActions::LetterActions(QObject *parent) : QObject(parent)
{
    const auto ctrlShift = [](Qt::Key key) { return QKeySequence(Qt::CTRL | Qt::SHIFT | key); };
    add(LetterAct::Replay, tr("&Replay…"), u"replay"_s, QKeySequence(Qt::CTRL | Qt::Key_Return),
        tr("Send the chosen dead letters, or all that are shown, to the queue again"));
    add(LetterAct::Canary, tr("&Canary first…"), u"play"_s, ctrlShift(Qt::Key_Return),
        tr("Replay one; go on with the others only when its outcome is the expected one"));
    add(LetterAct::EditAndReplay, tr("&Edit and replay…"), u"log"_s, QKeySequence(Qt::CTRL | Qt::Key_E),
        tr("Correct the body of the chosen dead letter and replay it"));
    add(LetterAct::Delete, tr("&Delete…"), u"close"_s, QKeySequence(Qt::CTRL | Qt::Key_Delete),
        tr("Delete the chosen dead letters; copies are kept"));
    add(LetterAct::Export, tr("E&xport…"), u"save"_s, ctrlShift(Qt::Key_E),
        tr("Write the chosen dead letters, or all that are shown, to a file"));
    add(LetterAct::Import, tr("&Import…"), u"inbox"_s, ctrlShift(Qt::Key_I),
        tr("Send the letters of an export as new messages"));
    add(LetterAct::KeptCopies, tr("&Kept copies…"), u"list"_s, ctrlShift(Qt::Key_O),
        tr("The copies of deleted letters, to be put back"));
    add(LetterAct::Runs, tr("Ru&ns…"), u"clock"_s, ctrlShift(Qt::Key_H),
        tr("All replays: what is done, left and failed, and what became of each letter"));
    add(LetterAct::MoveAll, tr("&Move all by the queue…"), u"queue"_s, ctrlShift(Qt::Key_J),
        tr("Let the endpoint itself move the whole dead letter queue back"));
    add(LetterAct::ForgetClaim, tr("&Forget a claim…"), u"question"_s, ctrlShift(Qt::Key_U),
        tr("Take an event's claim away: it can mail again"));
    add(LetterAct::Purge, tr("&Purge…"), u"warning"_s, ctrlShift(Qt::Key_Delete),
        tr("Delete everything in the dead letter queue, without copies"));
    follow({});
}

void LetterActions::add(LetterAct act, const QString &text, const QString &iconName, const QKeySequence &keys,
                        const QString &tip)
{
    auto *action = new QAction(icon(iconName), text, this);
    action->setShortcut(keys);
    action->setIconVisibleInMenu(true);
    m_actions.insert(act, action);
    m_tips.insert(act, tip);
    connect(action, &QAction::triggered, this, [this, act] { Q_EMIT wanted(act); });
}

void LetterActions::follow(const LetterActState &state)
{
    m_state = state;
    for (auto it = m_actions.cbegin(); it != m_actions.cend(); ++it) {
        const QString reason = whyNot(it.key(), state);
        (*it)->setEnabled(reason.isEmpty());
        (*it)->setStatusTip(reason.isEmpty() ? m_tips.value(it.key()) : reason);
        (*it)->setToolTip(reason); // in menus; empty: its text
    }
    const bool isAll = state.chosen == 0;
    const qint64 count = isAll ? state.shown : state.chosen;
    of(LetterAct::Replay)
        ->setText(count == 0               ? tr("&Replay…")
                      : isAll && count > 1 ? tr("&Replay all %1…").arg(countText(count))
                                           : tr("&Replay %1…").arg(countText(count)));
}

} // namespace sendonce
