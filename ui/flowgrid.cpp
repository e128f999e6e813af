#include "ui/flowgrid.h"

#include "ui/theme.h"

#include <QEvent>
#include <QGridLayout>

#include <algorithm>

namespace sendonce {

constexpr int ColumnGap = 2 * SpacingUnit;

FlowGrid::FlowGrid(int mostColumns, QWidget *parent)
    : QWidget(parent)
    , m_grid(new QGridLayout(this))
    , m_mostColumns(mostColumns)
{
    m_grid->setContentsMargins(2 * SpacingUnit, SpacingUnit, 2 * SpacingUnit, SpacingUnit);
    m_grid->setHorizontalSpacing(ColumnGap);
    m_grid->setVerticalSpacing(SpacingUnit);
}

void FlowGrid::add(QWidget *cell)
{
    m_cells += cell;
    m_columns = 0;
    arrange();
}

QSize FlowGrid::minimumSizeHint() const
{
    const QMargins margins = m_grid->contentsMargins();
    return QSize(widestCell() + margins.left() + margins.right(), QWidget::minimumSizeHint().height());
}

void FlowGrid::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    arrange();
}

bool FlowGrid::event(QEvent *event)
{
    if (event->type() == QEvent::LayoutRequest) // cells may have become wider, with the font for one
        arrange();
    return QWidget::event(event);
}

int FlowGrid::widestCell() const
{
    int widest = 0;
    for (const QWidget *cell : m_cells)
        widest = std::max(widest, cell->minimumSizeHint().width());
    return widest;
}

void FlowGrid::arrange()
{
    const QMargins margins = m_grid->contentsMargins();
    const int room = width() - margins.left() - margins.right() + ColumnGap;
    const int columns = std::clamp(room / (widestCell() + ColumnGap), 1, m_mostColumns);
    if (columns == m_columns)
        return;
    for (int column = 0; column < m_columns; ++column)
        m_grid->setColumnStretch(column, 0);
    for (QWidget *cell : std::as_const(m_cells))
        m_grid->removeWidget(cell);
    m_columns = columns;
    for (int i = 0; i < int(m_cells.size()); ++i)
        m_grid->addWidget(m_cells.at(i), i / columns, i % columns, Qt::AlignTop);
    for (int column = 0; column < columns; ++column)
        m_grid->setColumnStretch(column, 1);
    const int rows = (int(m_cells.size()) + columns - 1) / columns;
    for (int row = 0; row < m_grid->rowCount(); ++row)
        m_grid->setRowStretch(row, 0);
    m_grid->setRowStretch(rows, 1); // below the last one
    updateGeometry();
}

} // namespace sendonce
