#pragma once

#include "ui/panel.h"
#include "worker/types.h"

class QPushButton;
class QSortFilterProxyModel;
class QStackedWidget;
class QTabBar;

namespace sendonce {

class Coalescer;
class MailboxModel;
class PlainLabel;
class PlainTextView;

/// Every e-mail the embedded mailbox got. One copy for an event is the proof; two are red and say so.
class MailboxPanel : public Panel
{
    Q_OBJECT
public:
    explicit MailboxPanel(QWidget *parent = nullptr);

    SearchField *searchField() const override { return m_search; }
    RowTable *table() const override { return m_table; }
    void refresh() override;
    MailboxModel *model() const { return m_model; }

    void showSnapshot(const sendonce::MailboxSnapshot &snapshot);
    void showMail(const sendonce::MailDetail &mail);
    void noteChange(); ///< something arrived: asks again, when it is shown
    void setReady();
    void setUnavailable(const QString &text);

    bool canSave() const;
    void askWhereToSave();
    void saveTo(const QString &path);

Q_SIGNALS:
    void queried(const QString &search, int limit);
    void openRequested(const QString &id);
    void canSaveChanged();

protected:
    void showEvent(QShowEvent *event) override;

private:
    QWidget *makeDetails();
    void ask();
    void showCurrent();
    void showPart();
    void updateWords();

    MailboxModel *m_model;
    QSortFilterProxyModel *m_order;
    SearchField *m_search;
    PlainLabel *m_count;
    RowTable *m_table;
    QStackedWidget *m_details;
    PlainLabel *m_hint;
    QTabBar *m_parts;
    PlainTextView *m_view;
    PlainLabel *m_saved;
    QPushButton *m_save;
    Coalescer *m_changes;

    MailDetail m_mail;
    QString m_wantedId;
    QString m_asked;
    QString m_error;
    QString m_unavailable;
    bool m_ready = false;
    bool m_open = false; ///< a query is on its way
    bool m_stale = true;
    bool m_loaded = false;
};

} // namespace sendonce
