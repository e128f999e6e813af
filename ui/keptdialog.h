#pragma once

#include "ui/actdialog.h"

class QSortFilterProxyModel;

namespace sendonce {

class KeptModel;
class RowTable;
class SearchField;

/// The copies of deleted and edited letters, to be put back into the dead letter queue.
class KeptDialog : public ActDialog
{
    Q_OBJECT
public:
    explicit KeptDialog(QWidget *parent);

    void setReadOnly(bool readOnly);
    void showLetters(const sendonce::KeptLetters &letters);
    void showPutBack(const sendonce::ActReport &report); ///< asks for the list again

Q_SIGNALS:
    void queried(int limit);
    void putBackWanted(const QList<qint64> &keptIds);

private:
    QList<qint64> chosen() const;
    void follow();

    KeptModel *m_model;
    QSortFilterProxyModel *m_filter;
    SearchField *m_search;
    RowTable *m_table;
    bool m_readOnly = false;
};

} // namespace sendonce
