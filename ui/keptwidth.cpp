#include "ui/keptwidth.h"

#include <QDockWidget>
#include <QEvent>
#include <QMainWindow>

#include <algorithm>

namespace sendonce {

KeptWidth::KeptWidth(QMainWindow *window, QDockWidget *dock) : QObject(window), m_window(window), m_dock(dock)
{
    m_settling.setSingleShot(true);
    connect(&m_settling, &QTimer::timeout, this, &KeptWidth::settle);
    dock->installEventFilter(this);
}

QDockWidget *KeptWidth::neighbour(const QMainWindow *window)
{
    for (QDockWidget *dock : window->findChildren<QDockWidget *>()) {
        if (!dock->isHidden() && !dock->isFloating() && window->dockWidgetArea(dock) == Qt::RightDockWidgetArea)
            return dock;
    }
    return nullptr;
}

bool KeptWidth::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize && !m_dock->isFloating()) {
        if (m_window->size() == m_windowSize)
            m_width = m_dock->width(); // somebody moved the divider
        else
            m_settling.start(0);
    }
    return QObject::eventFilter(watched, event);
}

void KeptWidth::settle()
{
    m_windowSize = m_window->size();
    const Qt::DockWidgetArea area = m_window->dockWidgetArea(m_dock);
    QDockWidget *beside = neighbour(m_window);
    if (m_width > 0 && !m_dock->isFloating() && area == Qt::LeftDockWidgetArea && beside)
        m_window->resizeDocks({m_dock, beside}, {m_width, std::max(m_width, m_window->width() - m_width - 1)},
                              Qt::Horizontal);
    else
        m_width = m_dock->width();
}

} // namespace sendonce
