#include "ui/celldelegate.h"

#include "ui/displaytext.h"
#include "ui/figures.h"
#include "ui/icons.h"
#include "ui/theme.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

namespace sendonce {
namespace {

int glyphEdge()
{
    return iconEdge() - 2;
}

Face faceOf(const QModelIndex &index)
{
    return Face(index.data(FaceRole).toInt());
}

} // namespace

void CellDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const Tokens &tokens = tokensOf(option.palette);
    const bool selected = option.state & QStyle::State_Selected;
    const bool focused = option.state & QStyle::State_Active && option.widget && option.widget->hasFocus();
    const bool chosen = !m_highlighted.isEmpty() && index.data(EventIdRole).toString() == m_highlighted;
    QColor ground = index.row() % 2 ? tokens.zebra : tokens.panel;
    if (selected)
        ground = tokens.selection;
    else if (chosen)
        ground = mixed(ground, tokens.selection, 0.6);
    else if (index.row() == m_hovered)
        ground = mixed(ground, tokens.header, 0.9);
    painter->fillRect(option.rect, ground);
    if (index.column() == 0 && (chosen || (selected && focused)))
        painter->fillRect(QRect(option.rect.left(), option.rect.top(), 2, option.rect.height()), tokens.accent);

    const QVariant tone = index.data(ToneRole);
    const QColor colour = tone.isValid() ? tokens.of(Tone(tone.toInt())) : tokens.text;
    QRect rect = option.rect.adjusted(SpacingUnit, 0, -SpacingUnit, 0);
    const QString glyph = index.data(GlyphRole).toString();
    const QString text = index.data(Qt::DisplayRole).toString();
    if (!glyph.isEmpty()) {
        const bool alone = text.isEmpty();
        drawIcon(painter, alone ? option.rect : QRect(rect.left(), rect.top(), glyphEdge(), rect.height()), glyph,
                 colour, glyphEdge());
        rect.adjust(glyphWidth(), 0, 0, 0);
    }
    if (text.isEmpty())
        return;
    painter->save();
    const Face face = faceOf(index);
    painter->setFont(fontOf(face));
    painter->setPen(colour);
    if (face == Face::Figures) {
        drawFigures(painter, rect, Qt::AlignVCenter | Qt::AlignLeft, text);
    } else {
        const QVariant elide = index.data(ElideRole);
        const auto mode = elide.isValid() ? Qt::TextElideMode(elide.toInt()) : Qt::ElideRight;
        painter->drawText(rect, int(Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine),
                          painter->fontMetrics().elidedText(text, mode, rect.width()));
    }
    painter->restore();
}

QSize CellDelegate::sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const QString text = index.data(Qt::DisplayRole).toString();
    const bool glyph = !index.data(GlyphRole).toString().isEmpty();
    const int width = textWidth(faceOf(index), text) + 2 * SpacingUnit + (glyph ? glyphWidth() : 0);
    return QSize(width, option.fontMetrics.height() + 12);
}

bool CellDelegate::helpEvent(QHelpEvent *event, QAbstractItemView *view, const QStyleOptionViewItem &option,
                             const QModelIndex &index)
{
    if (event->type() == QEvent::ToolTip && index.isValid() && !index.data(Qt::ToolTipRole).isValid()
        && sizeHint(option, index).width() > view->visualRect(index).width()) {
        QToolTip::showText(event->globalPos(), toolTipText(index.data(Qt::DisplayRole).toString()), view);
        return true;
    }
    return QStyledItemDelegate::helpEvent(event, view, option, index);
}

int CellDelegate::glyphWidth()
{
    return glyphEdge() + SpacingUnit - 2;
}

QFont CellDelegate::fontOf(Face face)
{
    switch (face) {
    case Face::Monospace:
        return monospaceFont();
    case Face::Strong:
        return strongFont();
    case Face::Body:
    case Face::Figures:
        break;
    }
    return QApplication::font();
}

int CellDelegate::textWidth(Face face, const QString &text)
{
    const QFontMetrics metrics(fontOf(face));
    return face == Face::Figures ? figuresWidth(metrics, text) : metrics.horizontalAdvance(text);
}

} // namespace sendonce
