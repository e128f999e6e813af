#include "worker/operate/preflight.h"

#include "worker/queue/sqsclient.h"
#include "worker/queue/sqserrors.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QSet>
#include <QUrl>

namespace sendonce::preflight {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using Level = CheckLine::Level;

namespace {

constexpr qint64 EnoughBytes = 100'000'000;
constexpr int FewestReceives = 3;
constexpr auto LongestHidden = 12h; ///< SQS hides a message no longer after its receive
constexpr auto ShortestVisibility = 5s; ///< below it half of it is no time for a request that has to be sent twice

CheckLine ok(const QString &id, const QString &text)
{
    return {id, Level::Ok, text, {}, false};
}

CheckLine warning(const QString &id, const QString &text, const QString &remedy)
{
    return {id, Level::Warning, text, remedy, false};
}

CheckLine error(const QString &id, const QString &text, const QString &remedy)
{
    return {id, Level::Error, text, remedy, false};
}

CheckLine unreachable(const QString &id, const QString &text, const QString &remedy)
{
    return {id, Level::Error, text, remedy, true};
}

/// "70 s", "1500 ms", "4 days".
QString inWords(std::chrono::milliseconds time)
{
    const qint64 msec = time.count();
    if (msec % 1000 != 0)
        return u"%1 ms"_s.arg(msec);
    const qint64 seconds = msec / 1000;
    if (seconds % 86400 == 0 && seconds > 0)
        return seconds == 86400 ? u"1 day"_s : u"%1 days"_s.arg(seconds / 86400);
    return u"%1 s"_s.arg(seconds);
}

/// Who we are is refused, not what we want; a bare HTTP status is not SQS's: a proxy said no.
bool isCredentials(const Error &error)
{
    static const QSet<QString> Codes = {u"OptInRequired"_s, u"RequestExpired"_s, u"RequestTimeTooSkewed"_s,
                                        u"RequestInTheFuture"_s, u"InvalidSecurity"_s};
    return Codes.contains(error.code) || SqsClient::refusesKeys(error, false)
        || (error.kind == ErrorKind::Refused && error.code.startsWith("HTTP "_L1));
}

QString allow(const QString &action, const QString &url)
{
    return u"allow sqs:%1 on %2 in the policy of these credentials"_s.arg(action, url);
}

/// \param prefix "queue" or "dlq"; \param what "queue" or "dead letter queue"; \param flag that names it
QList<CheckLine> judgeAccess(const QueueLook &look, const QString &prefix, const QString &what, const QString &flag)
{
    const QString reachable = prefix + u".reachable"_s;
    const QString permission = prefix + u".permission."_s;
    const QString attributes = u"GetQueueAttributes"_s;
    QList<CheckLine> lines;
    if (look.error) {
        const Error &failed = *look.error;
        const QString text = u"%1 %2: %3"_s.arg(what, look.url, failed.text);
        if (sqserrors::isDenial(failed.code)) {
            lines.append(ok(reachable, u"%1 %2 answers"_s.arg(what, look.url)));
            lines.append(error(permission + attributes,
                               u"sqs:%1 on the %2 is denied: %3"_s.arg(attributes, what, failed.text),
                               allow(attributes, look.url)));
        } else if (isCredentials(failed)) {
            lines.append(error(
                reachable, text,
                u"check the keys or the profile (--aws-profile), the session token, the region and this computer's clock"_s));
        } else if (failed.kind == ErrorKind::NotFound) {
            lines.append(error(reachable, text,
                               u"make the queue, or name another one with %1; the region counts too"_s.arg(flag)));
        } else if (failed.kind == ErrorKind::Unreachable || failed.kind == ErrorKind::Protocol
                   || failed.kind == ErrorKind::Throttled) {
            lines.append(unreachable(
                reachable, text,
                u"see that the queue's server runs and can be reached from here; %1 and --endpoint-url name it"_s.arg(
                    flag)));
        } else {
            lines.append(error(reachable, text, u"check %1, --endpoint-url and --region"_s.arg(flag)));
        }
        return lines;
    }
    lines.append(ok(reachable, u"%1 %2 answers"_s.arg(what, look.url)));
    lines.append(ok(permission + attributes, u"sqs:%1 on the %2 is granted"_s.arg(attributes, what)));
    for (const Permission &tried : look.permissions) {
        const QString id = permission + tried.action;
        switch (tried.answer) {
        case Permission::Answer::Granted:
            lines.append(ok(id, u"sqs:%1 on the %2 is granted"_s.arg(tried.action, what)));
            break;
        case Permission::Answer::Denied:
            lines.append(error(id, u"sqs:%1 on the %2 is denied: %3"_s.arg(tried.action, what, tried.text),
                               allow(tried.action, look.url)));
            break;
        case Permission::Answer::Unknown:
            lines.append(warning(id,
                                 u"sqs:%1 on the %2 is needed; whether it is granted could not be seen: %3"_s.arg(
                                     tried.action, what, tried.text),
                                 u"run the check again; if it stays so, "_s + allow(tried.action, look.url)));
            break;
        case Permission::Answer::Untried:
            lines.append(ok(id,
                            u"sqs:%1 on the %2 is needed and was not tried, for that would take or add messages"_s.arg(
                                tried.action, what)));
            break;
        }
    }
    return lines;
}

std::chrono::seconds retentionOf(const QueueLook &queue)
{
    return std::chrono::seconds(queue.attributes.value(u"MessageRetentionPeriod"_s).toLongLong());
}

} // namespace

namespace {

constexpr int OldestServer = 120'000; ///< PostgreSQL 12; older ones have never been tried

/// What a PostgreSQL server promises for a COMMIT, and whether it has room for the lanes.
QList<CheckLine> judgeServer(const ServerInspection &server, int lanes, std::chrono::milliseconds mailTime)
{
    QList<CheckLine> lines;
    const QString versionId = u"database.version"_s;
    const QString version = u"the server is PostgreSQL %1"_s.arg(server.version);
    if (server.versionNumber < OldestServer)
        lines.append(warning(versionId, version + u", older than what Sendonce was tried with"_s,
                             u"use PostgreSQL 12 or newer"_s));
    else
        lines.append(ok(versionId, version));

    const auto durable = [&lines](const QString &name, const QString &value, const QString &lost,
                                  const QString &remedy) {
        const QString id = u"database."_s + name;
        if (value == "off"_L1)
            lines.append(error(id, u"%1 is off: %2"_s.arg(name, lost), remedy));
        else
            lines.append(ok(id, u"%1 is %2"_s.arg(name, value)));
    };
    durable(u"synchronous_commit"_s, server.synchronousCommit,
            u"a claim that was reported as committed may be lost in a crash, and the event is mailed twice"_s,
            u"ALTER ROLE \"%1\" SET synchronous_commit = on"_s.arg(server.role));
    durable(u"fsync"_s, server.fsync, u"a crash of the machine may lose claims or damage the database"_s,
            u"set fsync = on in postgresql.conf"_s);
    durable(u"full_page_writes"_s, server.fullPageWrites, u"a crash of the machine may damage the database"_s,
            u"set full_page_writes = on in postgresql.conf, unless the file system writes whole pages"_s);

    const QString idleId = u"database.idle"_s;
    if (server.transactionTimeoutMsec > 0 && server.transactionTimeoutMsec <= mailTime.count()) {
        lines.append(warning(
            idleId,
            u"transaction_timeout is %1 and a mail may take %2: the server ends the transaction before its mail is through"_s
                .arg(inWords(std::chrono::milliseconds(server.transactionTimeoutMsec)), inWords(mailTime)),
            u"ALTER ROLE \"%1\" SET transaction_timeout = 0"_s.arg(server.role)));
    } else {
        lines.append(ok(
            idleId,
            u"idle_in_transaction_session_timeout is set by each lane for itself, above the %1 that a mail may take"_s
                .arg(inWords(mailTime))));
    }

    const QString roomId = u"database.connections"_s;
    if (server.isPooled) {
        lines.append(warning(
            roomId,
            u"a pooler stands before the server: each of the %1 lanes keeps one of its connections while its mail is sent, and nothing is prepared"_s
                .arg(lanes),
            u"give its pool at least %1 connections for this role, or set --lanes lower"_s.arg(lanes)));
    } else if (server.freeConnections < lanes + 2) {
        lines.append(warning(
            roomId,
            u"the server has room for %1 more connections, and %2 lanes and the console want %3: a worker that starts now uses fewer lanes"_s
                .arg(server.freeConnections)
                .arg(lanes)
                .arg(lanes + 2),
            u"set --lanes lower, or max_connections (or this role's CONNECTION LIMIT) higher"_s));
    } else {
        lines.append(
            ok(roomId,
               u"the server has room for %1 more connections; %2 lanes want one each"_s.arg(server.freeConnections)
                   .arg(lanes)));
    }
    return lines;
}

} // namespace

// ---- the data folder
// -------------------------------------------------------------------------------------------------

QList<CheckLine> judgeFolder(const FolderFacts &facts)
{
    const QString privateId = u"folder.private"_s;
    const QString freeId = u"folder.free"_s;
    if (!facts.exists) {
        return {error(privateId, u"data folder %1: there is no such folder"_s.arg(facts.path),
                      u"make it, or name another one with --data-dir"_s)};
    }
    QList<CheckLine> lines;
    if (!facts.isOurs) {
        lines.append(error(privateId, u"data folder %1 belongs to another user"_s.arg(facts.path),
                           u"name one of your own with --data-dir"_s));
    } else if (!facts.isPrivate) {
        lines.append(error(privateId,
                           u"data folder %1 is open to other users, and mails and events lie in it"_s.arg(facts.path),
                           u"chmod 700 it"_s));
    } else {
        lines.append(ok(privateId, u"data folder %1 is private"_s.arg(facts.path)));
    }
    const QString megabytes = u"%1 MB"_s.arg(facts.freeBytes / 1'000'000);
    if (facts.freeBytes < 0) {
        lines.append(
            warning(freeId, u"the free space of %1 cannot be read"_s.arg(facts.path), u"see that its disk is well"_s));
    } else if (facts.freeBytes < EnoughBytes) {
        lines.append(warning(
            freeId,
            u"%1 are free in the data folder; on a full disk no claim can be committed, so nothing is sent"_s.arg(
                megabytes),
            u"free at least 100 MB, or name another folder with --data-dir"_s));
    } else {
        lines.append(ok(freeId, u"%1 are free in the data folder"_s.arg(megabytes)));
    }
    return lines;
}

// ---- the database
// ----------------------------------------------------------------------------------------------------

QList<CheckLine> judgeDatabase(const DatabaseFacts &facts)
{
    const QString openId = u"database.open"_s;
    const QString remedy =
        u"check --database-url; the console and sendoncectl local make a job board's database in the data folder"_s;
    if (facts.error) {
        const QString text = u"database: "_s + facts.error->text;
        if (facts.error->kind == ErrorKind::Busy) {
            return {warning(openId, text + u"; it is in use, so nothing more can be said of it now"_s,
                            u"run the check again; if it stays so, find out who holds the file"_s)};
        }
        if (facts.error->kind == ErrorKind::Invalid)
            return {error(openId, text, u"check --database-url"_s)};
        if (facts.isServer)
            return {
                unreachable(openId, text,
                            u"see that the server runs and can be reached from here, and that this role may log in; "
                            "--database-url names both"_s)};
        return {unreachable(openId, text, remedy)};
    }
    const DatabaseInspection &found = facts.inspection;
    QList<CheckLine> lines = {ok(openId, u"database %1 can be read"_s.arg(facts.name))};

    const QString claimsId = u"database.claims"_s;
    const QString uniqueId = u"database.unique"_s;
    if (!found.hasClaims) {
        lines.append(error(claimsId, u"table jobs_processedevent is missing: there is no memory of what was sent"_s,
                           u"run the job board's migrations (manage.py migrate), or "_s + remedy));
    } else {
        lines.append(ok(claimsId, u"table jobs_processedevent is there"_s));
        if (found.isEventIdUnique) {
            lines.append(ok(uniqueId, u"jobs_processedevent.event_id is unique"_s));
        } else {
            lines.append(error(
                uniqueId,
                u"jobs_processedevent.event_id has no unique constraint of its own: every claim fails, and without it an event would be mailed twice"_s,
                u"remove doubled rows, then CREATE UNIQUE INDEX jobs_processedevent_event_id ON jobs_processedevent (event_id), or unique=True in Django's model"_s));
        }
    }

    const QString ownTables = !found.server
        ? u"start the console or sendoncectl local once on this database if it is theirs; a database of Django's works without it"_s
        : found.server->mayCreateTables
        ? u"start a worker once: it makes its own tables, whose names begin with sendonce_"_s
        : u"start a worker once: it may not create tables here, and writes sendonce-tables.sql into its data folder for your DBA"_s;
    const QString bodiesId = u"database.bodies"_s;
    if (found.hasBodies) {
        lines.append(ok(bodiesId, u"table sendonce_claimbody is there: a reused event_id is noticed"_s));
    } else {
        lines.append(warning(
            bodiesId,
            u"table sendonce_claimbody is missing: an event_id that comes again with another body is skipped without a word"_s,
            ownTables));
    }
    const QString journalId = u"database.journal"_s;
    if (found.server && found.hasJournal) {
        lines.append(ok(journalId, u"the journal is in this database: all workers and consoles of it share one"_s));
    } else if (found.server) {
        lines.append(warning(
            journalId,
            u"the journal's tables are missing: it is kept in journal.db of each data folder, and no worker sees what another one wrote there"_s,
            ownTables));
    }

    if (found.server)
        lines += judgeServer(*found.server, facts.lanes, facts.mailTime);
    const QString syncId = u"database.synchronous"_s;
    static const QStringList Names = {u"OFF"_s, u"NORMAL"_s, u"FULL"_s, u"EXTRA"_s};
    const QString synchronous = Names.value(found.synchronous, QString::number(found.synchronous));
    if (found.server) {
        // told above
    } else if (found.synchronous >= 2) {
        lines.append(
            ok(syncId,
               u"commits reach the disk: synchronous is %1, journal mode %2"_s.arg(synchronous, found.journalMode)));
    } else {
        lines.append(error(syncId, u"commits may be lost when the power fails: synchronous is %1"_s.arg(synchronous),
                           u"put the database on a local disk, where SQLite can sync"_s));
    }

    if (facts.typesError) {
        lines.append(error(u"events.types"_s, u"event types: "_s + facts.typesError->text,
                           u"correct or remove that file of your configuration folder"_s));
    }
    for (const Lookup &lookup : facts.lookups) {
        const QString id = u"events.lookup."_s + lookup.type;
        if (lookup.error) {
            lines.append(error(id, u"event type %1: %2"_s.arg(lookup.type, lookup.error->text),
                               u"make the tables and columns that it names, or correct the event type's look-up"_s));
        } else {
            lines.append(ok(id, u"event type %1 finds its tables"_s.arg(lookup.type)));
        }
    }
    return lines;
}

// ---- mail
// ------------------------------------------------------------------------------------------------------------

QList<CheckLine> judgeMail(const MailFacts &facts)
{
    const QString serverId = u"mail.server"_s;
    const QString senderId = u"mail.sender"_s;
    QList<CheckLine> lines;
    if (!facts.error) {
        lines.append(ok(serverId, u"mail server %1 answers: %2"_s.arg(facts.address, facts.greeting.greeting)));
    } else {
        const QString text = u"mail server %1: %2"_s.arg(facts.address, facts.error->text);
        switch (facts.error->kind) {
        case ErrorKind::Unreachable:
            lines.append(
                unreachable(serverId, text, u"see that it runs and can be reached from here; --mail-url names it"_s));
            break;
        case ErrorKind::Protocol:
            lines.append(
                error(serverId, text, u"what answers there is no mail server; check host and port of --mail-url"_s));
            break;
        case ErrorKind::Refused:
            lines.append(error(
                serverId, text,
                u"check user, password and --mail-ca-file, or ask its administrator to let this computer send mail"_s));
            break;
        case ErrorKind::Aborted:
            lines.append(warning(serverId, text, u"run the check again"_s));
            break;
        default:
            lines.append(error(serverId, text, u"check --mail-url"_s));
        }
    }
    if (facts.fromError) {
        lines.append(error(senderId, u"sender “%1”: %2"_s.arg(facts.from, facts.fromError->text),
                           u"name one as in --mail-from \"Job Board <no-reply@your.domain>\""_s));
    } else if (!facts.embedded && (facts.fromDomain.endsWith(".example"_L1) || facts.fromDomain == "example.com"_L1)) {
        lines.append(warning(
            senderId,
            u"sender “%1”: %2 is nobody's domain, so mail servers may refuse it"_s.arg(facts.from, facts.fromDomain),
            u"name your own sender with --mail-from"_s));
    } else {
        lines.append(ok(senderId, u"sender “%1” is an address"_s.arg(facts.from)));
    }
    return lines;
}

// ---- the queues
// ------------------------------------------------------------------------------------------------------

std::optional<Redrive> readRedrive(const QString &policy)
{
    const QJsonObject object = QJsonDocument::fromJson(policy.toUtf8()).object();
    const Redrive redrive{object.value("deadLetterTargetArn"_L1).toString(),
                          object.value("maxReceiveCount"_L1).toVariant().toInt()};
    return redrive.deadLetterArn.isEmpty() || redrive.maxReceiveCount < 1 ? std::nullopt : std::optional(redrive);
}

Permission permissionFrom(const QString &action, const Result<QList<BatchEntryResult>> &answer)
{
    using Answer = Permission::Answer;
    QString code, text;
    if (!answer) {
        code = answer.error().code;
        text = answer.error().text;
    } else if (answer->isEmpty()) {
        return {action, Answer::Unknown, u"the queue answered for no entry"_s};
    } else if (answer->constFirst().ok) {
        return {action, Answer::Granted, {}}; // nothing of that handle was there to be changed
    } else {
        code = answer->constFirst().code;
        text = u"%1: %2"_s.arg(code, answer->constFirst().text);
    }
    if (sqserrors::isDenial(code))
        return {action, Answer::Denied, text};
    static const QSet<QString> AboutTheHandle = {u"ReceiptHandleIsInvalid"_s, u"InvalidParameterValue"_s,
                                                 u"MessageNotInflight"_s};
    if (AboutTheHandle.contains(code))
        return {action, Answer::Granted, {}};
    return {action, Answer::Unknown, text};
}

QList<CheckLine> judgeQueue(const QueueLook &queue)
{
    QList<CheckLine> lines = judgeAccess(queue, u"queue"_s, u"queue"_s, u"--queue-url"_s);
    if (queue.error)
        return lines;
    const QString redriveId = u"queue.redrive"_s;
    const auto redrive = readRedrive(queue.attributes.value(u"RedrivePolicy"_s));
    if (!redrive) {
        lines.append(error(
            redriveId,
            u"the queue has no redrive policy: a message that fails comes again for ever, until it is too old and vanishes"_s,
            u"give the queue a RedrivePolicy with a dead letter queue and maxReceiveCount 3 or more"_s));
        return lines;
    }
    lines.append(ok(redriveId, u"what fails goes to %1"_s.arg(redrive->deadLetterArn.section(u':', -1))));
    const QString receivesId = u"queue.receives"_s;
    if (redrive->maxReceiveCount < FewestReceives) {
        lines.append(warning(
            receivesId,
            u"maxReceiveCount is %1: a crash or a short outage is enough to make a good message a dead letter"_s.arg(
                redrive->maxReceiveCount),
            u"set maxReceiveCount in the queue's RedrivePolicy to 3 or more"_s));
    } else {
        lines.append(ok(receivesId, u"maxReceiveCount is %1"_s.arg(redrive->maxReceiveCount)));
    }
    return lines;
}

QList<CheckLine> judgeDeadLetterQueue(const QueueLook &queue, const QueueLook &dlq)
{
    QList<CheckLine> lines = judgeAccess(dlq, u"dlq"_s, u"dead letter queue"_s, u"--dlq-url"_s);
    if (dlq.error || queue.error)
        return lines;
    const QString queueArn = queue.attributes.value(u"QueueArn"_s);
    const QString dlqArn = dlq.attributes.value(u"QueueArn"_s);
    const auto redrive = readRedrive(queue.attributes.value(u"RedrivePolicy"_s));
    if (!dlqArn.isEmpty() && (dlqArn == queueArn || (redrive && dlqArn != redrive->deadLetterArn))) {
        lines.append(error(u"dlq.same"_s,
                           dlqArn == queueArn ? u"the dead letter queue is the queue itself"_s
                                              : u"the queue's dead letters go to %1, but %2 is looked at"_s.arg(
                                                  redrive->deadLetterArn.section(u':', -1), dlqArn.section(u':', -1)),
                           u"leave --dlq-url out: it is read from the queue's RedrivePolicy"_s));
    }
    const QString id = u"dlq.retention"_s;
    const auto source = retentionOf(queue), dead = retentionOf(dlq);
    if (source <= 0s || dead <= 0s) {
        lines.append(
            warning(id, u"how long the queues keep their messages is not known"_s,
                    u"see that the dead letter queue keeps them longer: its clock runs from the first send"_s));
    } else if (dead <= source) {
        lines.append(warning(
            id,
            u"the dead letter queue keeps messages %1, the queue %2: its clock runs from the first send, so a dead letter may vanish before anybody looks"_s
                .arg(inWords(dead), inWords(source)),
            u"set MessageRetentionPeriod of the dead letter queue to 1209600 (14 days)"_s));
    } else {
        lines.append(ok(id, u"dead letters are kept %1, messages %2"_s.arg(inWords(dead), inWords(source))));
    }
    return lines;
}

QList<CheckLine> judgeMoveTasks(const MoveTaskSupport &support)
{
    const QString id = u"dlq.move-tasks"_s;
    const QString instead = u"a replay sends, verifies, deletes"_s;
    switch (support.answer) {
    case MoveTaskSupport::Answer::Yes:
        return {ok(id, u"this endpoint has message move tasks for the dead letter queue"_s)};
    case MoveTaskSupport::Answer::No:
        return {ok(id, u"this endpoint has no message move tasks, so %1: %2"_s.arg(instead, support.reason))};
    case MoveTaskSupport::Answer::NotPermitted:
        return {
            ok(id, u"message move tasks are not permitted to these keys, so %1: %2"_s.arg(instead, support.reason))};
    case MoveTaskSupport::Answer::Unknown:
        break;
    }
    return {warning(id, u"whether this endpoint has message move tasks could not be seen: %1"_s.arg(support.reason),
                    u"run the check again; without them "_s + instead)};
}

// ---- the order of time-outs
// --------------------------------------------------------------------------------------------

TimeOuts timeOutsOf(const Config &config, std::chrono::milliseconds visibility)
{
    return {visibility, config.mailTimeout, config.mailFinalTimeout,
            config.lockTimeout > 0ms ? config.lockTimeout : visibility * 8 / 10, config.heartbeat};
}

QList<CheckLine> judgeTimeOuts(const TimeOuts &times)
{
    QList<CheckLine> lines;
    const auto work = times.lockWait + times.mail + times.mailFinal;
    const QString parts = u"lock wait %1 + mail %2 + its last answer %3"_s.arg(
        inWords(times.lockWait), inWords(times.mail), inWords(times.mailFinal));
    const QString sum = u"%1 (%2)"_s.arg(inWords(work), parts);

    const QString mailId = u"timeouts.mail"_s;
    if (times.mailFinal < times.mail) {
        lines.append(warning(
            mailId,
            u"the wait after a mail's final dot, %1, is shorter than that before it, %2: giving up before the dot costs nothing, after it the event is in doubt"_s
                .arg(inWords(times.mailFinal), inWords(times.mail)),
            u"set --mail-final-timeout to 60s or more, or --mail-timeout lower"_s));
    } else {
        lines.append(ok(mailId,
                        u"a mail may take %1 before its final dot and %2 after it"_s.arg(inWords(times.mail),
                                                                                         inWords(times.mailFinal))));
    }

    const QString lockId = u"timeouts.lock"_s;
    if (times.lockWait >= times.visibility) {
        lines.append(warning(
            lockId,
            u"the lock wait, %1, is not below the visibility timeout, %2: a waiting delivery may outlive its message's hiding, and the queue hands it out once more"_s
                .arg(inWords(times.lockWait), inWords(times.visibility)),
            u"leave --lock-timeout out (0.8 of the visibility timeout), or raise the queue's VisibilityTimeout"_s));
    } else {
        lines.append(ok(lockId,
                        u"lock wait %1 is below the visibility timeout %2"_s.arg(inWords(times.lockWait),
                                                                                 inWords(times.visibility))));
    }

    const QString heartbeatId = u"timeouts.heartbeat"_s;
    const auto bound = work + 5s;
    if (!times.heartbeat) {
        if (work > times.visibility) {
            lines.append(warning(
                heartbeatId,
                u"there is no heartbeat, and a delivery may take %1, longer than the visibility timeout %2: the queue hands the message out again meanwhile; that copy is skipped, but its receives count towards the dead letter queue"_s
                    .arg(sum, inWords(times.visibility)),
                u"leave --no-heartbeat out, or raise the queue's VisibilityTimeout above %1"_s.arg(inWords(work))));
        } else {
            lines.append(ok(heartbeatId,
                            u"without a heartbeat: a delivery takes at most %1, below the visibility timeout %2"_s.arg(
                                sum, inWords(times.visibility))));
        }
    } else if (bound > LongestHidden) {
        lines.append(warning(
            heartbeatId,
            u"a delivery may take %1, and the queue hides no message longer than 12 hours: then it is handed out again while it is in work"_s
                .arg(sum),
            u"set --mail-timeout, --mail-final-timeout or --lock-timeout lower"_s));
    } else if (times.visibility < ShortestVisibility) {
        lines.append(warning(
            heartbeatId,
            u"the visibility timeout is %1, so the heartbeat has %2 for each of its requests: a slow one lets the message out while it is in work"_s
                .arg(inWords(times.visibility), inWords(times.visibility / 2)),
            u"raise the queue's VisibilityTimeout to 30"_s));
    } else {
        lines.append(
            ok(heartbeatId, u"the heartbeat hides a message for at most %1 (%2 + 5 s)"_s.arg(inWords(bound), parts)));
    }
    return lines;
}

} // namespace sendonce::preflight
