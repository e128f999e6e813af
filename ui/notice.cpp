#include "ui/notice.h"

#include "ui/displaytext.h"
#include "ui/icons.h"
#include "ui/plainlabel.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {

Notice::Notice(QWidget *window, int bottomMargin)
    : QWidget(window)
    , m_text(new PlainLabel)
    , m_act(new QPushButton)
    , m_close(new QToolButton)
    , m_bottomMargin(bottomMargin)
{
    m_text->setWordWrap(true);
    m_close->setIcon(icon(u"close"_s));
    m_close->setAutoRaise(true);
    m_close->setAccessibleName(tr("Close this note"));
    m_close->setToolTip(toolTipText(m_close->accessibleName()));
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(5 * SpacingUnit, SpacingUnit, SpacingUnit, SpacingUnit);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_act, 0, Qt::AlignVCenter);
    layout->addWidget(m_close, 0, Qt::AlignTop);
    m_act->setObjectName(u"noticeAct"_s);
    m_act->hide();
    connect(m_act, &QPushButton::clicked, this, &Notice::acted);
    connect(m_close, &QToolButton::clicked, this, &QWidget::hide);
    m_over.setSingleShot(true);
    connect(&m_over, &QTimer::timeout, this, &QWidget::hide);
    window->installEventFilter(this);
    hide();
}

void Notice::say(const QString &text, Tone tone, const QString &act)
{
    m_tone = tone;
    m_text->setPlainLines(text);
    m_act->setText(act);
    m_act->setEnabled(true);
    m_act->setVisible(!act.isEmpty());
    if (tone == Tone::Failed || !act.isEmpty())
        m_over.stop();
    else
        m_over.start(12s);
    place();
    show();
    raise();
}

void Notice::setActing(const QString &words)
{
    m_act->setText(words);
    m_act->setEnabled(false);
    place();
}

bool Notice::offersAct() const
{
    return !isHidden() && !m_act->isHidden();
}

QString Notice::text() const
{
    return isHidden() ? QString() : m_text->text();
}

bool Notice::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize)
        place();
    return QWidget::eventFilter(watched, event);
}

void Notice::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Tokens &tokens = tokensOf(this);
    const QColor colour = tokens.of(m_tone);
    painter.setPen(colour);
    painter.setBrush(mixed(tokens.panel, colour, 0.07));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    drawIcon(&painter, QRect(SpacingUnit, 0, 3 * SpacingUnit, height()),
             m_tone == Tone::Failed || m_tone == Tone::InDoubt ? u"warning"_s : u"info"_s, colour, 18);
}

void Notice::place()
{
    const QWidget *window = parentWidget();
    const int longest = std::min(window->width() - 4 * SpacingUnit, fontMetrics().averageCharWidth() * 100);
    const int around = layout()->sizeHint().width() - m_text->sizeHint().width();
    const int width = std::min(longest, fontMetrics().horizontalAdvance(m_text->text()) + around + SpacingUnit);
    const int height =
        std::max(layout()->hasHeightForWidth() ? layout()->heightForWidth(width) : 0, layout()->sizeHint().height());
    setGeometry(window->width() - width - 2 * SpacingUnit, window->height() - height - m_bottomMargin - SpacingUnit,
                width, height);
}

Curtain::Curtain(QWidget *window)
    : QWidget(window)
    , m_title(new PlainLabel({}, PlainLabel::Role::Strong))
    , m_text(new PlainLabel)
{
    m_title->setAlignment(Qt::AlignHCenter);
    m_text->setAlignment(Qt::AlignHCenter);
    m_text->setTone(Tone::Muted);
    auto *layout = new QVBoxLayout(this);
    layout->addStretch(1);
    layout->addWidget(m_title);
    layout->addWidget(m_text);
    layout->addStretch(1);
    window->installEventFilter(this);
    hide();
}

void Curtain::drop(const QString &title, const QString &text)
{
    m_title->setPlain(title);
    m_text->setPlain(text);
    setGeometry(parentWidget()->rect());
    show();
    raise();
    setFocus();
}

bool Curtain::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize)
        setGeometry(parentWidget()->rect());
    return QWidget::eventFilter(watched, event);
}

void Curtain::paintEvent(QPaintEvent *)
{
    QColor ground = tokensOf(this).panel;
    ground.setAlphaF(0.93F);
    QPainter(this).fillRect(rect(), ground);
}

} // namespace sendonce
