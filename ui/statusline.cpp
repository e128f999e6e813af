#include "ui/statusline.h"

#include "ui/displaytext.h"
#include "ui/icons.h"
#include "ui/plainlabel.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPainter>

using namespace Qt::StringLiterals;

namespace sendonce {

/// A service: a filled disc when it answers, a ring when not asked yet, a cross with a word when it fails, two bars
/// with words when it is paused.
class ServiceLight : public QWidget
{
public:
    ServiceLight() : m_words(new PlainLabel({}, PlainLabel::Role::Caption))
    {
        m_words->setElided(Qt::ElideRight);
        auto *layout = new QHBoxLayout(this);
        layout->setContentsMargins(Edge + 6, 0, 0, 0);
        layout->addWidget(m_words);
    }
    void show(const ServiceStatus &status, const QString &words)
    {
        m_health = status.health;
        const bool failing = m_health == ServiceStatus::Health::Failing;
        const bool paused = m_health == ServiceStatus::Health::Paused;
        m_words->setPlain(failing      ? StatusLine::tr("%1 · not working").arg(words)
                              : paused ? StatusLine::tr("%1 · paused: keys").arg(words)
                                       : words);
        m_words->setTone(failing ? Tone::Failed : paused ? Tone::InDoubt : Tone::Muted);
        const QString state = failing || paused     ? status.detail
            : m_health == ServiceStatus::Health::Ok ? StatusLine::tr("%1: works").arg(words)
                                                    : StatusLine::tr("%1: not asked yet").arg(words);
        setToolTip(toolTipText(state));
        setAccessibleName(shownText(state));
        update();
    }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const Tokens &tokens = tokensOf(this);
        const QRectF disc(0, (height() - Edge) / 2.0, Edge, Edge);
        switch (m_health) {
        case ServiceStatus::Health::Ok:
            painter.setPen(Qt::NoPen);
            painter.setBrush(tokens.sent);
            painter.drawEllipse(disc);
            break;
        case ServiceStatus::Health::Unknown:
            painter.setPen(QPen(tokens.muted, 1.4));
            painter.drawEllipse(disc.adjusted(1, 1, -1, -1));
            break;
        case ServiceStatus::Health::Paused:
            drawIcon(&painter, QRect(-2, 0, Edge + 4, height()), u"pause"_s, tokens.inDoubt, Edge + 4);
            break;
        case ServiceStatus::Health::Failing:
            drawIcon(&painter, QRect(-2, 0, Edge + 4, height()), u"cross"_s, tokens.failed, Edge + 4);
            break;
        }
    }

private:
    static constexpr int Edge = 9;
    PlainLabel *m_words;
    ServiceStatus::Health m_health = ServiceStatus::Health::Unknown;
};

StatusLine::StatusLine(QWidget *parent)
    : QStatusBar(parent)
    , m_queue(new ServiceLight)
    , m_database(new ServiceLight)
    , m_mail(new ServiceLight)
    , m_counters(new PlainLabel({}, PlainLabel::Role::Caption))
    , m_twice(new PlainLabel({}, PlainLabel::Role::Caption))
{
    setSizeGripEnabled(false);
    auto *content = new QWidget;
    auto *layout = new QHBoxLayout(content);
    layout->setContentsMargins(SpacingUnit + 2, 1, SpacingUnit + 2, 0);
    layout->setSpacing(2 * SpacingUnit);
    layout->addWidget(m_queue);
    layout->addWidget(m_database);
    layout->addWidget(m_mail);
    layout->addStretch(1);
    layout->addWidget(m_counters);
    layout->addWidget(m_twice);
    addWidget(content, 1);
    m_counters->setTabular(true);
    m_twice->setTabular(true);
    m_twice->setTone(Tone::Failed);
    m_twice->hide();
    for (const ServiceStatus::Service service :
         {ServiceStatus::Service::Queue, ServiceStatus::Service::Database, ServiceStatus::Service::Mail})
        showService({.service = service, .health = ServiceStatus::Health::Unknown, .address = {}, .detail = {}});
    showCounters({});
}

void StatusLine::showService(const ServiceStatus &status)
{
    switch (status.service) {
    case ServiceStatus::Service::Queue:
        m_queue->show(status, status.address.isEmpty() ? tr("queue") : tr("queue %1").arg(status.address));
        break;
    case ServiceStatus::Service::Database:
        m_database->show(status, status.address.isEmpty() ? tr("database") : status.address);
        break;
    case ServiceStatus::Service::Mail:
        m_mail->show(status, status.address.isEmpty() ? tr("mail") : tr("mail %1").arg(status.address));
        break;
    }
}

void StatusLine::showCounters(const Counters &counters)
{
    m_counters->setPlain(tr("sent %1 · skipped %2 · failed %3 · in doubt %4")
                             .arg(countText(counters.sent), countText(counters.skipped), countText(counters.failed),
                                  countText(counters.inDoubt)));
    m_twice->setVisible(counters.possiblyTwice > 0);
    m_twice->setPlain(tr("possibly mailed twice %1").arg(countText(counters.possiblyTwice)));
}

QString StatusLine::countersText() const
{
    return m_twice->isHidden() ? m_counters->text() : m_counters->text() + u" · "_s + m_twice->text();
}

QSize StatusLine::sizeHint() const
{
    return QSize(QStatusBar::sizeHint().width(), fontMetrics().height() + 10);
}

void StatusLine::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const Tokens &tokens = tokensOf(this);
    painter.fillRect(rect(), tokens.header);
    painter.fillRect(QRect(0, 0, width(), 1), tokens.line);
    if (currentMessage().isEmpty())
        return;
    // A menu's hint: QStatusBar hides the services for as long as it stands here.
    const QRect place = rect().adjusted(SpacingUnit + 2, 1, -SpacingUnit - 2, 0);
    painter.setFont(smallFont());
    painter.setPen(tokens.text);
    painter.drawText(place, int(Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine),
                     painter.fontMetrics().elidedText(currentMessage(), Qt::ElideRight, place.width()));
}

void StatusLine::changeEvent(QEvent *event)
{
    QStatusBar::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        setFixedHeight(sizeHint().height());
}

} // namespace sendonce
