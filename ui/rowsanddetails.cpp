#include "ui/rowsanddetails.h"

#include "ui/plainlabel.h"
#include "ui/rowtable.h"

#include <QStackedWidget>

namespace sendonce {

RowsAndDetails::RowsAndDetails(RowTable *table, QWidget *details, QWidget *beside)
    : QSplitter(Qt::Vertical)
    , m_table(table)
    , m_pages(new QStackedWidget)
    , m_hint(new PlainLabel)
{
    m_hint->setTone(Tone::Muted);
    m_hint->setAlignment(Qt::AlignCenter);
    m_pages->addWidget(m_hint);
    m_pages->addWidget(details);
    setChildrenCollapsible(false);
    if (beside) {
        auto *rows = new QSplitter(Qt::Horizontal);
        rows->setChildrenCollapsible(false);
        rows->addWidget(beside);
        rows->addWidget(table);
        rows->setStretchFactor(1, 1);
        addWidget(rows);
    } else {
        addWidget(table);
    }
    addWidget(m_pages);
    setStretchFactor(0, 1);
    setSizes({1000, 232});
    connect(table, &RowTable::currentRowChanged, this, &RowsAndDetails::follow);
    connect(table->model(), &QAbstractItemModel::modelReset, this, &RowsAndDetails::follow);
    follow();
}

void RowsAndDetails::setHint(const QString &text)
{
    m_hint->setPlain(text);
}

void RowsAndDetails::follow()
{
    m_pages->setCurrentIndex(m_table->currentIndex().isValid() ? 1 : 0);
}

} // namespace sendonce
