#include "ui/actionbutton.h"

#include "ui/displaytext.h"

#include <QAction>

namespace sendonce {

ActionButton::ActionButton(QAction *action, const QString &text, const QIcon &icon, QWidget *parent)
    : QPushButton(icon, text, parent)
    , m_action(action)
{
    connect(this, &QPushButton::clicked, action, &QAction::trigger);
    connect(action, &QAction::changed, this, &ActionButton::follow);
    follow();
}

void ActionButton::follow()
{
    setEnabled(m_action->isEnabled());
    const QString keys = m_action->shortcut().toString(QKeySequence::NativeText);
    const QString words = m_action->statusTip().isEmpty() ? text() : m_action->statusTip();
    setToolTip(toolTipText(keys.isEmpty() ? words : tr("%1 (%2)").arg(words, keys)));
}

} // namespace sendonce
