#include "ui/queuepanel.h"

#include "ui/depthchart.h"
#include "ui/displaytext.h"
#include "ui/figuretile.h"
#include "ui/hairline.h"
#include "ui/plainlabel.h"

#include <QGridLayout>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

QString rateText(double perSecond)
{
    return QString::number(perSecond, 'f', perSecond < 100 ? 1 : 0) + u" /s"_s;
}

} // namespace

QueuePanel::QueuePanel(QWidget *parent)
    : Panel(parent)
    , m_visible(new FigureTile(tr("visible"), Tone::InFlight, false))
    , m_inFlight(new FigureTile(tr("in flight"), Tone::Text, false))
    , m_delayed(new FigureTile(tr("delayed"), Tone::Text, false))
    , m_dead(new FigureTile(tr("dead letters"), Tone::Dead, true))
    , m_age(new PlainLabel({}, PlainLabel::Role::Small))
    , m_chart(new DepthChart)
    , m_mails(new PlainLabel({}, PlainLabel::Role::Strong))
    , m_skips(new PlainLabel({}, PlainLabel::Role::Strong))
    , m_failures(new PlainLabel({}, PlainLabel::Role::Strong))
{
    auto *figures = new QGridLayout;
    figures->setHorizontalSpacing(SpacingUnit);
    figures->setVerticalSpacing(SpacingUnit - 2);
    figures->addWidget(m_visible, 0, 0);
    figures->addWidget(m_inFlight, 0, 1);
    figures->addWidget(m_delayed, 1, 0);
    figures->addWidget(m_dead, 1, 1);
    m_dead->setToolTip(toolTipText(tr("Go to Dead letters")));
    m_age->setElided(Qt::ElideRight);

    auto *rates = new QGridLayout;
    rates->setVerticalSpacing(SpacingUnit / 2 + 2);
    int line = 0;
    for (const auto &[name, value] : {std::pair(tr("mails"), m_mails), std::pair(tr("duplicates skipped"), m_skips),
                                      std::pair(tr("failures"), m_failures)}) {
        auto *label = new PlainLabel(name);
        label->setTone(Tone::Muted);
        value->setTabular(true);
        value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        value->setToolTip(toolTipText(tr("Average of the last 10 seconds")));
        rates->addWidget(label, line, 0);
        rates->addWidget(value, line, 1);
        ++line;
    }

    auto *top = new QVBoxLayout;
    top->setContentsMargins(2 * SpacingUnit, SpacingUnit / 2, 2 * SpacingUnit, SpacingUnit);
    top->setSpacing(SpacingUnit - 2);
    top->addLayout(figures);
    top->addWidget(m_age);
    top->addSpacing(SpacingUnit);
    top->addWidget(m_chart, 1);
    auto *bottom = new QVBoxLayout;
    bottom->setContentsMargins(2 * SpacingUnit, SpacingUnit + 4, 2 * SpacingUnit, SpacingUnit + 4);
    bottom->addLayout(rates);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(top, 1);
    layout->addWidget(new Hairline);
    layout->addLayout(bottom);

    connect(m_dead, &FigureTile::clicked, this, &QueuePanel::deadLettersRequested);
    updateAge();
    setNow({});
}

void QueuePanel::showDepth(const QueueDepth &depth)
{
    m_visible->setFigure(depth.visible);
    m_inFlight->setFigure(depth.inFlight);
    m_delayed->setFigure(depth.delayed);
    m_dead->setFigure(depth.deadLetters);
    m_sampledAt = depth.sampledAt;
    m_unavailable.clear();
    m_chart->add(depth);
    updateAge();
}

void QueuePanel::showCounters(const Counters &counters, const QDateTime &now)
{
    m_rates.add(counters, now);
}

void QueuePanel::setNow(const QDateTime &now)
{
    m_now = now;
    if (m_now.isValid())
        m_chart->setNow(now);
    updateAge();
    const RateMeter::Rates rates = m_rates.rates(now);
    m_mails->setPlain(rateText(rates.mails));
    m_skips->setPlain(rateText(rates.skips));
    m_failures->setPlain(rateText(rates.failures));
    m_failures->setTone(rates.failures > 0 ? Tone::Failed : Tone::Text);
}

void QueuePanel::setUnavailable(const QString &text)
{
    m_unavailable = text;
    updateAge();
}

void QueuePanel::updateAge()
{
    if (!m_unavailable.isEmpty())
        m_age->setPlain(tr("not connected"));
    else if (!m_sampledAt.isValid())
        m_age->setPlain(tr("asking the queue…"));
    else
        m_age->setPlain(tr("approximate · %1").arg(agoText(m_sampledAt, std::max(m_now, m_sampledAt))));
    m_age->setToolTip(toolTipText(m_unavailable.isEmpty() ? utcText(m_sampledAt) : m_unavailable));
}

} // namespace sendonce
