#include "ui/sendpanel.h"

#include "ui/consolestyle.h"
#include "ui/displaytext.h"
#include "ui/icons.h"
#include "ui/plainlabel.h"

#include <QGridLayout>
#include <QKeyEvent>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

constexpr int DefaultTimes = 3; // as often as the embedded queue receives before a message dies
constexpr int DefaultCode = 451;

} // namespace

SendPanel::SendPanel(QWidget *parent)
    : Panel(parent)
    , m_send(new QPushButton(icon(u"send"_s, Tone::Accent), tr("Send one event")))
    , m_duplicate(new QPushButton(icon(u"duplicate"_s, Tone::Accent), tr("Inject duplicate")))
    , m_fail(new QPushButton(icon(u"warning"_s, Tone::Accent), tr("Fail next mails…")))
    , m_compose(new QPushButton(icon(u"log"_s, Tone::Accent), tr("Compose…")))
    , m_outcome(new PlainLabel({}, PlainLabel::Role::Caption))
{
    m_send->setObjectName(u"sendOneEvent"_s);
    m_duplicate->setObjectName(u"injectDuplicate"_s);
    m_fail->setObjectName(u"failNextMails"_s);
    m_send->setToolTip(toolTipText(tr("A new event: application 3, reviewing -> interview")));
    m_duplicate->setToolTip(
        toolTipText(tr("A new event as two messages with different MessageIds: one e-mail, one skip")));
    m_fail->setToolTip(toolTipText(tr("The embedded mailbox refuses the next mails; the worker is not told")));
    m_fail->setCheckable(true);
    m_compose->setObjectName(u"compose"_s);
    m_compose->setToolTip(toolTipText(tr("An event of your own: fields, copies, delay, attributes, JSON")));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(2 * SpacingUnit, SpacingUnit / 2, 2 * SpacingUnit, 2 * SpacingUnit);
    layout->setSpacing(SpacingUnit);
    for (QPushButton *button : {m_send, m_duplicate, m_fail}) {
        setLook(button, Look::Leading);
        button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        layout->addWidget(button);
    }
    layout->addWidget(makeFailForm());
    setLook(m_compose, Look::Leading);
    m_compose->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    layout->addWidget(m_compose);
    m_outcome->setWordWrap(true);
    m_outcome->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    layout->addWidget(m_outcome);
    layout->addStretch(1);

    connect(m_send, &QPushButton::clicked, this, &SendPanel::send);
    connect(m_duplicate, &QPushButton::clicked, this, [this] { injectDuplicate(); });
    connect(m_compose, &QPushButton::clicked, this, &SendPanel::composeRequested);
    connect(m_fail, &QPushButton::toggled, m_form, &QWidget::setVisible);
    setReady(false);
}

void SendPanel::showReport(const SendReport &report)
{
    const QString id = compactId(report.eventId);
    const qsizetype count = report.messageIds.size();
    if (!report.error.isEmpty())
        say(count == 0 ? tr("Not sent: %1").arg(report.error) : tr("%1 sent, then: %2").arg(count).arg(report.error),
            Tone::Failed);
    else
        say(count == 1 ? tr("Sent %1").arg(id) : tr("Sent %1 as %2 messages").arg(id).arg(count), Tone::Sent);
    m_outcome->setToolTip(
        toolTipText(tr("Event %1\nMessages %2").arg(report.eventId, report.messageIds.join(u", "_s))));
}

void SendPanel::showArmed(const FaultRules &rules)
{
    m_arming = false;
    if (!rules.isEmpty())
        m_fail->setChecked(false);
}

void SendPanel::showFailure(const QString &text)
{
    m_arming = false;
    say(text, Tone::Failed);
}

void SendPanel::setReady(bool ready, const QString &why)
{
    for (QPushButton *button : {m_send, m_duplicate, m_fail, m_compose}) {
        button->setEnabled(ready);
        if (!why.isEmpty())
            button->setToolTip(toolTipText(why));
    }
    if (!ready)
        m_fail->setChecked(false);
}

void SendPanel::setFaultsOffered(bool offered)
{
    m_fail->setVisible(offered);
    if (!offered)
        m_fail->setChecked(false);
}

void SendPanel::askToFailMails()
{
    if (!m_fail->isEnabled() || m_fail->isHidden())
        return;
    m_fail->setChecked(true);
    m_times->setFocus();
    m_times->selectAll();
}

void SendPanel::send()
{
    if (!m_send->isEnabled())
        return;
    say(tr("Sending…"), Tone::Muted);
    Q_EMIT sendRequested(SendRequest());
}

void SendPanel::injectDuplicate(const QString &eventId)
{
    if (!m_duplicate->isEnabled())
        return;
    say(tr("Sending…"), Tone::Muted);
    Q_EMIT injectDuplicateRequested(eventId);
}

void SendPanel::keyPressEvent(QKeyEvent *event)
{
    if (m_form->isVisible() && event->key() == Qt::Key_Escape)
        m_fail->setChecked(false);
    else if (m_form->isVisible() && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter))
        arm();
    else
        Panel::keyPressEvent(event);
}

QWidget *SendPanel::makeFailForm()
{
    m_form = new QWidget;
    m_times = new QSpinBox;
    m_times->setObjectName(u"failTimes"_s);
    m_times->setRange(1, 1000);
    m_times->setValue(DefaultTimes);
    m_times->setAccessibleName(tr("How many mails fail"));
    m_code = new QSpinBox;
    m_code->setObjectName(u"failCode"_s);
    m_code->setRange(400, 599);
    m_code->setValue(DefaultCode);
    m_code->setAccessibleName(tr("SMTP reply code"));
    m_code->setToolTip(toolTipText(tr("4xx: try again later; 5xx: refused for good")));
    m_arm = new QPushButton(tr("Arm"));
    m_arm->setObjectName(u"armFailure"_s);

    auto *times = new PlainLabel(tr("mails"), PlainLabel::Role::Caption);
    auto *code = new PlainLabel(tr("reply code"), PlainLabel::Role::Caption);
    auto *grid = new QGridLayout(m_form);
    grid->setContentsMargins(0, 0, 0, SpacingUnit / 2);
    grid->setHorizontalSpacing(SpacingUnit);
    grid->setVerticalSpacing(2);
    grid->addWidget(times, 0, 0);
    grid->addWidget(code, 0, 1);
    grid->addWidget(m_times, 1, 0);
    grid->addWidget(m_code, 1, 1);
    grid->addWidget(m_arm, 1, 2);
    grid->setColumnStretch(0, 1);
    grid->setColumnStretch(1, 1);
    m_form->hide();
    connect(m_arm, &QPushButton::clicked, this, &SendPanel::arm);
    return m_form;
}

void SendPanel::say(const QString &text, Tone tone)
{
    m_outcome->setTone(tone);
    m_outcome->setPlain(text);
}

void SendPanel::arm()
{
    m_fail->setChecked(false);
    say({}, Tone::Muted);
    m_arming = true;
    Q_EMIT failNextMailsRequested(m_times->value(), m_code->value());
}

} // namespace sendonce
