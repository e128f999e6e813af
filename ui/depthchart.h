#pragma once

#include "ui/depthhistory.h"
#include "ui/theme.h"

#include <QPen>
#include <QWidget>

#include <optional>

namespace sendonce {

/// The depth of the queue over the last 15 minutes: visible, in flight and dead letters as lines of different kind and
/// colour; legend above, axes, and under the pointer the values of that moment.
class DepthChart : public QWidget
{
    Q_OBJECT
public:
    explicit DepthChart(QWidget *parent = nullptr);

    void add(const sendonce::QueueDepth &depth);
    /// The right edge.
    void setNow(const QDateTime &now);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    /// What stands under the pointer at a place, as one line; empty when nothing is known of that time.
    QString textAt(int x) const;

protected:
    void paintEvent(QPaintEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void leaveEvent(QEvent *event) override;

private:
    struct Line
    {
        qint64 QueueDepth::*value;
        Tone tone;
        QList<qreal> dashes; ///< none: solid
        bool steps = false; ///< stays at a value until it changes, instead of sloping there
        QString name;
    };
    QRect plot() const;
    QDateTime timeAt(int x) const;
    QPen penOf(const Line &line) const;
    int legendHeight() const;
    void drawLegend(QPainter *painter, const QueueDepth *values) const;
    void drawLine(QPainter *painter, const Line &line, qint64 top) const;

    DepthHistory m_history;
    QList<Line> m_lines;
    QDateTime m_now;
    std::optional<int> m_pointer;
};

} // namespace sendonce
