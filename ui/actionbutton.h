#pragma once

#include <QPushButton>

class QAction;

namespace sendonce {

/// A button that is another way to an action of the menus: enabled as it is, its tool tip with the shortcut.
class ActionButton : public QPushButton
{
    Q_OBJECT
public:
    ActionButton(QAction *action, const QString &text, const QIcon &icon, QWidget *parent = nullptr);

private:
    void follow();

    QAction *m_action;
};

} // namespace sendonce
