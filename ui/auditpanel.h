#pragma once

#include "ui/panel.h"
#include "worker/types.h"

class QPushButton;
class QSortFilterProxyModel;

namespace sendonce {

class AuditModel;
class Coalescer;
class PlainLabel;
class PlainTextView;

/// Who did what to which ids, when, and what came of it: a line before each act and one after it, for ever. Read when
/// it is shown and after each act.
class AuditPanel : public Panel
{
    Q_OBJECT
public:
    explicit AuditPanel(QWidget *parent = nullptr);

    SearchField *searchField() const override { return m_search; }
    RowTable *table() const override { return m_table; }
    void refresh() override;
    AuditModel *model() const { return m_model; }

    void noteAct(); ///< something was done: reads soon, when it is shown
    void showPage(const sendonce::AuditPage &page);
    void showExported(const sendonce::ActReport &report); ///< of exportWanted()
    void setReady();
    void setUnavailable(const QString &text);

    void askWhereToExport();

Q_SIGNALS:
    void queried(qint64 beforeId, int limit);
    void exportWanted(const QString &path);

protected:
    void showEvent(QShowEvent *event) override;

private:
    void showCurrent();
    void updateWords();

    AuditModel *m_model;
    QSortFilterProxyModel *m_filter;
    SearchField *m_search;
    PlainLabel *m_outcome;
    QPushButton *m_export;
    RowTable *m_table;
    PlainTextView *m_details;
    Coalescer *m_soon;
    QString m_error;
    QString m_unavailable;
    bool m_ready = false;
    bool m_isStale = true;
    bool m_read = false; ///< at least once
};

} // namespace sendonce
