#pragma once

#include <QList>
#include <QMap>
#include <QSet>
#include <QString>
#include <QStringList>

namespace sendonce {

/// What can be seen of a scenario's world at one moment; events by their labels.
struct ScenarioSight
{
    QMap<QString, int> mails; ///< by event; -1: cannot be read, here and below
    QMap<QString, int> recipients; ///< mails by address
    QMap<QString, int> claims; ///< by event
    int queue = -1; ///< messages
    int deadLetters = -1;
    QMap<QString, QStringList> outcomes; ///< of each event's deliveries, in their order: "sent", "duplicate" …
    QMap<QString, int> levels; ///< lines of the log: "info", "warning", "error"
    QStringList log; ///< its lines
    QSet<QString> announced; ///< events that somebody was told about: in doubt, or possibly mailed twice
    QMap<QString, QString> verdicts; ///< of the last look at the dead letters: "handled", "forgotten" …
    QMap<QString, QString> replays; ///< what became of each replayed event: "mailed", "skipped", "failed" …
    int crashes = 0;
    int armed = 0; ///< faults
    QStringList idleFaults; ///< that have never struck
};

/// One thing that is expected, or waited for.
struct ScenarioCheck
{
    enum class Kind {
        Mails, ///< `count` of the event `subject`
        Recipient, ///< `count` mails to the address `subject`
        Claims, ///< `count` of the event `subject`
        Queue, ///< `count` messages
        DeadLetters, ///< `count` messages
        Outcomes, ///< `texts` of the event `subject`, in that order
        OutcomeCounts, ///< `counts` of the event `subject`, in any order
        LogLevel, ///< `count` lines of the level `subject`
        LogText, ///< some line holds `subject`
        Announced, ///< exactly the events `texts`
        Verdict, ///< of the event `subject`: `texts`
        Replay, ///< of the event `subject`: `texts`
        Crashes, ///< `count`
        Armed, ///< `count` faults
        Struck, ///< every fault that was armed has struck: else nothing was shown
    };
    Kind kind = Kind::Mails;
    QString subject;
    int count = 0;
    QStringList texts;
    QMap<QString, int> counts;
    int line = 0; ///< of the file

    bool operator==(const ScenarioCheck &) const = default;
};

/// In words: "A: 1 e-mail".
QString describe(const ScenarioCheck &check);

struct CheckResult
{
    bool holds = false;
    QString seen; ///< in words: what there is instead, or is as expected

    bool operator==(const CheckResult &) const = default;
};
enum class CheckMode {
    Exactly, ///< an expectation, when all is over
    AtLeast, ///< a wait: e-mails, claims, deliveries, crashes and lines only ever become more
};
/// Pure.
CheckResult judge(const ScenarioCheck &check, const ScenarioSight &sight, CheckMode mode);

/// A fault of the guarantee when it does not hold, not of the scenario: too many or too few e-mails.
bool isAboutMails(const ScenarioCheck &check);

} // namespace sendonce
