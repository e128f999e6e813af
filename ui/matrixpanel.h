#pragma once

#include "ui/panel.h"
#include "worker/scenario/scenariotypes.h"

#include <optional>

class QAction;
class QPushButton;
class QSpinBox;

namespace sendonce {

class Coalescer;
class MatrixModel;
class MatrixView;
class PlainLabel;
class ProgressLine;

/// The guarantee matrix: which design sends how many e-mails when what goes wrong. Measured by running it, never typed
/// in; each cell tells what was done and where its evidence lies.
class MatrixPanel : public Panel
{
    Q_OBJECT
public:
    explicit MatrixPanel(QWidget *parent = nullptr);

    MatrixModel *model() const { return m_model; }
    MatrixView *view() const { return m_view; }
    /// Its acts, for a menu: measure, stop, export.
    QList<QAction *> acts() const { return {m_run, m_stop, m_export}; }

    void setReady(); ///< somebody can measure it
    /// \param why it cannot be measured; empty: it can
    void setRefused(const QString &why);

public Q_SLOTS:
    void showShape(const sendonce::MatrixShape &shape);
    void takeCell(const sendonce::MatrixCell &cell);
    void showProgress(const sendonce::MatrixProgress &progress);
    void showExported(const QString &path);
    void showActFailed(const QString &act, const QString &text);

Q_SIGNALS:
    void shapeQueried();
    void runRequested(int repeat);
    void stopRequested();
    void exportRequested(const QString &path);

private:
    QAction *makeAct(const QString &text, const QString &iconName, const QString &tip);
    QWidget *makeDetails();
    void run();
    void askWhereToExport();
    void flush();
    void showCurrent();
    void follow();
    QString progressWords() const;

    MatrixModel *m_model;
    MatrixView *m_view;
    PlainLabel *m_words;
    QSpinBox *m_repeat;
    ProgressLine *m_line;
    PlainLabel *m_title;
    PlainLabel *m_verdict;
    PlainLabel *m_facts;
    PlainLabel *m_explanation;
    PlainLabel *m_folder;
    QPushButton *m_copyFolder;
    QAction *m_run;
    QAction *m_stop;
    QAction *m_export;
    Coalescer *m_updates;
    QList<MatrixCell> m_newCells;
    std::optional<MatrixProgress> m_progress; ///< since it was begun
    QString m_refusal;
    QString m_exporting;
    QString m_said; ///< what became of the last act; until the next one
    bool m_saidFailed = false;
    bool m_ready = false;
    bool m_running = false;
    bool m_stopping = false;
};

} // namespace sendonce
