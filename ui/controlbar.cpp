#include "ui/controlbar.h"

#include "ui/actionbutton.h"
#include "ui/consolestyle.h"
#include "ui/displaytext.h"
#include "ui/faultwords.h"
#include "ui/icons.h"
#include "ui/plainlabel.h"
#include "ui/windowactions.h"

#include <QHBoxLayout>
#include <QPainter>

using namespace Qt::StringLiterals;

namespace sendonce {

/// The profile's colour with its name in it, always on screen.
class ProfileBadge : public QWidget
{
public:
    ProfileBadge() { setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed); }
    void show(const QString &text, Tone tone)
    {
        m_text = shownText(text);
        m_tone = tone;
        setAccessibleName(ControlBar::tr("Profile %1").arg(m_text));
        updateGeometry();
        update();
    }
    QSize sizeHint() const override
    {
        const QFontMetrics metrics(font());
        return QSize(metrics.horizontalAdvance(m_text) + 16, metrics.height() + 6);
    }
    QFont font() const
    {
        QFont bold = smallFont();
        bold.setWeight(QFont::Bold);
        bold.setLetterSpacing(QFont::AbsoluteSpacing, 0.4);
        return bold;
    }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const Tokens &tokens = tokensOf(this);
        painter.setPen(Qt::NoPen);
        painter.setBrush(tokens.of(m_tone));
        painter.drawRoundedRect(rect(), 4, 4);
        painter.setFont(font());
        painter.setPen(tokens.onAccent);
        painter.drawText(rect(), Qt::AlignCenter, m_text);
    }
    void changeEvent(QEvent *event) override
    {
        QWidget::changeEvent(event);
        if (event->type() == QEvent::FontChange)
            updateGeometry();
    }

private:
    QString m_text;
    Tone m_tone = Tone::Sent;
};

ControlBar::ControlBar(const WindowActions &actions, QWidget *parent)
    : QToolBar(tr("Worker"), parent)
    , m_profile(new PlainLabel({}, PlainLabel::Role::Strong))
    , m_badge(new ProfileBadge)
    , m_state(new PlainLabel)
    , m_strategy(new PlainLabel)
    , m_armed(new QPushButton)
{
    setObjectName(u"controlBar"_s);
    setMovable(false);
    setFloatable(false);
    setContextMenuPolicy(Qt::PreventContextMenu);
    toggleViewAction()->setVisible(false);

    auto *content = new QWidget;
    auto *layout = new QHBoxLayout(content);
    layout->setContentsMargins(2 * SpacingUnit, SpacingUnit, SpacingUnit + 4, SpacingUnit);
    layout->addWidget(m_profile);
    layout->addWidget(m_badge);
    layout->addSpacing(2 * SpacingUnit);
    auto *start = new ActionButton(actions.start, tr("Start"), icon(u"play"_s, Tone::Sent));
    auto *stop = new ActionButton(actions.stop, tr("Stop"), icon(u"stop"_s, Tone::Text));
    start->setObjectName(u"start"_s);
    stop->setObjectName(u"stop"_s);
    layout->addWidget(start);
    layout->addWidget(stop);
    layout->addSpacing(SpacingUnit);
    m_strategy->setTone(Tone::Muted);
    layout->addWidget(m_strategy);
    layout->addSpacing(SpacingUnit);
    layout->addWidget(m_state); // changes its length, so nothing stands behind it
    layout->addStretch(1);
    layout->addWidget(m_armed);
    auto *workspace = new QPushButton(icon(u"chevron-down"_s), tr("Workspace"));
    workspace->setObjectName(u"workspace"_s);
    workspace->setLayoutDirection(Qt::RightToLeft); // the arrow behind the word
    workspace->setToolTip(toolTipText(tr("Panels arranged for a demo, for support or for QA")));
    workspace->setMenu(actions.workspaces);
    layout->addWidget(workspace);
    addWidget(content);

    m_state->setTabular(true);
    m_state->setElided(Qt::ElideRight);
    m_strategy->setElided(Qt::ElideRight);
    m_armed->setObjectName(u"armed"_s);
    m_armed->setIcon(icon(u"warning"_s, Tone::InDoubt));
    setLook(m_armed, Look::Pill);
    m_armed->hide();
    connect(m_armed, &QPushButton::clicked, actions.disarm, &QAction::trigger);
    showState(WorkerState::Stopped, 0);
}

void ControlBar::showProfile(const QString &profile, Tone tone, const QString &strategy)
{
    m_profile->setPlain(profile);
    m_badge->show(profile.toUpper(), tone);
    m_strategy->setPlain(tr("Strategy: %1").arg(strategy));
}

void ControlBar::showState(WorkerState state, int inHand)
{
    switch (state) {
    case WorkerState::Stopped:
        showWords(tr("stopped"), Tone::Muted);
        break;
    case WorkerState::Starting:
        showWords(tr("starting…"), Tone::InFlight);
        break;
    case WorkerState::Running:
        showWords(inHand > 0 ? tr("running · %1 in hand").arg(countText(inHand)) : tr("running · waiting for messages"),
                  Tone::Sent);
        break;
    case WorkerState::Stopping:
        showWords(inHand > 0 ? tr("stopping… %1 in hand").arg(countText(inHand)) : tr("stopping…"), Tone::InDoubt);
        break;
    }
}

void ControlBar::showArmed(const FaultRules &rules, const QDateTime &now)
{
    m_rules = rules;
    m_toldAt = m_now = now;
    m_armed->setVisible(!rules.isEmpty());
    followArmed();
}

void ControlBar::setNow(const QDateTime &now)
{
    m_now = now;
    followArmed();
}

void ControlBar::followArmed()
{
    if (m_rules.isEmpty())
        return;
    const std::chrono::milliseconds since(m_toldAt.msecsTo(m_now));
    QStringList lines;
    for (const FaultRule &rule : std::as_const(m_rules))
        lines.append(faultLine(rule, faultLeft(rule, since)));
    m_armed->setText(tr("%1 · disarm").arg(armedWords(m_rules, since)));
    m_armed->setToolTip(toolTipText(lines.join(u'\n')));
}

void ControlBar::showWords(const QString &words, Tone tone)
{
    m_state->setTone(tone);
    m_state->setPlain(words);
}

} // namespace sendonce
