#include "ui/figures.h"

#include <QPainter>

namespace sendonce {
namespace {

bool isFigure(QChar c)
{
    return c >= u'0' && c <= u'9';
}

int figureWidth(const QFontMetrics &metrics)
{
    int widest = 0;
    for (char16_t digit = u'0'; digit <= u'9'; ++digit)
        widest = std::max(widest, metrics.horizontalAdvance(QChar(digit)));
    return widest;
}

/// Calls visit(text, isDigit) for each digit alone and for each run of other characters.
template <typename Visit>
void forEachRun(const QString &text, Visit visit)
{
    qsizetype start = 0;
    for (qsizetype i = 0; i <= text.size(); ++i) {
        const bool digit = i < text.size() && isFigure(text.at(i));
        if (i < text.size() && !digit)
            continue;
        if (i > start)
            visit(text.mid(start, i - start), false);
        if (digit)
            visit(text.mid(i, 1), true);
        start = i + 1;
    }
}

} // namespace

int figuresWidth(const QFontMetrics &metrics, const QString &text)
{
    const int digitWidth = figureWidth(metrics);
    int width = 0;
    forEachRun(text,
               [&](const QString &run, bool digit) { width += digit ? digitWidth : metrics.horizontalAdvance(run); });
    return width;
}

void drawFigures(QPainter *painter, const QRect &rect, Qt::Alignment alignment, const QString &text)
{
    const QFontMetrics metrics = painter->fontMetrics();
    const int digitWidth = figureWidth(metrics);
    int x = rect.x();
    if (alignment & Qt::AlignRight)
        x = rect.right() + 1 - figuresWidth(metrics, text);
    else if (alignment & Qt::AlignHCenter)
        x += (rect.width() - figuresWidth(metrics, text)) / 2;
    const int vertical = int(alignment & Qt::AlignVertical_Mask);
    forEachRun(text, [&](const QString &run, bool digit) {
        const int width = digit ? digitWidth : metrics.horizontalAdvance(run);
        painter->drawText(QRect(x, rect.y(), width + 1, rect.height()),
                          vertical | int(digit ? Qt::AlignHCenter : Qt::AlignLeft) | int(Qt::TextSingleLine)
                              | int(Qt::TextDontClip),
                          run);
        x += width;
    });
}

} // namespace sendonce
