#include "ui/consolestyle.h"

#include "ui/icons.h"
#include "ui/indicators.h"
#include "ui/theme.h"

#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QPainterPath>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollBar>
#include <QStyleFactory>
#include <QStyleOption>
#include <QTabBar>
#include <QToolButton>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

constexpr char LookProperty[] = "sendonceLook";
constexpr char InnerTabsProperty[] = "sendonceInnerTabs";
constexpr int Radius = 5;
constexpr int ButtonMargin = 12;
constexpr int ScrollExtent = 11;
constexpr int ArrowWidth = 24;
constexpr int ProgressHeight = 6;

Look lookOf(const QWidget *widget)
{
    return widget ? Look(widget->property(LookProperty).toInt()) : Look::Plain;
}

int controlHeight(const QFontMetrics &metrics)
{
    return metrics.height() + 12;
}

/// A rectangle with round corners whose hairline lies on whole pixels.
void roundRect(QPainter *painter, const QRect &rect, const QColor &fill, const QColor &line, qreal radius = Radius)
{
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(line.isValid() ? QPen(line, 1) : QPen(Qt::NoPen));
    painter->setBrush(fill.isValid() ? QBrush(fill) : QBrush(Qt::NoBrush));
    const QRectF inner = line.isValid() ? QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5) : QRectF(rect);
    painter->drawRoundedRect(inner, radius, radius);
    painter->restore();
}

/// The ring around what the keyboard has; the mouse shows where it is by itself.
bool keyboardFocus(const QStyleOption *option)
{
    return (option->state & QStyle::State_HasFocus) && (option->state & QStyle::State_KeyboardFocusChange);
}

void drawBevel(const QStyleOption *option, QPainter *painter, Look look)
{
    const Tokens &tokens = tokensOf(option->palette);
    const bool enabled = option->state & QStyle::State_Enabled;
    const bool hover = enabled && (option->state & QStyle::State_MouseOver);
    const bool down = option->state & (QStyle::State_Sunken | QStyle::State_On);
    QRect rect = option->rect;
    qreal radius = Radius;
    QColor fill = tokens.panel;
    QColor line = tokens.line;
    switch (look) {
    case Look::Plain:
    case Look::Leading:
        if (down)
            fill = mixed(tokens.header, tokens.line, 0.6);
        else if (hover)
            fill = tokens.header;
        if (hover)
            line = mixed(tokens.line, tokens.muted, 0.4);
        break;
    case Look::Primary:
        fill = !enabled ? tokens.header
            : down      ? mixed(tokens.accent, tokens.text, 0.25)
            : hover     ? mixed(tokens.accent, tokens.text, 0.12)
                        : tokens.accent;
        line = enabled ? fill : tokens.line;
        break;
    case Look::Flat:
        fill = down ? mixed(tokens.header, tokens.line, 0.6) : hover ? tokens.header : QColor();
        line = QColor();
        break;
    case Look::Pill:
        fill = mixed(tokens.panel, tokens.inDoubt, down ? 0.25 : hover ? 0.16 : 0.08);
        line = tokens.inDoubt;
        radius = rect.height() / 2.0 - 0.5;
        break;
    }
    roundRect(painter, rect, fill, line, radius);
    if (keyboardFocus(option)) {
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setPen(QPen(look == Look::Primary ? tokens.text : tokens.accent, 2));
        painter->setBrush(Qt::NoBrush);
        painter->drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), radius, radius);
        painter->restore();
    }
}

void drawButtonLabel(const QStyleOptionButton *option, QPainter *painter, Look look)
{
    const Tokens &tokens = tokensOf(option->palette);
    const bool enabled = option->state & QStyle::State_Enabled;
    QColor colour = option->palette.color(QPalette::ButtonText);
    if (look == Look::Primary && enabled)
        colour = tokens.onAccent;
    if (look == Look::Pill && enabled)
        colour = tokens.inDoubt;
    const int gap = SpacingUnit - (look == Look::Leading ? 0 : 2);
    const int iconWidth = option->icon.isNull() ? 0 : option->iconSize.width();
    QRect rect = option->rect.adjusted(ButtonMargin, 0, -ButtonMargin, 0);
    const int textWidth = option->fontMetrics.size(Qt::TextShowMnemonic, option->text).width();
    const int width = textWidth + (iconWidth && !option->text.isEmpty() ? iconWidth + gap : iconWidth);
    int x = look == Look::Leading ? rect.x() : option->rect.x() + (option->rect.width() - width) / 2;
    if (iconWidth) {
        const QRect place(x, option->rect.y() + (option->rect.height() - iconWidth) / 2, iconWidth, iconWidth);
        option->icon.paint(painter, place, Qt::AlignCenter, enabled ? QIcon::Normal : QIcon::Disabled);
        x += iconWidth + gap;
    }
    painter->save();
    painter->setPen(colour);
    painter->drawText(QRect(x, option->rect.y(), option->rect.right() - x, option->rect.height()),
                      int(Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine | Qt::TextShowMnemonic), option->text);
    painter->restore();
}

/// "Dead letters (6)" -> {"Dead letters", "6"}.
std::pair<QString, QString> labelAndBadge(const QString &text)
{
    static const QRegularExpression pattern(u"^(.*) \\(([0-9,.+]+)\\)$"_s);
    const QRegularExpressionMatch match = pattern.match(text);
    return match.hasMatch() ? std::pair(match.captured(1), match.captured(2)) : std::pair(text, QString());
}

int badgeWidth(const QString &badge)
{
    return badge.isEmpty() ? 0 : QFontMetrics(smallFont()).horizontalAdvance(badge) + 14;
}

/// Behind the text of an inner tab, which begins where the text below it does.
constexpr int InnerTabGap = 18;

bool isInner(const QWidget *widget)
{
    return widget && widget->property(InnerTabsProperty).toBool();
}

void drawTabShape(const QStyleOptionTab *option, QPainter *painter, const QWidget *widget)
{
    const Tokens &tokens = tokensOf(option->palette);
    const bool selected = option->state & QStyle::State_Selected;
    const bool hover = option->state & QStyle::State_MouseOver;
    const QRect rect = option->rect;
    if (isInner(widget)) {
        if (selected)
            painter->fillRect(QRect(rect.left(), rect.bottom() - 1, rect.width() - InnerTabGap, 2), tokens.accent);
    } else if (selected) {
        painter->fillRect(rect, tokens.panel);
        painter->fillRect(QRect(rect.left(), rect.top(), rect.width(), 2), tokens.accent);
    } else {
        painter->fillRect(rect.adjusted(0, 0, 0, -1), hover ? mixed(tokens.header, tokens.line, 0.35) : tokens.header);
    }
    if (!keyboardFocus(option))
        return;
    if (isInner(widget)) // its text begins at its edge: no room for a ring
        painter->fillRect(rect.adjusted(0, 5, -InnerTabGap, -1), tokens.selection);
    else
        roundRect(painter, rect.adjusted(3, 5, -3, -4), QColor(), tokens.accent, 3);
}

void drawTabLabel(const QStyleOptionTab *option, QPainter *painter, const QWidget *widget)
{
    const Tokens &tokens = tokensOf(option->palette);
    const bool selected = option->state & QStyle::State_Selected;
    const bool hover = option->state & QStyle::State_MouseOver;
    const auto [label, badge] = labelAndBadge(option->text);
    painter->save();
    QFont font = widget ? widget->font() : painter->font();
    if (selected)
        font.setWeight(QFont::DemiBold);
    painter->setFont(font);
    painter->setPen(selected || hover ? tokens.text : tokens.muted);
    const QFontMetrics metrics(font);
    const int badgeSpace = badge.isEmpty() ? 0 : badgeWidth(badge) + 6;
    const bool inner = isInner(widget);
    const int room = option->rect.width() - badgeSpace - (inner ? InnerTabGap : 12);
    const QString shown = metrics.elidedText(label, Qt::ElideRight, room, Qt::TextShowMnemonic);
    const int width = metrics.size(Qt::TextShowMnemonic, shown).width();
    const int x = option->rect.x() + (inner ? 0 : (option->rect.width() - width - badgeSpace) / 2);
    painter->drawText(QRect(x, option->rect.y(), width + 2, option->rect.height()),
                      int(Qt::AlignVCenter | Qt::AlignLeft | Qt::TextShowMnemonic), shown);
    if (!badge.isEmpty()) {
        const QFont small = smallFont();
        const int height = QFontMetrics(small).height() + 2;
        const QRect pill(x + width + 6, option->rect.y() + (option->rect.height() - height) / 2 + 1, badgeWidth(badge),
                         height);
        roundRect(painter, pill, tokens.dead, QColor(), height / 2.0);
        painter->setFont(small);
        painter->setPen(tokens.onAccent);
        painter->drawText(pill, Qt::AlignCenter, badge);
    }
    painter->restore();
}

void drawHeaderSection(const QStyleOptionHeader *option, QPainter *painter)
{
    const Tokens &tokens = tokensOf(option->palette);
    painter->fillRect(option->rect, tokens.header);
    painter->fillRect(QRect(option->rect.left(), option->rect.bottom(), option->rect.width(), 1), tokens.line);
}

void drawHeaderLabel(const QStyleOptionHeader *option, QPainter *painter)
{
    const Tokens &tokens = tokensOf(option->palette);
    painter->save();
    painter->setFont(headingFont());
    painter->setPen(option->sortIndicator != QStyleOptionHeader::None ? tokens.text : tokens.muted);
    // Qt takes the margin off at all four sides; above and below the section's own height is enough.
    const QRect rect = option->rect.adjusted(0, -SpacingUnit, 0, SpacingUnit - 1);
    const QFontMetrics metrics(painter->font());
    const QString text = metrics.elidedText(option->text, Qt::ElideRight, rect.width());
    painter->drawText(rect, int(Qt::AlignVCenter | Qt::AlignLeft), text);
    if (option->sortIndicator != QStyleOptionHeader::None) {
        const QRect place(rect.x() + metrics.horizontalAdvance(text) + 2, rect.y(), 14, rect.height());
        // As elsewhere in Qt: SortDown is drawn for ascending order.
        drawIcon(painter, place,
                 option->sortIndicator == QStyleOptionHeader::SortDown ? u"chevron-up"_s : u"chevron-down"_s,
                 tokens.text, 12);
    }
    painter->restore();
}

void drawScrollBar(const QStyleOptionSlider *option, QPainter *painter, const QRect &slider)
{
    const Tokens &tokens = tokensOf(option->palette);
    painter->fillRect(option->rect, tokens.panel);
    if (option->minimum >= option->maximum)
        return;
    const bool active =
        (option->state & QStyle::State_Sunken) && (option->activeSubControls & QStyle::SC_ScrollBarSlider);
    const bool hover = option->state & QStyle::State_MouseOver;
    const QColor colour = mixed(tokens.panel, tokens.muted, active ? 0.75 : hover ? 0.6 : 0.35);
    const int inset = hover || active ? 2 : 3;
    const QRect handle = option->orientation == Qt::Vertical ? slider.adjusted(inset, 1, -inset, -1)
                                                             : slider.adjusted(1, inset, -1, -inset);
    roundRect(painter, handle, colour, QColor(), std::min(handle.width(), handle.height()) / 2.0);
}

void drawFieldFrame(const QStyleOption *option, QPainter *painter)
{
    const Tokens &tokens = tokensOf(option->palette);
    const bool focus = option->state & QStyle::State_HasFocus;
    const bool hover = option->state & QStyle::State_MouseOver;
    roundRect(painter, option->rect, tokens.panel,
              focus       ? tokens.accent
                  : hover ? mixed(tokens.line, tokens.muted, 0.4)
                          : tokens.line);
}

/// Its length is how much is done; all of it in a lighter colour: how much there is is not known.
void drawProgress(const QStyleOptionProgressBar *option, QPainter *painter)
{
    const Tokens &tokens = tokensOf(option->palette);
    const bool isBusy = option->maximum <= option->minimum;
    QRect rect = option->rect;
    if (!isBusy) {
        const double share = double(option->progress - option->minimum) / double(option->maximum - option->minimum);
        rect.setWidth(int(rect.width() * std::clamp(share, 0.0, 1.0)));
    }
    if (rect.width() > 0)
        roundRect(painter, rect, isBusy ? mixed(tokens.line, tokens.accent, 0.5) : tokens.accent, QColor(),
                  ProgressHeight / 2.0);
}

} // namespace

void setLook(QAbstractButton *button, Look look)
{
    button->setProperty(LookProperty, int(look));
    button->update();
}

void setInnerTabs(QTabBar *bar)
{
    bar->setProperty(InnerTabsProperty, true);
}

ConsoleStyle::ConsoleStyle() : QProxyStyle(QStyleFactory::create(u"Fusion"_s))
{
    setObjectName(u"sendonce"_s);
}

int ConsoleStyle::pixelMetric(PixelMetric metric, const QStyleOption *option, const QWidget *widget) const
{
    switch (metric) {
    case PM_DockWidgetSeparatorExtent:
    case PM_SplitterWidth:
        return 1;
    case PM_ScrollBarExtent:
        return ScrollExtent;
    case PM_ScrollBarSliderMin:
        return 28;
    case PM_ScrollView_ScrollBarSpacing:
    case PM_DockWidgetFrameWidth:
    case PM_DockWidgetTitleMargin:
    case PM_TabBarTabShiftVertical:
    case PM_TabBarTabShiftHorizontal:
    case PM_TabBarTabOverlap:
    case PM_TabBarBaseOverlap:
    case PM_TabBarBaseHeight:
    case PM_ToolBarFrameWidth:
    case PM_ToolBarItemMargin:
    case PM_ButtonShiftHorizontal:
    case PM_ButtonShiftVertical:
    case PM_MenuBarPanelWidth:
    case PM_MenuBarVMargin:
        return 0;
    case PM_ToolBarItemSpacing:
    case PM_LayoutHorizontalSpacing:
    case PM_LayoutVerticalSpacing:
        return SpacingUnit;
    case PM_LayoutLeftMargin:
    case PM_LayoutTopMargin:
    case PM_LayoutRightMargin:
    case PM_LayoutBottomMargin:
        return 2 * SpacingUnit;
    case PM_MenuBarHMargin:
        return 4;
    case PM_MenuBarItemSpacing:
        return 0;
    case PM_MenuPanelWidth:
        return 1;
    case PM_MenuHMargin:
    case PM_MenuVMargin:
        return 4;
    case PM_HeaderMargin:
        return SpacingUnit;
    case PM_HeaderMarkSize:
        return 12;
    case PM_SmallIconSize:
    case PM_ButtonIconSize:
    case PM_ToolBarIconSize:
    case PM_LineEditIconSize:
        return iconEdge();
    case PM_LineEditIconMargin:
        return 6;
    case PM_IndicatorWidth:
    case PM_IndicatorHeight:
    case PM_ExclusiveIndicatorWidth:
    case PM_ExclusiveIndicatorHeight:
        return iconEdge() - 2; // with the text
    default:
        return QProxyStyle::pixelMetric(metric, option, widget);
    }
}

int ConsoleStyle::styleHint(StyleHint hint, const QStyleOption *option, const QWidget *widget,
                            QStyleHintReturn *returnData) const
{
    switch (hint) {
    case SH_EtchDisabledText:
    case SH_DitherDisabledText:
    case SH_ItemView_ShowDecorationSelected:
    case SH_ScrollView_FrameOnlyAroundContents:
    case SH_TabBar_PreferNoArrows:
    case SH_ComboBox_Popup:
        return hint == SH_ItemView_ShowDecorationSelected;
    case SH_ToolTipLabel_Opacity:
        return 255;
    case SH_TabBar_Alignment:
        return Qt::AlignLeft;
    case SH_Header_ArrowAlignment:
        return Qt::AlignRight | Qt::AlignVCenter;
    case SH_ScrollBar_LeftClickAbsolutePosition:
        return 0;
    default:
        return QProxyStyle::styleHint(hint, option, widget, returnData);
    }
}

QSize ConsoleStyle::sizeFromContents(ContentsType type, const QStyleOption *option, const QSize &size,
                                     const QWidget *widget) const
{
    switch (type) {
    case CT_PushButton: {
        const auto *button = qstyleoption_cast<const QStyleOptionButton *>(option);
        const QFontMetrics metrics = option ? option->fontMetrics : QFontMetrics(widget->font());
        int width = 2 * ButtonMargin;
        if (button) {
            width += metrics.size(Qt::TextShowMnemonic, button->text).width();
            if (!button->icon.isNull())
                width += button->iconSize.width() + (button->text.isEmpty() ? 0 : SpacingUnit);
            if (button->text.isEmpty())
                width = controlHeight(metrics);
        }
        return QSize(width, controlHeight(metrics) - (lookOf(widget) == Look::Pill ? 2 : 0));
    }
    case CT_LineEdit:
        return QSize(size.width() + 8, controlHeight(option ? option->fontMetrics : QFontMetrics(widget->font())));
    case CT_ComboBox:
        return QSize(size.width() + 2 * ButtonMargin + ArrowWidth - 8, controlHeight(option->fontMetrics));
    case CT_SpinBox:
        return QSize(size.width() + ArrowWidth, controlHeight(option->fontMetrics));
    case CT_ToolButton: {
        const auto *button = qstyleoption_cast<const QStyleOptionToolButton *>(option);
        const int edge = controlHeight(option->fontMetrics);
        if (button && button->toolButtonStyle == Qt::ToolButtonIconOnly)
            return QSize(edge, edge);
        return QSize(size.width() + 12, edge);
    }
    case CT_TabBarTab: {
        const auto *tab = qstyleoption_cast<const QStyleOptionTab *>(option);
        if (!tab)
            break;
        QFont bold = widget ? widget->font() : strongFont();
        bold.setWeight(QFont::DemiBold);
        const QFontMetrics metrics(bold);
        const auto [label, badge] = labelAndBadge(tab->text);
        const int badgeSpace = badge.isEmpty() ? 0 : badgeWidth(badge) + 6;
        const bool inner = isInner(widget);
        return QSize(metrics.size(Qt::TextShowMnemonic, label).width() + badgeSpace + (inner ? InnerTabGap : 28),
                     metrics.height() + (inner ? 14 : 18));
    }
    case CT_HeaderSection: {
        const auto *header = qstyleoption_cast<const QStyleOptionHeader *>(option);
        const QFontMetrics metrics(headingFont());
        const int arrow = header && header->sortIndicator != QStyleOptionHeader::None ? 16 : 0;
        return QSize((header ? metrics.horizontalAdvance(header->text) : 0) + 2 * SpacingUnit + arrow,
                     metrics.height() + 11);
    }
    case CT_ProgressBar: {
        const auto *bar = qstyleoption_cast<const QStyleOptionProgressBar *>(option);
        if (!bar || bar->textVisible)
            break;
        return QSize(size.width(), ProgressHeight);
    }
    case CT_MenuBarItem:
        return QSize(size.width() + 16, option->fontMetrics.height() + 10);
    case CT_MenuItem: {
        const QSize base = QProxyStyle::sizeFromContents(type, option, size, widget);
        const auto *item = qstyleoption_cast<const QStyleOptionMenuItem *>(option);
        if (item && item->menuItemType == QStyleOptionMenuItem::Separator)
            return QSize(base.width(), 9);
        return QSize(base.width() + 16, option->fontMetrics.height() + 10);
    }
    default:
        break;
    }
    return QProxyStyle::sizeFromContents(type, option, size, widget);
}

QRect ConsoleStyle::subElementRect(SubElement element, const QStyleOption *option, const QWidget *widget) const
{
    switch (element) {
    case SE_LineEditContents:
        if (qobject_cast<const QAbstractSpinBox *>(widget ? widget->parentWidget() : nullptr))
            return option->rect;
        return option->rect.adjusted(6, 1, -6, -1);
    case SE_HeaderLabel:
        return option->rect.adjusted(SpacingUnit, 0, -SpacingUnit / 2, -1);
    case SE_PushButtonContents:
    case SE_PushButtonFocusRect:
        return option->rect;
    case SE_TabWidgetTabContents:
    case SE_TabWidgetTabPane:
        return QProxyStyle::subElementRect(element, option, widget);
    default:
        return QProxyStyle::subElementRect(element, option, widget);
    }
}

QRect ConsoleStyle::subControlRect(ComplexControl control, const QStyleOptionComplex *option, SubControl part,
                                   const QWidget *widget) const
{
    const QRect rect = option->rect;
    if (control == CC_ScrollBar) {
        const auto *slider = qstyleoption_cast<const QStyleOptionSlider *>(option);
        const bool vertical = slider->orientation == Qt::Vertical;
        const int length = vertical ? rect.height() : rect.width();
        const qint64 range = qint64(slider->maximum) - slider->minimum;
        int handle = length;
        if (range > 0)
            handle = std::clamp(int(qint64(slider->pageStep) * length / (range + slider->pageStep)),
                                std::min(28, length), length);
        const int start = sliderPositionFromValue(slider->minimum, slider->maximum, slider->sliderPosition,
                                                  length - handle, slider->upsideDown);
        const auto span = [&](int from, int size) {
            return vertical ? QRect(rect.x(), rect.y() + from, rect.width(), size)
                            : QRect(rect.x() + from, rect.y(), size, rect.height());
        };
        switch (part) {
        case SC_ScrollBarSlider:
            return span(start, handle);
        case SC_ScrollBarGroove:
            return rect;
        case SC_ScrollBarSubPage:
            return span(0, start);
        case SC_ScrollBarAddPage:
            return span(start + handle, length - start - handle);
        default:
            return {};
        }
    }
    if (control == CC_SpinBox) {
        const int left = rect.right() - ArrowWidth + 1;
        const int middle = rect.height() / 2;
        switch (part) {
        case SC_SpinBoxUp:
            return QRect(left, rect.top() + 1, ArrowWidth - 1, middle - 1);
        case SC_SpinBoxDown:
            return QRect(left, rect.top() + middle, ArrowWidth - 1, rect.height() - middle - 1);
        case SC_SpinBoxEditField:
            return rect.adjusted(8, 1, -ArrowWidth, -1);
        case SC_SpinBoxFrame:
            return rect;
        default:
            return {};
        }
    }
    if (control == CC_ComboBox) {
        switch (part) {
        case SC_ComboBoxEditField:
            return rect.adjusted(ButtonMargin, 1, -ArrowWidth, -1);
        case SC_ComboBoxArrow:
            return QRect(rect.right() - ArrowWidth, rect.top(), ArrowWidth, rect.height());
        default:
            break;
        }
    }
    return QProxyStyle::subControlRect(control, option, part, widget);
}

void ConsoleStyle::drawPrimitive(PrimitiveElement element, const QStyleOption *option, QPainter *painter,
                                 const QWidget *widget) const
{
    const Tokens &tokens = tokensOf(option->palette);
    switch (element) {
    case PE_PanelButtonCommand:
        drawBevel(option, painter, lookOf(widget));
        return;
    case PE_PanelButtonTool:
        drawBevel(option, painter, Look::Flat);
        return;
    case PE_FrameFocusRect:
        if (keyboardFocus(option) && !qobject_cast<const QAbstractItemView *>(widget))
            roundRect(painter, option->rect, QColor(), tokens.accent, 3);
        return;
    case PE_PanelLineEdit:
        if (widget && qobject_cast<const QAbstractSpinBox *>(widget->parentWidget()))
            return;
        if (const auto *frame = qstyleoption_cast<const QStyleOptionFrame *>(option); frame && frame->lineWidth > 0)
            drawFieldFrame(option, painter);
        return;
    case PE_FrameLineEdit:
    case PE_Frame:
    case PE_FrameTabWidget:
    case PE_FrameDockWidget:
    case PE_FrameStatusBarItem:
    case PE_FrameButtonTool:
    case PE_IndicatorToolBarHandle:
    case PE_IndicatorTabTear:
        return;
    case PE_FrameMenu:
        painter->save();
        painter->setPen(tokens.line);
        painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
        painter->restore();
        return;
    case PE_IndicatorCheckBox:
    case PE_IndicatorRadioButton:
        drawIndicator(option, painter, element == PE_IndicatorRadioButton);
        return;
    case PE_PanelMenu:
        painter->fillRect(option->rect, tokens.panel);
        return;
    case PE_PanelMenuBar:
    case PE_PanelStatusBar:
        return;
    case PE_PanelTipLabel:
        painter->fillRect(option->rect, tokens.header);
        painter->save();
        painter->setPen(mixed(tokens.line, tokens.muted, 0.3));
        painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
        painter->restore();
        return;
    case PE_FrameTabBarBase:
        if (widget && !isInner(widget)) { // under the whole bar; inner tabs stand on a line of their panel
            const QRect rect = widget->rect();
            painter->fillRect(rect, tokens.header);
            painter->fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), tokens.line);
        }
        return;
    case PE_PanelScrollAreaCorner:
        painter->fillRect(option->rect, tokens.panel);
        return;
    case PE_IndicatorDockWidgetResizeHandle:
        painter->fillRect(option->rect, tokens.line);
        return;
    case PE_IndicatorTabClose:
        drawIcon(painter, option->rect, u"close"_s, tokens.muted, 14);
        return;
    case PE_IndicatorArrowDown:
    case PE_IndicatorArrowUp:
    case PE_IndicatorArrowRight:
        drawIcon(painter, option->rect,
                 element == PE_IndicatorArrowDown     ? u"chevron-down"_s
                     : element == PE_IndicatorArrowUp ? u"chevron-up"_s
                                                      : u"chevron-right"_s,
                 tokens.muted, 12);
        return;
    default:
        QProxyStyle::drawPrimitive(element, option, painter, widget);
    }
}

void ConsoleStyle::drawControl(ControlElement element, const QStyleOption *option, QPainter *painter,
                               const QWidget *widget) const
{
    const Tokens &tokens = tokensOf(option->palette);
    switch (element) {
    case CE_PushButtonBevel:
        drawBevel(option, painter, lookOf(widget));
        return;
    case CE_PushButtonLabel:
        if (const auto *button = qstyleoption_cast<const QStyleOptionButton *>(option))
            drawButtonLabel(button, painter, lookOf(widget));
        return;
    case CE_TabBarTabShape:
        if (const auto *tab = qstyleoption_cast<const QStyleOptionTab *>(option))
            drawTabShape(tab, painter, widget);
        return;
    case CE_TabBarTabLabel:
        if (const auto *tab = qstyleoption_cast<const QStyleOptionTab *>(option))
            drawTabLabel(tab, painter, widget);
        return;
    case CE_HeaderSection:
        if (const auto *header = qstyleoption_cast<const QStyleOptionHeader *>(option))
            drawHeaderSection(header, painter);
        return;
    case CE_HeaderLabel:
        if (const auto *header = qstyleoption_cast<const QStyleOptionHeader *>(option))
            drawHeaderLabel(header, painter);
        return;
    case CE_HeaderEmptyArea:
        painter->fillRect(option->rect, tokens.header);
        painter->fillRect(QRect(option->rect.left(), option->rect.bottom(), option->rect.width(), 1), tokens.line);
        return;
    case CE_Splitter:
        painter->fillRect(option->rect, tokens.line);
        return;
    case CE_MenuBarEmptyArea:
        painter->fillRect(option->rect, tokens.panel);
        return;
    case CE_MenuBarItem:
        if (const auto *item = qstyleoption_cast<const QStyleOptionMenuItem *>(option)) {
            const bool active = item->state & State_Selected;
            painter->fillRect(item->rect, tokens.panel);
            if (active)
                roundRect(painter, item->rect.adjusted(1, 2, -1, -2), tokens.header, QColor(), 4);
            painter->save();
            painter->setPen(item->palette.color(QPalette::ButtonText));
            const bool keys = active || (QGuiApplication::keyboardModifiers() & Qt::AltModifier);
            painter->drawText(item->rect,
                              int(Qt::AlignCenter | Qt::TextSingleLine)
                                  | int(keys ? Qt::TextShowMnemonic : Qt::TextShowMnemonic | Qt::TextHideMnemonic),
                              item->text);
            painter->restore();
        }
        return;
    case CE_ToolBar:
        painter->fillRect(option->rect, tokens.panel);
        painter->fillRect(QRect(option->rect.left(), option->rect.bottom(), option->rect.width(), 1), tokens.line);
        return;
    case CE_ComboBoxLabel:
        if (const auto *combo = qstyleoption_cast<const QStyleOptionComboBox *>(option)) {
            const QRect rect = subControlRect(CC_ComboBox, combo, SC_ComboBoxEditField, widget);
            painter->save();
            painter->setPen(combo->palette.color(QPalette::ButtonText));
            if (!combo->editable)
                painter->drawText(rect, int(Qt::AlignVCenter | Qt::AlignLeft),
                                  combo->fontMetrics.elidedText(combo->currentText, Qt::ElideRight, rect.width()));
            painter->restore();
        }
        return;
    case CE_ShapedFrame:
        if (qobject_cast<const QPlainTextEdit *>(widget)) // an editor; views of text have no frame
            drawFieldFrame(option, painter);
        return;
    case CE_ProgressBarGroove:
        roundRect(painter, option->rect, tokens.line, QColor(), ProgressHeight / 2.0);
        return;
    case CE_ProgressBarContents:
        if (const auto *bar = qstyleoption_cast<const QStyleOptionProgressBar *>(option))
            drawProgress(bar, painter);
        return;
    default:
        QProxyStyle::drawControl(element, option, painter, widget);
    }
}

void ConsoleStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex *option, QPainter *painter,
                                      const QWidget *widget) const
{
    const Tokens &tokens = tokensOf(option->palette);
    switch (control) {
    case CC_ScrollBar:
        if (const auto *slider = qstyleoption_cast<const QStyleOptionSlider *>(option))
            drawScrollBar(slider, painter, subControlRect(CC_ScrollBar, slider, SC_ScrollBarSlider, widget));
        return;
    case CC_ComboBox:
        drawBevel(option, painter, Look::Plain);
        drawIcon(painter, subControlRect(CC_ComboBox, option, SC_ComboBoxArrow, widget), u"chevron-down"_s,
                 tokens.muted, iconEdge() - 2);
        return;
    case CC_SpinBox: {
        drawFieldFrame(option, painter);
        const auto *spin = qstyleoption_cast<const QStyleOptionSpinBox *>(option);
        for (const bool up : {true, false}) {
            const SubControl part = up ? SC_SpinBoxUp : SC_SpinBoxDown;
            const bool can =
                spin->stepEnabled & (up ? QAbstractSpinBox::StepUpEnabled : QAbstractSpinBox::StepDownEnabled);
            const bool over = (option->activeSubControls & part) && (option->state & State_MouseOver);
            drawIcon(painter, subControlRect(CC_SpinBox, option, part, widget),
                     up ? u"chevron-up"_s : u"chevron-down"_s,
                     !can       ? tokens.line
                         : over ? tokens.text
                                : tokens.muted,
                     iconEdge() - 4);
        }
        return;
    }
    default:
        QProxyStyle::drawComplexControl(control, option, painter, widget);
    }
}

void ConsoleStyle::polish(QWidget *widget)
{
    QProxyStyle::polish(widget);
    if (qobject_cast<QPushButton *>(widget) || qobject_cast<QComboBox *>(widget)
        || qobject_cast<QAbstractSpinBox *>(widget) || qobject_cast<QScrollBar *>(widget)
        || qobject_cast<QTabBar *>(widget) || qobject_cast<QLineEdit *>(widget) || qobject_cast<QToolButton *>(widget))
        widget->setAttribute(Qt::WA_Hover);
    if (auto *view = qobject_cast<QAbstractItemView *>(widget); view && !qobject_cast<QHeaderView *>(view))
        view->viewport()->setAttribute(Qt::WA_Hover);
}

} // namespace sendonce
