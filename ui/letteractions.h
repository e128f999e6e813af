#pragma once

#include "ui/letteract.h"
#include "worker/types.h"

#include <QMap>
#include <QObject>

#include <optional>

class QAction;

namespace sendonce {

/// What decides which acts are possible.
struct LetterActState
{
    qint64 chosen = 0; ///< letters that were chosen and are not under way
    qint64 shown = 0; ///< letters that the filter shows and that are not under way
    bool ready = false; ///< the worker answers
    bool browsing = false;
    bool readOnly = false; ///< the profile looks, but does not act
    bool embedded = true;
    std::optional<bool> hasQueue; ///< there is a dead letter queue, whose name is known; nothing: not known yet
    MoveTaskSupport moveTasks;

    bool operator==(const LetterActState &) const = default;
};

/// Why an act is not possible now, for the tool tip of its button; empty: it is.
QString whyNot(LetterAct act, const LetterActState &state);

/// The acts on dead letters as actions: for the panel's buttons, its rows' menu and the window's menu. What is not
/// possible is disabled and says why.
class LetterActions : public QObject
{
    Q_OBJECT
public:
    explicit LetterActions(QObject *parent = nullptr);

    QAction *of(LetterAct act) const { return m_actions.value(act); }
    const LetterActState &state() const { return m_state; }
    void follow(const LetterActState &state);

Q_SIGNALS:
    void wanted(sendonce::LetterAct act);

private:
    void add(LetterAct act, const QString &text, const QString &iconName, const QKeySequence &keys, const QString &tip);

    QMap<LetterAct, QAction *> m_actions;
    QMap<LetterAct, QString> m_tips; ///< while it is possible
    LetterActState m_state;
};

} // namespace sendonce
