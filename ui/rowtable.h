#pragma once

#include "ui/celldelegate.h"

#include <QSet>
#include <QTableView>

class QAction;

namespace sendonce {

class EmptyState;

/// The table of every panel: whole rows, no grid, one delegate, words when it is empty, copying as tab-separated text.
class RowTable : public QTableView
{
    Q_OBJECT
public:
    explicit RowTable(const QString &accessibleName, QWidget *parent = nullptr);

    void setModel(QAbstractItemModel *model) override;
    EmptyState *emptyState() const { return m_empty; }

    /// Makes a column as wide as a sample text in its face, with a glyph before it or not; again whenever the font
    /// changes.
    void setColumnSample(int column, const QString &sample, Face face = Face::Body, bool glyph = false);
    void setGlyphColumn(int column);
    /// The column that takes the room that is left; the last one when none is named. \param least sample text that has
    /// room however little is left: then the table scrolls sideways
    void setStretchColumn(int column, const QString &least = {});

    /// Marks the rows of the event that was chosen somewhere; an empty id marks none.
    void highlightEvent(const QString &eventId);
    /// Selects the first row of the event and scrolls to it. False when no row is about it.
    bool revealEvent(const QString &eventId);
    void revealRow(int row);
    QString currentEventId() const;
    QList<int> selectedRows() const; ///< in the order on screen
    int selectedCount() const; ///< costs nothing, however many there are
    QModelIndexList selectedRowIndexes() const; ///< column 0, in the order on screen

    void copySelection() const;
    void addRowAction(QAction *action); ///< into the context menu

Q_SIGNALS:
    void currentRowChanged(const QModelIndex &current); ///< however it came; invalid when there is none
    void currentEventChanged(const QString &eventId); ///< by the person, not by revealEvent()

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void changeEvent(QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    bool viewportEvent(QEvent *event) override;
    void currentChanged(const QModelIndex &current, const QModelIndex &previous) override;

private:
    struct Sample
    {
        QString text;
        Face face = Face::Body;
        bool glyph = false;
        bool glyphOnly = false;
    };
    void fitToFont();
    void fitColumns();
    void stretch();
    void updateEmptyState();
    void setHoveredRow(int row);
    void rememberRows();
    void restoreRows();

    CellDelegate *m_delegate;
    EmptyState *m_empty;
    QMap<int, Sample> m_samples;
    QList<QAction *> m_rowActions;
    QSet<QString> m_selectedKeys; ///< while the model is reset, as the next two
    QString m_currentKey, m_topKey;
    int m_hovered = -1;
    int m_stretched = -1; ///< column that takes what is left, but at least m_least
    QString m_least;
    bool m_quiet = false;
};

} // namespace sendonce
