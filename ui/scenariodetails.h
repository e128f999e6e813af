#pragma once

#include "worker/scenario/scenariotypes.h"

#include <QWidget>

class QPushButton;

namespace sendonce {

class PlainLabel;
class PlainTextView;
class RowTable;
class ScenarioLinesModel;

/// One scenario told to an audience: what it is about, its steps and expectations with ticks, the verdict, the worker's
/// lines, where the evidence lies.
class ScenarioDetails : public QWidget
{
    Q_OBJECT
public:
    explicit ScenarioDetails(QWidget *parent = nullptr);

    /// \param info of the catalogue; null: no longer in it. \param run null: it was not run yet
    void show(const ScenarioInfo *info, const ScenarioRun *run);
    ScenarioLinesModel *lines() const { return m_lines; }

private:
    void showFolder(const QString &folder);

    PlainLabel *m_title;
    PlainLabel *m_verdict;
    PlainLabel *m_explanation;
    ScenarioLinesModel *m_lines;
    RowTable *m_table;
    PlainTextView *m_log;
    PlainLabel *m_folder;
    QPushButton *m_copyFolder;
    QString m_folderPath;
};

} // namespace sendonce
