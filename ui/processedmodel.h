#pragma once

#include "worker/types.h"

#include <QAbstractTableModel>
#include <QHash>

namespace sendonce {

/// jobs_processedevent, newest first, page by page: it asks for a page by queried() and gets it by takePage(). Any
/// number of rows costs no more than what was scrolled to.
class ProcessedModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Glyph, Event, Type, Application, Result, Duplicates, ProcessedAt, ColumnCount };
    enum class State { Idle, Loading, Ready, Failed };

    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    bool canFetchMore(const QModelIndex &parent) const override;
    void fetchMore(const QModelIndex &parent) override;

    /// Reads anew from the newest row; what is shown stays until the answer is there.
    void read(const QString &search);
    /// Reads what is newer than the first row. While a query of the kind is open it is asked once more after it.
    void readNewer();
    /// Reads the newest page again and takes over what changed in rows that are shown.
    void settle();
    void takePage(const sendonce::ProcessedPage &page);
    /// What the worker just did: rows that are shown follow at once, rows that come find it here.
    void note(const sendonce::DeliveryReport &report);

    State state() const { return m_state; }
    QString error() const { return m_error; }
    QString search() const { return m_search; }
    bool hasMore() const { return m_more; }
    ProcessedRow row(int index) const { return m_rows.value(index); }

Q_SIGNALS:
    void queried(const sendonce::ProcessedQuery &query);
    void stateChanged();

private:
    enum class Kind { Restart, Older, Newer, Settle };
    void ask(Kind kind);
    void replaceAll(const ProcessedPage &page);
    void putOnTop(QList<ProcessedRow> rows);
    void trueUp(const QList<ProcessedRow> &rows);
    void applyHint(ProcessedRow &row) const;
    int rowOf(const QString &eventId) const;

    QList<ProcessedRow> m_rows;
    QHash<QString, ProcessedRow> m_hints; ///< by event id: applicationId and result as just reported
    QHash<quint64, Kind> m_open;
    quint64 m_lastTicket = 0;
    QString m_search;
    QString m_error;
    State m_state = State::Idle;
    bool m_more = false;
    bool m_newerWanted = false;
};

} // namespace sendonce
