#pragma once

#include <QStringList>

namespace sendonce {

/// The subcommands: words after the command's name -> exit code. Each in a file of its own.
int runDemo(const QStringList &words);
int runLocal(const QStringList &words);
int runWorker(const QStringList &words);
int runSend(const QStringList &words);
int runEventsList(const QStringList &words);
int runEventsClean(const QStringList &words);
int runCheck(const QStringList &words);
int runMatrix(const QStringList &words);
int runMailList(const QStringList &words);
int runMailPassword(const QStringList &words);
int runDlqList(const QStringList &words);
int runDlqShow(const QStringList &words);
int runDlqReplay(const QStringList &words);
int runDlqDelete(const QStringList &words);
int runDlqKept(const QStringList &words);
int runDlqPutBack(const QStringList &words);
int runDlqExport(const QStringList &words);
int runDlqImport(const QStringList &words);
int runDlqMove(const QStringList &words);
int runDlqPurge(const QStringList &words);
int runDlqForget(const QStringList &words);
int runDlqRuns(const QStringList &words);
int runDlqAudit(const QStringList &words);
int runDoubtList(const QStringList &words);
int runDoubtSettle(const QStringList &words);
int runScenarioList(const QStringList &words);
int runScenarioRun(const QStringList &words);
int runFaultList(const QStringList &words);
int runFaultPoints(const QStringList &words);
int runFaultArm(const QStringList &words);
int runFaultDisarm(const QStringList &words);

} // namespace sendonce
