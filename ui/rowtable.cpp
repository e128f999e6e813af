#include "ui/rowtable.h"

#include "ui/emptystate.h"
#include "ui/icons.h"
#include "ui/theme.h"

#include <QAction>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QHoverEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QScopedValueRollback>

#include <algorithm>
#include <numeric>
#include <utility>

using namespace Qt::StringLiterals;

namespace sendonce {

RowTable::RowTable(const QString &accessibleName, QWidget *parent)
    : QTableView(parent)
    , m_delegate(new CellDelegate(this))
    , m_empty(new EmptyState(this))
{
    setAccessibleName(accessibleName);
    setItemDelegate(m_delegate);
    setFrameShape(QFrame::NoFrame);
    setShowGrid(false);
    setWordWrap(false);
    setCornerButtonEnabled(false);
    setTabKeyNavigation(false);
    setSelectionBehavior(SelectRows);
    setSelectionMode(ExtendedSelection);
    setEditTriggers(NoEditTriggers);
    setVerticalScrollMode(ScrollPerItem);
    setHorizontalScrollMode(ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    setMouseTracking(true);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSectionsMovable(true);
    horizontalHeader()->setStretchLastSection(true);
    horizontalHeader()->setMinimumSectionSize(32);
    horizontalHeader()->setFocusPolicy(Qt::NoFocus);
    fitToFont();
}

void RowTable::setModel(QAbstractItemModel *model)
{
    QTableView::setModel(model);
    fitColumns();
    connect(model, &QAbstractItemModel::rowsInserted, this, &RowTable::updateEmptyState);
    connect(model, &QAbstractItemModel::rowsRemoved, this, &RowTable::updateEmptyState);
    connect(model, &QAbstractItemModel::modelReset, this, &RowTable::updateEmptyState);
    connect(model, &QAbstractItemModel::modelAboutToBeReset, this, &RowTable::rememberRows);
    connect(model, &QAbstractItemModel::modelReset, this, &RowTable::restoreRows);
    updateEmptyState();
}

void RowTable::setColumnSample(int column, const QString &sample, Face face, bool glyph)
{
    m_samples.insert(column, {sample, face, glyph, false});
    fitColumns();
}

void RowTable::setGlyphColumn(int column)
{
    m_samples.insert(column, {{}, Face::Body, true, true});
    horizontalHeader()->setSectionResizeMode(column, QHeaderView::Fixed);
    fitColumns();
}

void RowTable::setStretchColumn(int column, const QString &least)
{
    horizontalHeader()->setStretchLastSection(false);
    if (least.isEmpty()) {
        horizontalHeader()->setSectionResizeMode(column, QHeaderView::Stretch);
        return;
    }
    m_stretched = column;
    m_least = least;
    connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this](int section) {
        if (section != m_stretched)
            stretch();
    });
    stretch();
}

/// QHeaderView's own stretching would squeeze the column to nothing before the table scrolls.
void RowTable::stretch()
{
    if (m_stretched < 0 || !model())
        return;
    const int others = horizontalHeader()->length() - columnWidth(m_stretched);
    // With no rows there is nothing to scroll to: the headings stay.
    const bool isEmpty = model()->rowCount() == 0;
    setHorizontalScrollBarPolicy(isEmpty ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded);
    const QString words = isEmpty ? model()->headerData(m_stretched, Qt::Horizontal).toString() : m_least;
    const int least = CellDelegate::textWidth(Face::Body, words) + 2 * SpacingUnit;
    setColumnWidth(m_stretched, std::max(least, viewport()->width() - others));
}

void RowTable::highlightEvent(const QString &eventId)
{
    m_delegate->setHighlightedEvent(eventId);
    viewport()->update();
}

bool RowTable::revealEvent(const QString &eventId)
{
    if (!model() || eventId.isEmpty())
        return false;
    if (currentEventId() == eventId)
        return true;
    for (int row = 0; row < model()->rowCount(); ++row) {
        const QModelIndex index = model()->index(row, 0);
        if (index.data(EventIdRole).toString() != eventId)
            continue;
        revealRow(row);
        return true;
    }
    return false;
}

void RowTable::revealRow(int row)
{
    const QScopedValueRollback quiet(m_quiet, true);
    selectRow(row);
    scrollTo(model()->index(row, 0));
}

QString RowTable::currentEventId() const
{
    return currentIndex().data(EventIdRole).toString();
}

QList<int> RowTable::selectedRows() const
{
    QList<int> rows;
    if (!selectionModel())
        return rows;
    // The ranges, not the indexes: those are one allocation for each cell of each row.
    const QItemSelection selection = selectionModel()->selection();
    for (const QItemSelectionRange &range : selection) {
        if (range.left() > 0)
            continue; // the row's other part
        for (int row = range.top(); row <= range.bottom(); ++row)
            rows.append(row);
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

int RowTable::selectedCount() const
{
    if (!selectionModel())
        return 0;
    const QItemSelection selection = selectionModel()->selection();
    return std::accumulate(selection.cbegin(), selection.cend(), 0, [](int sum, const QItemSelectionRange &range) {
        return sum + (range.left() > 0 ? 0 : range.height());
    });
}

QModelIndexList RowTable::selectedRowIndexes() const
{
    QModelIndexList indexes;
    for (const int row : selectedRows())
        indexes.append(model()->index(row, 0));
    return indexes;
}

void RowTable::copySelection() const
{
    QStringList lines;
    for (const QModelIndex &row : selectedRowIndexes()) {
        QStringList cells;
        for (int visual = 0; visual < model()->columnCount(); ++visual) {
            const int column = horizontalHeader()->logicalIndex(visual);
            if (isColumnHidden(column))
                continue;
            const QModelIndex cell = row.siblingAtColumn(column);
            const QVariant whole = cell.data(CopyRole);
            QString text = whole.isValid() ? whole.toString() : cell.data(Qt::DisplayRole).toString();
            // One row a line, one cell a column, whatever a stranger wrote into it.
            text.replace(u'\t', u' ').replace(u'\n', u' ').replace(u'\r', u' ');
            cells += text;
        }
        lines += cells.join(u'\t');
    }
    if (!lines.isEmpty())
        QGuiApplication::clipboard()->setText(lines.join(u'\n'));
}

void RowTable::addRowAction(QAction *action)
{
    m_rowActions += action;
}

void RowTable::keyPressEvent(QKeyEvent *event)
{
    if (event->matches(QKeySequence::Copy)) {
        copySelection();
        return;
    }
    QTableView::keyPressEvent(event);
}

void RowTable::contextMenuEvent(QContextMenuEvent *event)
{
    if (!indexAt(event->pos()).isValid())
        return;
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (QAction *action : std::as_const(m_rowActions))
        menu->addAction(action);
    if (!m_rowActions.isEmpty())
        menu->addSeparator();
    connect(menu->addAction(icon(u"copy"_s), tr("Copy rows")), &QAction::triggered, this, &RowTable::copySelection);
    if (const QString eventId = currentEventId(); !eventId.isEmpty())
        connect(menu->addAction(tr("Copy event id")), &QAction::triggered, this,
                [eventId] { QGuiApplication::clipboard()->setText(eventId); });
    menu->popup(event->globalPos());
}

void RowTable::changeEvent(QEvent *event)
{
    QTableView::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        fitToFont();
}

void RowTable::resizeEvent(QResizeEvent *event)
{
    QTableView::resizeEvent(event);
    stretch();
}

bool RowTable::viewportEvent(QEvent *event)
{
    switch (event->type()) {
    case QEvent::HoverMove:
    case QEvent::HoverEnter:
        setHoveredRow(indexAt(static_cast<QHoverEvent *>(event)->position().toPoint()).row());
        break;
    case QEvent::HoverLeave:
        setHoveredRow(-1);
        break;
    default:
        break;
    }
    return QTableView::viewportEvent(event);
}

void RowTable::currentChanged(const QModelIndex &current, const QModelIndex &previous)
{
    QTableView::currentChanged(current, previous);
    if (current.row() == previous.row())
        return; // another cell of the same row; both are -1 when there was and is none
    Q_EMIT currentRowChanged(current);
    if (!m_quiet && current.isValid())
        Q_EMIT currentEventChanged(current.data(EventIdRole).toString());
}

void RowTable::fitToFont()
{
    verticalHeader()->setMinimumSectionSize(fontMetrics().height());
    verticalHeader()->setDefaultSectionSize(sendonce::rowHeight(this));
    fitColumns();
}

void RowTable::fitColumns()
{
    if (!model())
        return;
    for (auto it = m_samples.cbegin(); it != m_samples.cend(); ++it) {
        const int header =
            QFontMetrics(headingFont()).horizontalAdvance(model()->headerData(it.key(), Qt::Horizontal).toString());
        const int text = CellDelegate::textWidth(it->face, it->text) + (it->glyph ? CellDelegate::glyphWidth() : 0);
        setColumnWidth(it.key(),
                       it->glyphOnly ? iconEdge() + 2 * SpacingUnit : std::max(text, header) + 2 * SpacingUnit + 1);
    }
    stretch();
}

void RowTable::updateEmptyState()
{
    const bool isEmpty = !model() || model()->rowCount() == 0;
    if (isEmpty == !m_empty->isHidden())
        return;
    m_empty->setVisible(isEmpty);
    stretch();
}

void RowTable::rememberRows()
{
    m_selectedKeys.clear();
    m_currentKey.clear();
    m_topKey.clear();
    if (model()->rowCount() == 0 || !model()->index(0, 0).data(RowKeyRole).isValid())
        return; // its rows have no names
    const auto keyOf = [this](int row) { return model()->index(row, 0).data(RowKeyRole).toString(); };
    for (const int row : selectedRows())
        m_selectedKeys.insert(keyOf(row));
    m_currentKey = currentIndex().isValid() ? keyOf(currentIndex().row()) : QString();
    const int top = rowAt(0);
    m_topKey = top > 0 ? keyOf(top) : QString(); // at the top it stays at the top
}

/// What was chosen stays chosen where its rows are still there, and what was read stays in view.
void RowTable::restoreRows()
{
    const QSet<QString> keys = std::exchange(m_selectedKeys, {});
    const QString currentKey = std::exchange(m_currentKey, {});
    const QString topKey = std::exchange(m_topKey, {});
    if (keys.isEmpty() && currentKey.isEmpty() && topKey.isEmpty())
        return;
    QItemSelection selection;
    int current = -1, top = -1, first = -1;
    const int rows = model()->rowCount();
    const int lastColumn = model()->columnCount() - 1;
    for (int row = 0; row <= rows; ++row) {
        const QString key = row < rows ? model()->index(row, 0).data(RowKeyRole).toString() : QString();
        if (!key.isEmpty() && key == currentKey)
            current = row;
        if (!key.isEmpty() && key == topKey)
            top = row;
        const bool selected = !key.isEmpty() && keys.contains(key);
        if (selected && first < 0)
            first = row;
        if (!selected && first >= 0) {
            selection.append(QItemSelectionRange(model()->index(first, 0), model()->index(row - 1, lastColumn)));
            first = -1;
        }
    }
    const QScopedValueRollback quiet(m_quiet, true);
    if (current >= 0)
        selectionModel()->setCurrentIndex(model()->index(current, 0), QItemSelectionModel::NoUpdate);
    selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect);
    if (top >= 0)
        scrollTo(model()->index(top, 0), PositionAtTop);
    else if (current >= 0)
        scrollTo(model()->index(current, 0));
}

void RowTable::setHoveredRow(int row)
{
    if (row == m_hovered)
        return;
    m_hovered = row;
    m_delegate->setHoveredRow(row);
    viewport()->update();
}

} // namespace sendonce
