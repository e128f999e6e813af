#pragma once

#include "ui/panel.h"
#include "worker/scenario/scenariotypes.h"

class QAction;
class QSortFilterProxyModel;

namespace sendonce {

class Coalescer;
class PlainLabel;
class ScenarioDetails;
class ScenarioRunsModel;
class ScenariosModel;
class TextTabs;

/// The catalogue of scenarios and what their runs came to: run one, some or all, in slow motion for an audience, and
/// write a report. Each run has a world of its own; nothing of this window's profile is touched.
class ScenariosPanel : public Panel
{
    Q_OBJECT
public:
    explicit ScenariosPanel(QWidget *parent = nullptr);

    SearchField *searchField() const override { return m_search; }
    RowTable *table() const override { return m_table; }
    ScenariosModel *model() const { return m_model; }
    ScenarioRunsModel *runs() const { return m_runs; }
    ScenarioDetails *details() const { return m_details; }
    /// Its acts, for a menu: run chosen, run all, stop, slow motion, report.
    QList<QAction *> acts() const { return {m_run, m_runAll, m_stop, m_slow, m_report}; }

    void setReady(); ///< somebody can run them
    /// \param why nothing can be run; empty: it can
    void setRefused(const QString &why);
    void refresh() override; ///< reads the catalogue again

public Q_SLOTS:
    void showList(const sendonce::ScenarioList &list);
    void takeRun(const sendonce::ScenarioRun &run);
    void showFinished(); ///< nothing waits or runs any more
    void showExported(const QString &path);
    void showActFailed(const QString &act, const QString &text);

Q_SIGNALS:
    void listQueried();
    void runRequested(const QStringList &names, bool slowMotion); ///< none named: all
    void stopRequested();
    void exportRequested(const QString &path);

private:
    QAction *makeAct(const QString &text, const QString &iconName, const QString &tip);
    void runChosen();
    void run(const QStringList &names, int count);
    void askWhereToExport();
    void flush();
    void showRun(const ScenarioRun &run);
    void showCurrent();
    void follow();
    QStringList chosen() const;

    ScenariosModel *m_model;
    QSortFilterProxyModel *m_filter;
    ScenarioRunsModel *m_runs;
    SearchField *m_search;
    PlainLabel *m_words;
    PlainLabel *m_problems;
    TextTabs *m_lists;
    RowTable *m_table;
    RowTable *m_history;
    ScenarioDetails *m_details;
    QAction *m_run;
    QAction *m_runAll;
    QAction *m_stop;
    QAction *m_slow;
    QAction *m_report;
    Coalescer *m_updates;
    QList<ScenarioRun> m_newRuns; ///< the newest state of each
    QString m_refusal;
    QString m_runningName; ///< of the newest run, to follow it
    QString m_exporting; ///< path of the report under way
    QString m_said; ///< what became of the last act; until the next one
    bool m_saidFailed = false;
    bool m_ready = false;
    bool m_listed = false;
    bool m_running = false;
    bool m_stopping = false;
    bool m_following = false; ///< the choice goes along with what runs, until somebody chooses
    bool m_moving = false; ///< the choice, by ourselves
    int m_ordered = 0, m_passed = 0, m_failed = 0, m_stopped = 0; ///< since it last began
};

} // namespace sendonce
