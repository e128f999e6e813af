#pragma once

#include <QTableView>

namespace sendonce {

class EmptyState;

/// The matrix as a table: titles of designs stand still at the left, those of hazards are wrapped above, each cell is a
/// glyph, a figure and a word. Columns share what room there is; where it is too little the table scrolls.
class MatrixView : public QTableView
{
    Q_OBJECT
public:
    explicit MatrixView(QWidget *parent = nullptr);

    void setModel(QAbstractItemModel *model) override;
    EmptyState *emptyState() const { return m_empty; }
    void copyAll() const; ///< as tab-separated text, with both headers

Q_SIGNALS:
    void currentCellChanged();

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void changeEvent(QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void currentChanged(const QModelIndex &current, const QModelIndex &previous) override;

private:
    void fit();

    EmptyState *m_empty;
};

} // namespace sendonce
