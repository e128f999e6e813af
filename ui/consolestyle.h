#pragma once

#include <QProxyStyle>

class QAbstractButton;
class QTabBar;

namespace sendonce {

/// What a button is for, and so how it is drawn.
enum class Look {
    Plain, ///< a hairline around it
    Primary, ///< filled with the accent: the one thing a person came to this view for
    Leading, ///< as Plain, with icon and text at the left: a column of acts
    Flat, ///< no border until the pointer is over it
    Pill, ///< the notice that something is armed
};
void setLook(QAbstractButton *button, Look look);
/// A lighter tab bar, for the parts of one view.
void setInnerTabs(QTabBar *bar);

/// Fusion with the console's surfaces, hairlines and proportions. Takes its colours from each widget's palette through
/// tokensOf(). A tab's text that ends in " (6)" is drawn with the number in a badge.
class ConsoleStyle : public QProxyStyle
{
    Q_OBJECT
public:
    ConsoleStyle();

    int pixelMetric(PixelMetric metric, const QStyleOption *option, const QWidget *widget) const override;
    int styleHint(StyleHint hint, const QStyleOption *option, const QWidget *widget,
                  QStyleHintReturn *returnData) const override;
    QSize sizeFromContents(ContentsType type, const QStyleOption *option, const QSize &size,
                           const QWidget *widget) const override;
    QRect subElementRect(SubElement element, const QStyleOption *option, const QWidget *widget) const override;
    QRect subControlRect(ComplexControl control, const QStyleOptionComplex *option, SubControl part,
                         const QWidget *widget) const override;
    void drawPrimitive(PrimitiveElement element, const QStyleOption *option, QPainter *painter,
                       const QWidget *widget) const override;
    void drawControl(ControlElement element, const QStyleOption *option, QPainter *painter,
                     const QWidget *widget) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex *option, QPainter *painter,
                            const QWidget *widget) const override;
    void polish(QWidget *widget) override;
    using QProxyStyle::polish;
};

} // namespace sendonce
