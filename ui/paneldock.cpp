#include "ui/paneldock.h"

#include "ui/displaytext.h"
#include "ui/icons.h"
#include "ui/panel.h"
#include "ui/plainlabel.h"
#include "ui/theme.h"

#include <QHBoxLayout>
#include <QMainWindow>
#include <QPainter>
#include <QToolButton>

using namespace Qt::StringLiterals;

namespace sendonce {

/// The heading of a dock. The mouse goes through to the dock, which is dragged by it.
class DockTitle : public QWidget
{
public:
    enum class Shape { Bare, Heading, Floating };

    explicit DockTitle(QDockWidget *dock)
        : QWidget(dock)
        , m_heading(new PlainLabel({}, PlainLabel::Role::Heading))
        , m_back(new QToolButton)
        , m_close(new QToolButton)
    {
        m_back->setIcon(icon(u"float"_s));
        m_back->setAutoRaise(true);
        m_back->setAccessibleName(PanelDock::tr("Put back into the window"));
        m_back->setToolTip(toolTipText(m_back->accessibleName()));
        m_close->setIcon(icon(u"close"_s));
        m_close->setAutoRaise(true);
        m_close->setAccessibleName(PanelDock::tr("Hide this panel"));
        m_close->setToolTip(toolTipText(m_close->accessibleName()));
        auto *layout = new QHBoxLayout(this);
        layout->setContentsMargins(2 * SpacingUnit, SpacingUnit + 2, SpacingUnit, 0);
        layout->setSpacing(0);
        layout->addWidget(m_heading, 1);
        layout->addWidget(m_back);
        layout->addWidget(m_close);
        QObject::connect(m_back, &QToolButton::clicked, dock, [dock] { dock->setFloating(false); });
        QObject::connect(m_close, &QToolButton::clicked, dock, &QDockWidget::close);
        setShape(Shape::Heading);
    }

    void setHeading(const QString &text) { m_heading->setPlain(text); }
    void setShape(Shape shape)
    {
        m_shape = shape;
        m_heading->setVisible(shape != Shape::Bare);
        m_back->setVisible(shape == Shape::Floating);
        m_close->setVisible(shape == Shape::Floating);
        updateGeometry();
    }
    Shape shape() const { return m_shape; }

    QSize sizeHint() const override { return m_shape == Shape::Bare ? QSize(0, 0) : QWidget::sizeHint(); }
    QSize minimumSizeHint() const override
    {
        return m_shape == Shape::Bare ? QSize(0, 0) : QSize(0, QWidget::sizeHint().height());
    }

protected:
    void paintEvent(QPaintEvent *) override { QPainter(this).fillRect(rect(), tokensOf(this).panel); }

private:
    PlainLabel *m_heading;
    QToolButton *m_back;
    QToolButton *m_close;
    Shape m_shape = Shape::Heading;
};

PanelDock::PanelDock(const QString &name, const QString &title, Panel *panel, QWidget *content)
    : QDockWidget(title)
    , m_panel(panel)
    , m_title(title)
    , m_bar(new DockTitle(this))
{
    setObjectName(name);
    setFeatures(DockWidgetMovable | DockWidgetFloatable | DockWidgetClosable);
    setWidget(content ? content : panel);
    setTitleBarWidget(m_bar);
    setHeading({});
    connect(this, &QDockWidget::topLevelChanged, this, &PanelDock::updateTitle);
}

void PanelDock::setHeading(const QString &heading)
{
    m_bar->setHeading(heading.isEmpty() ? m_title : heading);
}

void PanelDock::setBadge(qint64 count)
{
    const QString title = count > 0 ? tr("%1 (%2)").arg(m_title, countText(count)) : m_title;
    if (windowTitle() != title)
        setWindowTitle(title);
}

void PanelDock::updateTitle()
{
    bool tabbed = false;
    if (const auto *window = qobject_cast<QMainWindow *>(parentWidget()); window && !isFloating()) {
        const QList<QDockWidget *> others = window->tabifiedDockWidgets(this);
        tabbed = std::any_of(others.cbegin(), others.cend(), [](const QDockWidget *dock) { return !dock->isHidden(); });
    }
    const DockTitle::Shape shape = isFloating() ? DockTitle::Shape::Floating
        : tabbed                                ? DockTitle::Shape::Bare
                                                : DockTitle::Shape::Heading;
    if (m_bar->shape() != shape)
        m_bar->setShape(shape);
}

} // namespace sendonce
