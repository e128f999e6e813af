#include "ui/depthchart.h"

#include "ui/displaytext.h"
#include "ui/figures.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <cmath>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

/// The next round number, so that the axis does not move with every sample.
qint64 roundUp(qint64 value)
{
    qint64 step = 1;
    for (;;) {
        for (const qint64 factor : {4, 10, 20}) {
            if (value <= factor * step)
                return factor * step;
        }
        step *= 10;
    }
}

} // namespace

DepthChart::DepthChart(QWidget *parent)
    : QWidget(parent)
    , m_lines{
          {&QueueDepth::inFlight, Tone::Skipped, {1, 2.5}, false, tr("in flight")},
          {&QueueDepth::deadLetters, Tone::Dead, {5, 2}, true, tr("dead")},
          {&QueueDepth::visible, Tone::InFlight, {}, false, tr("visible")},
      }
{
    setMouseTracking(true);
    setAccessibleName(tr("Depth of the queue in the last 15 minutes"));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);
}

void DepthChart::add(const QueueDepth &depth)
{
    m_history.add(depth);
    m_now = std::max(m_now, depth.sampledAt);
    update();
}

void DepthChart::setNow(const QDateTime &now)
{
    m_now = now;
    if (!m_history.samples().empty())
        update();
}

QSize DepthChart::sizeHint() const
{
    return QSize(200, 9 * fontMetrics().height());
}

QSize DepthChart::minimumSizeHint() const
{
    return QSize(120, 5 * fontMetrics().height());
}

QString DepthChart::textAt(int x) const
{
    const QDateTime time = timeAt(x);
    const QueueDepth *depth = m_history.at(time);
    if (!depth)
        return {};
    return tr("%1: visible %2, in flight %3, dead letters %4")
        .arg(clockTime(time), countText(depth->visible), countText(depth->inFlight), countText(depth->deadLetters));
}

void DepthChart::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setFont(smallFont());
    const Tokens &tokens = tokensOf(this);
    const QFontMetrics metrics = painter.fontMetrics();
    const QRect area = plot();
    const qint64 top = roundUp(m_history.highest());

    // Three hairlines, the highest with its value; below, the times at the ends.
    for (int i = 0; i <= 2; ++i) {
        const int y = area.bottom() - i * area.height() / 2;
        painter.fillRect(QRect(area.left(), y, area.width(), 1),
                         i == 0 ? tokens.line : mixed(tokens.line, tokens.panel, 0.35));
    }
    painter.setPen(tokens.muted);
    const int axis = metrics.height();
    drawFigures(&painter, QRect(area.left(), area.top() + 1, area.width(), axis), Qt::AlignLeft | Qt::AlignTop,
                countText(top));
    const QRect times(area.left(), area.bottom() + 4, area.width(), axis);
    painter.drawText(times, int(Qt::AlignLeft | Qt::AlignVCenter), tr("−15 min"));
    painter.drawText(times, int(Qt::AlignRight | Qt::AlignVCenter), tr("now"));

    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(area.adjusted(0, -2, 0, 2));
    for (const Line &line : m_lines)
        drawLine(&painter, line, top);
    painter.restore();

    const QueueDepth *values = m_history.samples().empty() ? nullptr : &m_history.samples().back();
    if (m_pointer && area.left() <= *m_pointer && *m_pointer <= area.right()) {
        values = m_history.at(timeAt(*m_pointer));
        painter.fillRect(QRect(*m_pointer, area.top(), 1, area.height()), tokens.accent);
        const QString time = clockTime(timeAt(*m_pointer));
        const int width = figuresWidth(metrics, time) + 8;
        const QRect place(std::clamp(*m_pointer - width / 2, area.left(), area.right() - width + 1), times.top(), width,
                          axis);
        painter.fillRect(place, tokens.panel);
        painter.setPen(tokens.text);
        drawFigures(&painter, place, Qt::AlignCenter, time);
    }
    drawLegend(&painter, m_pointer ? values : nullptr);
    if (m_history.samples().empty()) {
        painter.setPen(tokens.muted);
        painter.drawText(area, Qt::AlignCenter, tr("no sample yet"));
    }
}

void DepthChart::mouseMoveEvent(QMouseEvent *event)
{
    m_pointer = event->position().toPoint().x();
    update();
}

void DepthChart::leaveEvent(QEvent *)
{
    m_pointer.reset();
    update();
}

QRect DepthChart::plot() const
{
    const int axis = QFontMetrics(smallFont()).height();
    return QRect(0, legendHeight() + SpacingUnit - 2, width(), height() - legendHeight() - axis - SpacingUnit - 2);
}

QDateTime DepthChart::timeAt(int x) const
{
    const QRect area = plot();
    const double share = double(x - area.right()) / std::max(1, area.width() - 1);
    return m_now.addMSecs(qint64(share * double(std::chrono::milliseconds(DepthHistory::Span).count())));
}

QPen DepthChart::penOf(const Line &line) const
{
    QPen pen(tokensOf(this).of(line.tone), 1.6, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin);
    if (!line.dashes.isEmpty())
        pen.setDashPattern(line.dashes);
    return pen;
}

int DepthChart::legendHeight() const
{
    return QFontMetrics(smallFont()).height();
}

void DepthChart::drawLegend(QPainter *painter, const QueueDepth *values) const
{
    const Tokens &tokens = tokensOf(this);
    const QFontMetrics metrics = painter->fontMetrics();
    constexpr int Sample = 16;
    int x = 0;
    for (qsizetype i = m_lines.size() - 1; i >= 0; --i) {
        const Line &line = m_lines.at(i);
        painter->setPen(penOf(line));
        const int y = legendHeight() / 2;
        painter->drawLine(x, y, x + Sample, y);
        x += Sample + 5;
        const QString text = values ? line.name + u' ' + countText(values->*line.value) : line.name;
        painter->setPen(values ? tokens.text : tokens.muted);
        drawFigures(painter, QRect(x, 0, width() - x, legendHeight()), Qt::AlignLeft | Qt::AlignVCenter, text);
        x += figuresWidth(metrics, text) + 12;
    }
}

void DepthChart::drawLine(QPainter *painter, const Line &line, qint64 top) const
{
    const QRect area = plot();
    const double msecs = double(std::chrono::milliseconds(DepthHistory::Span).count());
    const auto xOf = [&](const QDateTime &at) {
        return area.right() - double(at.msecsTo(m_now)) / msecs * (area.width() - 1);
    };
    const auto yOf = [&](double value) { return area.bottom() - value / double(top) * (area.height() - 2); };
    // One point for every few pixels, the mean of its samples: what flickers between two samples is no line to read.
    constexpr double Step = 3;
    QPainterPath path;
    bool begun = false;
    double lastY = 0;
    const auto &samples = m_history.samples();
    for (size_t i = 0; i < samples.size();) {
        const double slot = std::floor(xOf(samples[i].sampledAt) / Step);
        double x = 0;
        double sum = 0;
        int count = 0;
        bool known = true;
        for (; i < samples.size() && std::floor(xOf(samples[i].sampledAt) / Step) == slot; ++i) {
            const qint64 value = samples[i].*line.value;
            known = known && value >= 0;
            x = xOf(samples[i].sampledAt);
            sum += double(value);
            ++count;
        }
        if (!known) { // a gap
            begun = false;
            continue;
        }
        const double y = yOf(line.steps ? double(samples[i - 1].*line.value) : sum / count);
        if (!begun)
            path.moveTo(x, y);
        else if (line.steps)
            path.lineTo(x, lastY);
        path.lineTo(x, y);
        begun = true;
        lastY = y;
    }
    if (begun)
        path.lineTo(area.right() + 1, lastY);
    painter->setPen(penOf(line));
    painter->setBrush(Qt::NoBrush);
    painter->drawPath(path);
}

} // namespace sendonce
