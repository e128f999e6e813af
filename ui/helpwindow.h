#pragma once

#include <QDialog>

class QMenuBar;
class QScrollArea;

namespace sendonce {

/// F1: what the window shows, what to try, every shortcut. The shortcuts are read from the menus and so are always
/// right.
class HelpWindow : public QDialog
{
    Q_OBJECT
public:
    HelpWindow(const QMenuBar *menus, QWidget *parent);

    void showHelp();
    void showShortcuts();

private:
    QScrollArea *m_scroll;
    QWidget *m_shortcuts = nullptr;
};

/// "About Sendonce".
class AboutWindow : public QDialog
{
    Q_OBJECT
public:
    explicit AboutWindow(QWidget *parent);
};

} // namespace sendonce
