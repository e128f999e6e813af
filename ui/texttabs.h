#pragma once

#include <QTabBar>
#include <QWidget>

class QHBoxLayout;
class QStackedWidget;

namespace sendonce {

/// Parts of one thing behind small tabs, of which each can carry a count.
class TextTabs : public QWidget
{
    Q_OBJECT
public:
    explicit TextTabs(const QString &accessibleName, QWidget *parent = nullptr);

    int add(QWidget *page, const QString &title);
    void setCount(int tab, int count); ///< 0: none is shown
    void setCorner(QWidget *widget); ///< at the right of the tabs
    /// px before the first tab, where the pages reach the edge: the tabs stand above what the pages begin with.
    void setInset(int inset);
    QTabBar *bar() const { return m_bar; }

private:
    QTabBar *m_bar;
    QHBoxLayout *m_head;
    QStackedWidget *m_pages;
    QStringList m_titles;
};

} // namespace sendonce
