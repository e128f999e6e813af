#pragma once

#include "worker/config.h"
#include "worker/mail/smtpprobe.h"
#include "worker/queue/sqsrequests.h"
#include "worker/result.h"
#include "worker/store/inspection.h"
#include "worker/types.h"

#include <QList>
#include <QMap>
#include <QString>

#include <chrono>
#include <optional>

/// What a check of the services says: facts in, lines out. Pure; preflightrun.h gathers the facts. Every line that is
/// not ok has a remedy, and no line holds a secret.
namespace sendonce::preflight {

// ---- the data folder
// -------------------------------------------------------------------------------------------------

struct FolderFacts
{
    QString path;
    bool exists = false;
    bool isOurs = false;
    bool isPrivate = false; ///< nobody else may read or write it
    qint64 freeBytes = -1; ///< -1: not known
};
QList<CheckLine> judgeFolder(const FolderFacts &facts);

// ---- the database
// ----------------------------------------------------------------------------------------------------

struct Lookup
{
    QString type;
    std::optional<Error> error; ///< nothing: it can be run
};
struct DatabaseFacts
{
    QString name; ///< "SQLite sendonce.db"
    bool isServer = false; ///< PostgreSQL, also when it could not be reached
    std::optional<Error> error; ///< it could not be opened or read
    DatabaseInspection inspection;
    std::optional<Error> typesError; ///< the event types cannot be loaded
    QList<Lookup> lookups;
    int lanes = 1; ///< each wants a connection of its own
    std::chrono::milliseconds mailTime{70'000}; ///< the longest a transaction stays open while a mail is sent
};
QList<CheckLine> judgeDatabase(const DatabaseFacts &facts);

// ---- mail
// ------------------------------------------------------------------------------------------------------------

struct MailFacts
{
    QString address; ///< "127.0.0.1:1025"
    std::optional<Error> error;
    SmtpGreeting greeting;
    QString from; ///< as set
    std::optional<Error> fromError;
    QString fromDomain;
    bool embedded = false;
};
QList<CheckLine> judgeMail(const MailFacts &facts);

// ---- the queues
// ------------------------------------------------------------------------------------------------------

struct Redrive
{
    QString deadLetterArn;
    int maxReceiveCount = 0;
};
/// Nothing when there is no policy, or none that can be read. The count is a number or a text (sqs.md, 5.1).
std::optional<Redrive> readRedrive(const QString &policy);

struct Permission
{
    enum class Answer {
        Granted,
        Denied,
        Unknown, ///< tried, and something else was in the way
        Untried, ///< trying would take or add messages
    };
    QString action; ///< "DeleteMessage"
    Answer answer = Answer::Untried;
    QString text; ///< what the queue said, for Denied and Unknown
};
/// What the answer to a batch with a receipt handle that cannot exist says of the permission: complaining about the
/// handle (or not even that) is behind the check of permissions, a denial is that check.
Permission permissionFrom(const QString &action, const Result<QList<BatchEntryResult>> &answer);

struct QueueLook
{
    QString url;
    std::optional<Error> error; ///< of GetQueueAttributes, or of looking for the queue
    QMap<QString, QString> attributes;
    QList<Permission> permissions; ///< beside GetQueueAttributes
};
QList<CheckLine> judgeQueue(const QueueLook &queue);
/// Only for a queue that has a redrive policy, or a DLQ by setting.
QList<CheckLine> judgeDeadLetterQueue(const QueueLook &queue, const QueueLook &dlq);

/// Which way a replay can go; nothing is wrong with either.
QList<CheckLine> judgeMoveTasks(const MoveTaskSupport &support);

// ---- the order of time-outs
// --------------------------------------------------------------------------------------------

struct TimeOuts
{
    std::chrono::milliseconds visibility{30'000}; ///< V
    std::chrono::milliseconds mail{10'000}; ///< before the final dot
    std::chrono::milliseconds mailFinal{60'000}; ///< after it
    std::chrono::milliseconds lockWait{24'000};
    bool heartbeat = true;
};
/// What a worker with this configuration uses at a queue with this visibility timeout.
TimeOuts timeOutsOf(const Config &config, std::chrono::milliseconds visibility);
/// spec.md, "Time-outs": each order that does not hold is one warning, never an error.
QList<CheckLine> judgeTimeOuts(const TimeOuts &times);

} // namespace sendonce::preflight
