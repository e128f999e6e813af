#include "ui/emptystate.h"

#include "ui/icons.h"
#include "ui/plainlabel.h"

#include <QAbstractItemView>
#include <QEvent>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

namespace sendonce {

constexpr int IconPixels = 32;

EmptyState::EmptyState(QAbstractItemView *view)
    : QWidget(view->viewport())
    , m_view(view)
    , m_title(new PlainLabel({}, PlainLabel::Role::Strong))
    , m_text(new PlainLabel)
    , m_act(new QPushButton)
{
    m_title->setAlignment(Qt::AlignHCenter);
    m_text->setAlignment(Qt::AlignHCenter);
    m_text->setWordWrap(true);
    m_text->setTone(Tone::Muted);
    m_act->hide();
    connect(m_act, &QPushButton::clicked, this, &EmptyState::acted);

    auto *layout = new QVBoxLayout(this);
    layout->setSpacing(SpacingUnit);
    layout->addStretch(2);
    layout->addSpacing(IconPixels + SpacingUnit / 2); // painted there
    layout->addWidget(m_title);
    layout->addWidget(m_text);
    layout->addSpacing(SpacingUnit / 2);
    layout->addWidget(m_act, 0, Qt::AlignHCenter);
    layout->addStretch(3);
    view->viewport()->installEventFilter(this);
    view->installEventFilter(this);
    fit();
}

void EmptyState::setWords(const QString &iconName, const QString &title, const QString &text, const QString &act)
{
    m_icon = iconName;
    m_title->setPlain(title);
    m_text->setPlainLines(text);
    m_act->setText(act);
    m_act->setVisible(!act.isEmpty());
    fit();
    update();
}

QString EmptyState::title() const
{
    return m_title->text();
}

QString EmptyState::text() const
{
    return m_text->text();
}

bool EmptyState::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize || event->type() == QEvent::Show)
        fit();
    return QWidget::eventFilter(watched, event);
}

void EmptyState::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const Tokens &tokens = tokensOf(this);
    painter.fillRect(rect(), tokens.panel);
    if (m_title->y() >= IconPixels + SpacingUnit)
        drawIcon(&painter, QRect(0, m_title->y() - IconPixels - SpacingUnit - SpacingUnit / 2, width(), IconPixels),
                 m_icon, mixed(tokens.muted, tokens.panel, 0.3), IconPixels);
}

void EmptyState::fit()
{
    setGeometry(m_view->viewport()->rect());
    // Lines of at most some 80 characters, in the middle.
    const int margin = std::max(2 * SpacingUnit, (width() - fontMetrics().averageCharWidth() * 84) / 2);
    layout()->setContentsMargins(margin, SpacingUnit, margin, SpacingUnit);
}

} // namespace sendonce
