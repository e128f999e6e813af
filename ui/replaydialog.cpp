#include "ui/replaydialog.h"

#include "ui/displaytext.h"
#include "ui/plainlabel.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QHash>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>

using namespace Qt::StringLiterals;

namespace sendonce {

QString forecastWords(const ReplayForecast &forecast)
{
    QStringList parts;
    const auto add = [&parts](qint64 count, const QString &words) {
        if (count > 0)
            parts += words.arg(countText(count));
    };
    add(forecast.send, ReplayDialog::tr("%1 will send"));
    add(forecast.skip, ReplayDialog::tr("%1 will be skipped"));
    add(forecast.fail, ReplayDialog::tr("%1 will fail again"));
    add(forecast.doubt, ReplayDialog::tr("%1 in doubt: perhaps a second e-mail"));
    add(forecast.unknown, ReplayDialog::tr("%1 unknown: perhaps a second e-mail"));
    add(forecast.forgotten, ReplayDialog::tr("%1 forgotten: stopped unless you give a reason"));
    return parts.isEmpty() ? ReplayDialog::tr("nothing to replay") : parts.join(u", "_s);
}

ReplayDialog::ReplayDialog(const QList<DeadLetter> &letters, bool canary, QWidget *parent)
    : ActDialog(tr("Replay"), tr("Replay"), parent)
    , m_letters(letters)
    , m_canary(new QCheckBox(tr("&One first; the others only when its outcome is the expected one (canary)")))
    , m_stop(new QCheckBox(tr("&Stop after this many failures:")))
    , m_failures(new QSpinBox)
    , m_limit(new QCheckBox(tr("At &most this many messages a second:")))
    , m_perSecond(new QDoubleSpinBox)
    , m_reason(new QLineEdit)
{
    setObjectName(u"replayDialog"_s);
    m_canary->setObjectName(u"replayCanary"_s);
    m_canary->setChecked(canary && letters.size() > 1);
    m_stop->setObjectName(u"replayStop"_s);
    m_failures->setObjectName(u"replayFailures"_s);
    m_failures->setRange(1, 100'000);
    m_failures->setValue(5);
    m_failures->setAccessibleName(tr("Failures after which the replay stops"));
    m_limit->setObjectName(u"replayLimit"_s);
    m_perSecond->setObjectName(u"replayPerSecond"_s);
    m_perSecond->setRange(0.1, 10'000);
    m_perSecond->setDecimals(1);
    m_perSecond->setValue(10);
    m_perSecond->setAccessibleName(tr("Messages a second"));
    m_reason->setObjectName(u"replayReason"_s);
    m_reason->setPlaceholderText(tr("Reason to replay the forgotten ones too; it goes into the audit"));
    m_reason->setAccessibleName(m_reason->placeholderText());

    fields()->addWidget(m_reason);
    const auto pair = [this](QCheckBox *box, QWidget *value) {
        auto *line = new QHBoxLayout;
        line->addWidget(box);
        line->addWidget(value);
        line->addStretch(1);
        fields()->addLayout(line);
        value->setEnabled(false);
        connect(box, &QCheckBox::toggled, value, &QWidget::setEnabled);
    };
    fields()->addWidget(m_canary);
    pair(m_stop, m_failures);
    pair(m_limit, m_perSecond);
    for (QWidget *of : QList<QWidget *>{m_canary, m_stop, m_failures, m_limit, m_perSecond})
        of->setVisible(letters.size() > 1); // one needs none of it
    connect(this, &ActDialog::confirmed, this, &ReplayDialog::order);
    say();
}

void ReplayDialog::update(const QList<DeadLetter> &letters)
{
    QHash<QString, const DeadLetter *> byId;
    for (const DeadLetter &letter : letters)
        byId.insert(letter.message.messageId, &letter);
    for (DeadLetter &ours : m_letters) {
        if (const DeadLetter *const judged = byId.value(ours.message.messageId))
            ours = *judged;
    }
    say();
}

void ReplayDialog::say()
{
    ReplayForecast forecast;
    for (const DeadLetter &letter : std::as_const(m_letters))
        forecast.add(letter);
    const bool isOne = m_letters.size() == 1;
    const QString count = countText(m_letters.size());
    setHeading(isOne ? tr("Replay 1 dead letter?") : tr("Replay %1 dead letters?").arg(count));
    QString words = tr("%1.").arg(forecastWords(forecast));
    words += u"\n"_s
        + (isOne ? tr("It goes back to the queue as it is, and is deleted here when it is there.")
                 : tr("They go back to the queue as they are. The set is frozen: what dies from now on is not "
                      "touched."));
    setWords(words);
    m_reason->setVisible(forecast.forgotten > 0);
    yesButton()->setText(tr("Replay %1").arg(count));
}

void ReplayDialog::order()
{
    ReplayOrder order;
    for (const DeadLetter &letter : std::as_const(m_letters))
        order.messageIds += letter.message.messageId;
    order.canary = m_canary->isChecked();
    order.stopAfter = m_stop->isChecked() ? m_failures->value() : 0;
    order.perSecond = m_limit->isChecked() ? m_perSecond->value() : 0;
    order.overrideReason = m_reason->text().trimmed();
    Q_EMIT ordered(order);
    close();
}

} // namespace sendonce
