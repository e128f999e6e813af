#pragma once

#include <QDockWidget>

namespace sendonce {

class Panel;
class PlainLabel;
class DockTitle;

/// A panel as a dock. Tabbed it has no title bar, for the tab says it; alone it has a heading; floating, a heading with
/// the way back.
class PanelDock : public QDockWidget
{
    Q_OBJECT
public:
    /// \param name of the layout, never shown; \param title of the tab and of menus
    PanelDock(const QString &name, const QString &title, Panel *panel, QWidget *content = nullptr);

    Panel *panel() const { return m_panel; }
    QString plainTitle() const { return m_title; }
    /// What stands over the panel when it is alone; the title when empty.
    void setHeading(const QString &heading);
    /// A count beside the title of the tab, drawn as a badge; none for 0.
    void setBadge(qint64 count);
    /// Call it after anything changed in how docks lie.
    void updateTitle();

private:
    Panel *m_panel;
    QString m_title;
    DockTitle *m_bar;
};

} // namespace sendonce
