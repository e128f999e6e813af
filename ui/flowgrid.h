#pragma once

#include <QWidget>

class QGridLayout;

namespace sendonce {

/// Cells of one width, side by side in as many columns as there is room for.
class FlowGrid : public QWidget
{
    Q_OBJECT
public:
    explicit FlowGrid(int mostColumns, QWidget *parent = nullptr);

    void add(QWidget *cell);

    QSize minimumSizeHint() const override; ///< of one column

protected:
    void resizeEvent(QResizeEvent *event) override;
    bool event(QEvent *event) override;

private:
    int widestCell() const;
    void arrange();

    QGridLayout *m_grid;
    QList<QWidget *> m_cells;
    int m_mostColumns;
    int m_columns = 0;
};

} // namespace sendonce
