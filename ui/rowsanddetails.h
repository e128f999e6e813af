#pragma once

#include <QSplitter>

class QStackedWidget;

namespace sendonce {

class PlainLabel;
class RowTable;

/// A table above, everything about its current row below; words there while no row is.
class RowsAndDetails : public QSplitter
{
    Q_OBJECT
public:
    /// Takes both. \param beside shown at the left of the table; null: nothing is
    RowsAndDetails(RowTable *table, QWidget *details, QWidget *beside = nullptr);

    void setHint(const QString &text);

private:
    void follow();

    RowTable *m_table;
    QStackedWidget *m_pages;
    PlainLabel *m_hint;
};

} // namespace sendonce
