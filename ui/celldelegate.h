#pragma once

#include <QStyledItemDelegate>

namespace sendonce {

/// What the models of the console say about a cell beside its text.
enum CellRole {
    ToneRole = Qt::UserRole + 1, ///< int(Tone); none: Text
    GlyphRole, ///< name of an icon that stands for the cell, or before its text
    FaceRole, ///< int(Face); none: Body
    ElideRole, ///< int(Qt::TextElideMode); none: right
    EventIdRole, ///< the event the row is about
    CopyRole, ///< what copying the cell gives, whole; none: the text on screen
    SortRole, ///< what sorting compares
    SearchRole, ///< of a row: what the search line looks in
    RowKeyRole, ///< of a row: names it, so that it stays chosen when the model is reset; none: it does not
};
enum class Face { Body, Monospace, Figures, Strong };

/// Draws the rows of every table: glyph, tone, face, elision; selection, pointer and the event chosen elsewhere as
/// backgrounds. All of it is plain text. A cell whose text is cut shows the whole of it in its tool tip.
class CellDelegate : public QStyledItemDelegate
{
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    bool helpEvent(QHelpEvent *event, QAbstractItemView *view, const QStyleOptionViewItem &option,
                   const QModelIndex &index) override;

    void setHighlightedEvent(const QString &eventId) { m_highlighted = eventId; }
    void setHoveredRow(int row) { m_hovered = row; }

    static int glyphWidth(); ///< px, with the gap to the text
    static QFont fontOf(Face face);
    static int textWidth(Face face, const QString &text);

private:
    QString m_highlighted;
    int m_hovered = -1;
};

} // namespace sendonce
