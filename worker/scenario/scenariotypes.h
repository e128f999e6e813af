#pragma once

#include <QDateTime>
#include <QList>
#include <QMetaType>
#include <QString>
#include <QStringList>

/// What a window or a command shows of scenarios and of the guarantee matrix: values.
namespace sendonce {

/// A scenario of the catalogue or of the user's own files.
struct ScenarioInfo
{
    QString name; ///< "duplicate": as `sendoncectl scenario run` takes it
    QString title;
    QStringList explanation; ///< a few lines for an audience
    QStringList steps; ///< in words, in their order
    QStringList expectations; ///< in words
    QString file; ///< of the user's own; empty: of the catalogue

    bool operator==(const ScenarioInfo &) const = default;
};
struct ScenarioList
{
    QList<ScenarioInfo> scenarios;
    QStringList problems; ///< files that cannot be read: "file: line 7: field: what is wrong"

    bool operator==(const ScenarioList &) const = default;
};

/// A step or an expectation of a run.
struct ScenarioLine
{
    enum class State { Waiting, Running, Done, Failed };
    QString text;
    State state = State::Waiting;
    QString seen; ///< what was found; for a failed one: what instead
    qint64 msec = -1; ///< how long it took

    bool operator==(const ScenarioLine &) const = default;
};
/// One run, while it goes on and afterwards.
struct ScenarioRun
{
    enum class State { Running, Passed, Failed, Stopped };
    qint64 id = 0; ///< grows with each run of this process
    QString scenario; ///< its name
    QString title;
    State state = State::Running;
    QList<ScenarioLine> steps;
    QList<ScenarioLine> expectations;
    QStringList log; ///< the worker's lines, newest last; at most 200
    QDateTime startedAt; ///< UTC
    qint64 msec = 0;
    QString folder; ///< its evidence: journal, log, mails
    QString error; ///< it could not be run to its end: why
    bool isGuaranteeBroken = false; ///< too many or too few e-mails: what the worker promises did not hold

    bool operator==(const ScenarioRun &) const = default;
};

/// A way to send one e-mail for each event: two for production, the others to see them fail.
struct MatrixDesign
{
    QString id; ///< "one-transaction"
    QString title;
    bool production = false;
    bool suppressing = false; ///< the receiving side drops copies (Message-ID and Date)

    bool operator==(const MatrixDesign &) const = default;
};
/// What goes wrong.
struct MatrixHazard
{
    QString id; ///< "crash-committed"
    QString title;
    QString explanation;

    bool operator==(const MatrixHazard &) const = default;
};
/// What one candidate got, under one design, when one thing went wrong: measured.
struct MatrixCell
{
    enum class Mark {
        Calm, ///< one e-mail, as it should be; or held for a person, and said so
        Warning, ///< two or more
        Alarm, ///< none, and nobody is told
        Unknown, ///< it could not be measured: text says why
    };
    QString design; ///< its id, with "+suppressing" behind it where the receiving side drops copies
    QString hazard;
    int mails = -1; ///< -1: not measured yet
    int expected = -1; ///< by what the design promises; -1: the timing was left to chance, so no figure is
    int announced = 0; ///< events that it called possibly mailed twice, or in doubt
    bool held = false; ///< in doubt, waiting for a person
    Mark mark = Mark::Unknown;
    QString text; ///< in words: "1 e-mail", "2 e-mails, announced", "none: lost"
    double seconds = 0;
    int runs = 0; ///< with repeats: how often it was run
    int other = 0; ///< of those: how often there was not one e-mail
    QString folder; ///< evidence of its last run

    bool operator==(const MatrixCell &) const = default;
};
struct MatrixShape
{
    QList<MatrixDesign> designs; ///< rows
    QList<MatrixHazard> hazards; ///< columns

    bool operator==(const MatrixShape &) const = default;
};
struct MatrixProgress
{
    int done = 0;
    int total = 0;
    bool finished = false;
    bool stopped = false;
    double seconds = 0;

    bool operator==(const MatrixProgress &) const = default;
};

} // namespace sendonce

Q_DECLARE_METATYPE(sendonce::ScenarioRun)
Q_DECLARE_METATYPE(sendonce::MatrixCell)
