#pragma once

#include "worker/result.h"
#include "worker/scenario/scenario.h"

#include <QByteArray>
#include <QList>
#include <QString>

namespace sendonce {

/// A scenario's file, JSON. Pure. \param source names the file, for errors
///
///   {"name": "duplicate", "title": "…", "explain": ["…"],
///    "world": {"workers": 1, "visibilitySeconds": 1, "maxReceiveCount": 3, "strategy": "transaction",
///              "inDoubt": "resend", "heartbeat": true, "mailTimeoutMs": 2000, "mailFinalTimeoutMs": 2000,
///              "mailRate": 0},
///    "steps": [{"send": {"event": "A", "copies": 2}}, {"arm": {"where": "mail.end", "what": "reply"}},
///              {"start": "all"}, {"stop": 1}, {"wait": {"queue": 0}, "timeoutMs": 20000}, {"browse": true},
///              {"replay": "all"}, {"disarm": "all"}, {"deleteApplication": 3}, {"deleteUser": 5},
///              {"deleteCompany": 1}, {"changeUser": {"id": 5, "email": "…"}}, {"cleanUp": {"afterDays": 60}}],
///    "expect": {"mails": {"A": 1}, "recipients": {"sam@example.com": 1}, "claims": {"A": 1}, "queue": 0, "dlq": 0,
///               "outcomes": {"A": ["sent", "duplicate"]}, "log": {"warning": 0, "says": ["…"]}, "announced": [],
///               "verdicts": {"A": "handled"}, "replays": {"A": "mailed"}, "crashes": 0, "armed": 0}}
///
/// That every armed fault strikes is expected of each scenario; one that is drawn (oneIn) need not.
/// `wait` takes what `expect` takes. Outcomes in any order: {"A": {"sent": 1, "duplicate": 999}}.
/// Invalid: "FILE, line 7: steps[2].send.copies is a text (“3”); a number from 1 to 10000 is accepted", the first
/// fault.
Result<Scenario> readScenario(const QByteArray &json, const QString &source);

/// All scenarios that there are, and what is wrong with the files that are none.
struct Catalogue
{
    QList<Scenario> scenarios; ///< in their order; the user's own behind the others, by name
    QStringList problems;
};
/// The program's own and those of a folder (*.json), which may not exist. A name is taken once: the first one counts.
Catalogue loadCatalogue(const QString &userDir);

/// As files, log lines and reports name it: "sent", "duplicate", "gone", "failed", "in-doubt", "given-back".
QString outcomeName(Outcome outcome);

} // namespace sendonce
