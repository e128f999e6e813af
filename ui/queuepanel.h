#pragma once

#include "ui/depthhistory.h"
#include "ui/panel.h"

namespace sendonce {

class DepthChart;
class FigureTile;
class PlainLabel;

/// The queue's four numbers with their age, the last 15 minutes, and how fast the worker is.
class QueuePanel : public Panel
{
    Q_OBJECT
public:
    explicit QueuePanel(QWidget *parent = nullptr);

    void showDepth(const sendonce::QueueDepth &depth);
    void showCounters(const sendonce::Counters &counters, const QDateTime &now);
    /// For ages and rates.
    void setNow(const QDateTime &now);
    void setUnavailable(const QString &text);
    DepthChart *chart() const { return m_chart; }

Q_SIGNALS:
    void deadLettersRequested();

private:
    void updateAge();

    FigureTile *m_visible;
    FigureTile *m_inFlight;
    FigureTile *m_delayed;
    FigureTile *m_dead;
    PlainLabel *m_age;
    DepthChart *m_chart;
    PlainLabel *m_mails;
    PlainLabel *m_skips;
    PlainLabel *m_failures;
    RateMeter m_rates;
    QDateTime m_sampledAt;
    QDateTime m_now;
    QString m_unavailable;
};

} // namespace sendonce
