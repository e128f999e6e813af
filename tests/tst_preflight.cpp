#include "worker/operate/preflight.h"

#include <QtTest>

#include <functional>

using namespace sendonce;
using namespace sendonce::preflight;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using Level = CheckLine::Level;

/// Every line of a check at every level, from facts alone.
class PreflightTest : public QObject
{
    Q_OBJECT

    static CheckLine lineOf(const QList<CheckLine> &lines, const QString &id)
    {
        for (const CheckLine &line : lines) {
            if (line.id == id)
                return line;
        }
        CheckLine none;
        none.text = u"there is no line %1"_s.arg(id);
        return none;
    }

    static QueueLook goodQueue()
    {
        QueueLook queue;
        queue.url = u"http://127.0.0.1:9324/000000000000/q"_s;
        queue.attributes = {
            {u"QueueArn"_s, u"arn:aws:sqs:us-east-1:000000000000:q"_s},
            {u"VisibilityTimeout"_s, u"30"_s},
            {u"MessageRetentionPeriod"_s, u"345600"_s},
            {u"RedrivePolicy"_s,
             uR"({"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:q-dlq","maxReceiveCount":"3"})"_s}};
        queue.permissions = {{u"DeleteMessage"_s, Permission::Answer::Granted, {}}};
        return queue;
    }

    static QueueLook goodDlq()
    {
        QueueLook dlq;
        dlq.url = u"http://127.0.0.1:9324/000000000000/q-dlq"_s;
        dlq.attributes = {{u"QueueArn"_s, u"arn:aws:sqs:us-east-1:000000000000:q-dlq"_s},
                          {u"MessageRetentionPeriod"_s, u"1209600"_s}};
        return dlq;
    }

    static DatabaseFacts goodDatabase()
    {
        DatabaseFacts facts;
        facts.name = u"SQLite sendonce.db"_s;
        facts.inspection = {true, true, true, false, u"wal"_s, 2};
        facts.lookups = {{u"application.status_changed"_s, {}}};
        return facts;
    }

    static MailFacts goodMail()
    {
        MailFacts facts;
        facts.address = u"127.0.0.1:1025"_s;
        facts.greeting.greeting = u"220 mail.test ESMTP"_s;
        facts.from = u"Job Board <no-reply@board.test>"_s;
        facts.fromDomain = u"board.test"_s;
        return facts;
    }

    /// One line with this level and these words in it; a remedy exactly when it is not ok.
    static void expect(const QList<CheckLine> &lines, const QString &id, Level level, const QStringList &words,
                       bool unreachable = false)
    {
        const CheckLine line = lineOf(lines, id);
        QVERIFY2(line.level == level && line.id == id, qPrintable(id + u": "_s + line.text));
        for (const QString &word : words)
            QVERIFY2((line.text + u'\n' + line.remedy).contains(word), qPrintable(line.text + u" | "_s + line.remedy));
        QCOMPARE(line.remedy.isEmpty(), level == Level::Ok);
        QCOMPARE(line.unreachable, unreachable);
    }

    static void expectAllOk(const QList<CheckLine> &lines)
    {
        QVERIFY(!lines.isEmpty());
        for (const CheckLine &line : lines) {
            QVERIFY2(line.level == Level::Ok, qPrintable(line.text));
            QVERIFY(line.remedy.isEmpty() && !line.id.isEmpty() && !line.text.isEmpty());
        }
    }

private Q_SLOTS:
    void everythingInOrderIsOkOnEveryLine()
    {
        expectAllOk(judgeFolder({u"/data"_s, true, true, true, 5'000'000'000}));
        expectAllOk(judgeDatabase(goodDatabase()));
        expectAllOk(judgeMail(goodMail()));
        expectAllOk(judgeQueue(goodQueue()));
        expectAllOk(judgeDeadLetterQueue(goodQueue(), goodDlq()));
        expectAllOk(judgeTimeOuts(timeOutsOf(Config(), 30s)));
    }

    void folder_data()
    {
        QTest::addColumn<FolderFacts>("facts");
        QTest::addColumn<QString>("id");
        QTest::addColumn<Level>("level");
        QTest::addColumn<QStringList>("words");
        const qint64 enough = 100'000'000;
        QTest::newRow("missing") << FolderFacts{u"/nowhere"_s} << u"folder.private"_s << Level::Error
                                 << QStringList{u"/nowhere"_s, u"--data-dir"_s};
        QTest::newRow("another's") << FolderFacts{u"/d"_s, true, false, true, enough} << u"folder.private"_s
                                   << Level::Error << QStringList{u"/d"_s, u"another user"_s};
        QTest::newRow("open") << FolderFacts{u"/d"_s, true, true, false, enough} << u"folder.private"_s << Level::Error
                              << QStringList{u"chmod 700"_s};
        QTest::newRow("just enough") << FolderFacts{u"/d"_s, true, true, true, enough} << u"folder.free"_s << Level::Ok
                                     << QStringList{u"100 MB"_s};
        QTest::newRow("nearly full") << FolderFacts{u"/d"_s, true, true, true, enough - 1} << u"folder.free"_s
                                     << Level::Warning << QStringList{u"99 MB"_s, u"at least 100 MB"_s};
        QTest::newRow("not known") << FolderFacts{u"/d"_s, true, true, true, -1} << u"folder.free"_s << Level::Warning
                                   << QStringList{u"/d"_s};
    }

    void folder()
    {
        QFETCH(FolderFacts, facts);
        QFETCH(QString, id);
        QFETCH(Level, level);
        QFETCH(QStringList, words);
        expect(judgeFolder(facts), id, level, words);
    }

    void aDatabaseThatIsNotThereCannotBeReached()
    {
        DatabaseFacts facts;
        facts.error = Error{ErrorKind::NotFound, u"there is no file /x.db"_s, {}};
        QCOMPARE(judgeDatabase(facts).size(), 1);
        expect(judgeDatabase(facts), u"database.open"_s, Level::Error, {u"/x.db"_s, u"--database-url"_s}, true);
        facts.error = Error{ErrorKind::Io, u"disk I/O error"_s, {}};
        expect(judgeDatabase(facts), u"database.open"_s, Level::Error, {u"disk I/O error"_s}, true);
        facts.error = Error{ErrorKind::Invalid, u"names a folder"_s, {}};
        expect(judgeDatabase(facts), u"database.open"_s, Level::Error, {u"names a folder"_s, u"--database-url"_s});
        facts.error = Error{ErrorKind::Busy, u"locked"_s, {}};
        expect(judgeDatabase(facts), u"database.open"_s, Level::Warning, {u"in use"_s});
    }

    void databaseWithoutWhatTheGuaranteeNeeds()
    {
        DatabaseFacts facts = goodDatabase();
        facts.inspection.isEventIdUnique = false;
        expect(judgeDatabase(facts), u"database.unique"_s, Level::Error, {u"event_id"_s, u"CREATE UNIQUE INDEX"_s});
        facts.inspection.hasClaims = false;
        expect(judgeDatabase(facts), u"database.claims"_s, Level::Error, {u"jobs_processedevent"_s, u"migrate"_s});
        QCOMPARE(lineOf(judgeDatabase(facts), u"database.unique"_s).id, QString()); // one cause, one line
        facts = goodDatabase();
        facts.inspection.hasBodies = false;
        expect(judgeDatabase(facts), u"database.bodies"_s, Level::Warning,
               {u"sendonce_claimbody"_s, u"another body"_s});
        facts.inspection.synchronous = 1;
        expect(judgeDatabase(facts), u"database.synchronous"_s, Level::Error, {u"NORMAL"_s});
        facts.inspection.synchronous = 3;
        expect(judgeDatabase(facts), u"database.synchronous"_s, Level::Ok, {u"EXTRA"_s});
    }

    void aServerPromisesOrDoesNot_data()
    {
        QTest::addColumn<std::function<void(DatabaseFacts &)>>("spoil");
        QTest::addColumn<QString>("id");
        QTest::addColumn<Level>("level");
        QTest::addColumn<QStringList>("words");
        using Spoil = std::function<void(DatabaseFacts &)>;
        const auto row = [](const char *name, const Spoil &spoil, const QString &id, Level level,
                            const QStringList &words) { QTest::newRow(name) << spoil << id << level << words; };
        const Spoil nothing = [](DatabaseFacts &) {};
        row("version", nothing, u"database.version"_s, Level::Ok, {u"15.18"_s});
        row("commit", nothing, u"database.synchronous_commit"_s, Level::Ok, {u"on"_s});
        row("room", nothing, u"database.connections"_s, Level::Ok, {u"97"_s, u"32 lanes"_s});
        row("idle", nothing, u"database.idle"_s, Level::Ok, {u"70 s"_s});
        row("old", [](DatabaseFacts &facts) { facts.inspection.server->versionNumber = 90'600; }, u"database.version"_s,
            Level::Warning, {u"PostgreSQL 12"_s});
        row("asynchronous", [](DatabaseFacts &facts) { facts.inspection.server->synchronousCommit = u"off"_s; },
            u"database.synchronous_commit"_s, Level::Error, {u"mailed twice"_s, u"ALTER ROLE \"me\""_s});
        row("local", [](DatabaseFacts &facts) { facts.inspection.server->synchronousCommit = u"local"_s; },
            u"database.synchronous_commit"_s, Level::Ok, {u"local"_s});
        row("no fsync", [](DatabaseFacts &facts) { facts.inspection.server->fsync = u"off"_s; }, u"database.fsync"_s,
            Level::Error, {u"postgresql.conf"_s});
        row("half pages", [](DatabaseFacts &facts) { facts.inspection.server->fullPageWrites = u"off"_s; },
            u"database.full_page_writes"_s, Level::Error, {u"postgresql.conf"_s});
        row("short transactions",
            [](DatabaseFacts &facts) { facts.inspection.server->transactionTimeoutMsec = 60'000; }, u"database.idle"_s,
            Level::Warning, {u"60 s"_s, u"70 s"_s});
        row("full", [](DatabaseFacts &facts) { facts.inspection.server->freeConnections = 33; },
            u"database.connections"_s, Level::Warning, {u"33"_s, u"32 lanes"_s, u"--lanes"_s});
        row("pooled", [](DatabaseFacts &facts) { facts.inspection.server->isPooled = true; }, u"database.connections"_s,
            Level::Warning, {u"pooler"_s, u"32"_s});
        row("no tables of ours", [](DatabaseFacts &facts) { facts.inspection.hasBodies = false; }, u"database.bodies"_s,
            Level::Warning, {u"start a worker once"_s});
        row("journal", [](DatabaseFacts &facts) { facts.inspection.hasJournal = true; }, u"database.journal"_s,
            Level::Ok, {u"share one"_s});
        row("no journal", nothing, u"database.journal"_s, Level::Warning, {u"journal.db"_s, u"start a worker once"_s});
        row("and none to be made",
            [](DatabaseFacts &facts) {
                facts.inspection.hasBodies = false;
                facts.inspection.server->mayCreateTables = false;
            },
            u"database.bodies"_s, Level::Warning, {u"sendonce-tables.sql"_s, u"DBA"_s});
    }

    void aServerPromisesOrDoesNot()
    {
        QFETCH(std::function<void(DatabaseFacts &)>, spoil);
        QFETCH(QString, id);
        QFETCH(Level, level);
        QFETCH(QStringList, words);
        DatabaseFacts facts = goodDatabase();
        facts.name = u"PostgreSQL db.example/jobs"_s;
        facts.isServer = true;
        facts.lanes = 32;
        facts.inspection.server =
            ServerInspection{u"15.18"_s, 150'018, u"on"_s, u"on"_s, u"on"_s, 0, 97, true, false, u"me"_s};
        spoil(facts);
        expect(judgeDatabase(facts), id, level, words);
        QCOMPARE(lineOf(judgeDatabase(facts), u"database.synchronous"_s).id, QString()); // SQLite's
    }

    void eventTypesNameTheirTrouble()
    {
        DatabaseFacts facts = goodDatabase();
        facts.lookups.append({u"job.closed"_s, Error{ErrorKind::Io, u"no such table: jobs_closing"_s, {}}});
        expect(judgeDatabase(facts), u"events.lookup.job.closed"_s, Level::Error,
               {u"job.closed"_s, u"jobs_closing"_s, u"look-up"_s});
        expect(judgeDatabase(facts), u"events.lookup.application.status_changed"_s, Level::Ok, {});
        facts.typesError = Error{ErrorKind::Invalid, u"x.json: line 3"_s, {}};
        expect(judgeDatabase(facts), u"events.types"_s, Level::Error, {u"x.json: line 3"_s});
    }

    void mail_data()
    {
        QTest::addColumn<ErrorKind>("kind");
        QTest::addColumn<Level>("level");
        QTest::addColumn<QString>("remedy");
        QTest::addColumn<bool>("unreachable");
        QTest::newRow("no connection") << ErrorKind::Unreachable << Level::Error << u"--mail-url"_s << true;
        QTest::newRow("no mail server") << ErrorKind::Protocol << Level::Error << u"no mail server"_s << false;
        QTest::newRow("refuses") << ErrorKind::Refused << Level::Error << u"administrator"_s << false;
        QTest::newRow("stopped") << ErrorKind::Aborted << Level::Warning << u"again"_s << false;
        QTest::newRow("bad URL") << ErrorKind::Invalid << Level::Error << u"--mail-url"_s << false;
    }

    void mail()
    {
        QFETCH(ErrorKind, kind);
        QFETCH(Level, level);
        QFETCH(QString, remedy);
        QFETCH(bool, unreachable);
        MailFacts facts = goodMail();
        facts.error = Error{kind, u"what it said"_s, {}};
        expect(judgeMail(facts), u"mail.server"_s, level, {u"127.0.0.1:1025"_s, u"what it said"_s, remedy},
               unreachable);
    }

    void senders()
    {
        MailFacts facts = goodMail();
        facts.fromDomain = u"jobboard.example"_s;
        expect(judgeMail(facts), u"mail.sender"_s, Level::Warning, {u"jobboard.example"_s, u"--mail-from"_s});
        facts.embedded = true; // nobody but the embedded mailbox sees it
        expect(judgeMail(facts), u"mail.sender"_s, Level::Ok, {});
        facts.from = u"nobody"_s;
        facts.fromError = Error{ErrorKind::Invalid, u"there is no @"_s, {}};
        expect(judgeMail(facts), u"mail.sender"_s, Level::Error, {u"nobody"_s, u"there is no @"_s, u"--mail-from"_s});
    }

    void aQueueThatCannotBeLookedAt_data()
    {
        QTest::addColumn<ErrorKind>("kind");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("id");
        QTest::addColumn<QString>("remedy");
        QTest::addColumn<bool>("unreachable");
        const QString reachable = u"queue.reachable"_s;
        QTest::newRow("no answer") << ErrorKind::Unreachable << QString() << reachable << u"--endpoint-url"_s << true;
        QTest::newRow("no SQS") << ErrorKind::Protocol << QString() << reachable << u"--endpoint-url"_s << true;
        QTest::newRow("missing") << ErrorKind::NotFound << u"QueueDoesNotExist"_s << reachable << u"--queue-url"_s
                                 << false;
        QTest::newRow("wrong keys") << ErrorKind::Refused << u"InvalidClientTokenId"_s << reachable << u"keys"_s
                                    << false;
        QTest::newRow("no keys") << ErrorKind::Refused << u"CredentialsProviderError"_s << reachable
                                 << u"--aws-profile"_s << false;
        QTest::newRow("denied") << ErrorKind::Refused << u"AccessDenied"_s << u"queue.permission.GetQueueAttributes"_s
                                << u"allow sqs:GetQueueAttributes on "_s << false;
        QTest::newRow("else") << ErrorKind::Invalid << u"InvalidAddress"_s << reachable << u"--region"_s << false;
    }

    void aQueueThatCannotBeLookedAt()
    {
        QFETCH(ErrorKind, kind);
        QFETCH(QString, code);
        QFETCH(QString, id);
        QFETCH(QString, remedy);
        QFETCH(bool, unreachable);
        QueueLook queue = goodQueue();
        queue.error = Error{kind, u"what it said"_s, code};
        const QList<CheckLine> lines = judgeQueue(queue);
        expect(lines, id, Level::Error, {u"what it said"_s, remedy}, unreachable);
        QVERIFY(lineOf(lines, u"queue.redrive"_s).id.isEmpty()); // not known is not missing
    }

    void permissionsByTheAnswer_data()
    {
        QTest::addColumn<QString>("entryCode");
        QTest::addColumn<QString>("callCode");
        QTest::addColumn<int>("answer");
        using A = Permission::Answer;
        QTest::newRow("handle refused") << u"ReceiptHandleIsInvalid"_s << QString() << int(A::Granted);
        QTest::newRow("handle refused otherwise") << u"InvalidParameterValue"_s << QString() << int(A::Granted);
        QTest::newRow("nothing to change") << u"ok"_s << QString() << int(A::Granted);
        QTest::newRow("whole call, handle") << QString() << u"ReceiptHandleIsInvalid"_s << int(A::Granted);
        QTest::newRow("denied") << QString() << u"AccessDenied"_s << int(A::Denied);
        QTest::newRow("denied, other name") << QString() << u"AccessDeniedException"_s << int(A::Denied);
        QTest::newRow("denied in the entry") << u"AccessDenied"_s << QString() << int(A::Denied);
        QTest::newRow("throttled") << QString() << u"RequestThrottled"_s << int(A::Unknown);
        QTest::newRow("no code") << QString() << u"-"_s << int(A::Unknown);
        QTest::newRow("no entry") << QString() << QString() << int(A::Unknown);
    }

    void permissionsByTheAnswer()
    {
        QFETCH(QString, entryCode);
        QFETCH(QString, callCode);
        QFETCH(int, answer);
        Result<QList<BatchEntryResult>> result = QList<BatchEntryResult>();
        if (!callCode.isEmpty())
            result = Error{ErrorKind::Refused, u"said"_s, callCode == "-"_L1 ? QString() : callCode};
        else if (!entryCode.isEmpty())
            result = QList<BatchEntryResult>{{u"check"_s, entryCode == "ok"_L1, {}, entryCode, u"said"_s, true}};
        const Permission permission = permissionFrom(u"DeleteMessage"_s, result);
        QCOMPARE(int(permission.answer), answer);
        QCOMPARE(permission.text.isEmpty(), permission.answer == Permission::Answer::Granted);

        QueueLook queue = goodQueue();
        queue.permissions = {permission};
        const Level level = permission.answer == Permission::Answer::Granted ? Level::Ok
            : permission.answer == Permission::Answer::Denied                ? Level::Error
                                                                             : Level::Warning;
        expect(judgeQueue(queue), u"queue.permission.DeleteMessage"_s, level, {u"sqs:DeleteMessage"_s});
        if (level == Level::Error)
            expect(judgeQueue(queue), u"queue.permission.DeleteMessage"_s, level,
                   {u"allow sqs:DeleteMessage on "_s + queue.url});
    }

    void whatWasNotTriedSaysSo()
    {
        QueueLook queue = goodQueue();
        queue.permissions = {{u"SendMessage"_s, Permission::Answer::Untried, {}}};
        expect(judgeQueue(queue), u"queue.permission.SendMessage"_s, Level::Ok, {u"sqs:SendMessage"_s, u"not tried"_s});
    }

    void redrivePolicies_data()
    {
        QTest::addColumn<QString>("policy");
        QTest::addColumn<int>("count"); // 0: none
        QTest::newRow("number") << uR"({"deadLetterTargetArn":"arn:d","maxReceiveCount":3})"_s << 3;
        QTest::newRow("text") << uR"({"deadLetterTargetArn":"arn:d","maxReceiveCount":"5"})"_s << 5;
        QTest::newRow("absent") << QString() << 0;
        QTest::newRow("not JSON") << u"arn:d"_s << 0;
        QTest::newRow("no target") << uR"({"maxReceiveCount":3})"_s << 0;
        QTest::newRow("no count") << uR"({"deadLetterTargetArn":"arn:d"})"_s << 0;
    }

    void redrivePolicies()
    {
        QFETCH(QString, policy);
        QFETCH(int, count);
        const auto redrive = readRedrive(policy);
        QCOMPARE(redrive ? redrive->maxReceiveCount : 0, count);
        QueueLook queue = goodQueue();
        queue.attributes.insert(u"RedrivePolicy"_s, policy);
        if (count == 0)
            expect(judgeQueue(queue), u"queue.redrive"_s, Level::Error,
                   {u"no redrive policy"_s, u"maxReceiveCount 3"_s});
        else
            expect(judgeQueue(queue), u"queue.receives"_s, Level::Ok, {QString::number(count)});
    }

    void aSmallMaxReceiveCountIsAWarning()
    {
        QueueLook queue = goodQueue();
        queue.attributes.insert(u"RedrivePolicy"_s, uR"({"deadLetterTargetArn":"arn:d","maxReceiveCount":2})"_s);
        expect(judgeQueue(queue), u"queue.receives"_s, Level::Warning, {u"maxReceiveCount is 2"_s, u"3 or more"_s});
    }

    void retentions_data()
    {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("dead");
        QTest::addColumn<Level>("level");
        QTest::addColumn<QStringList>("words");
        QTest::newRow("longer") << u"345600"_s << u"345601"_s << Level::Ok << QStringList{u"4 days"_s};
        QTest::newRow("the same") << u"345600"_s << u"345600"_s << Level::Warning
                                  << QStringList{u"4 days"_s, u"1209600"_s};
        QTest::newRow("shorter") << u"345600"_s << u"86400"_s << Level::Warning << QStringList{u"1 day"_s, u"4 days"_s};
        QTest::newRow("not told") << QString() << u"86400"_s << Level::Warning << QStringList{u"not known"_s};
    }

    void retentions()
    {
        QFETCH(QString, source);
        QFETCH(QString, dead);
        QFETCH(Level, level);
        QFETCH(QStringList, words);
        QueueLook queue = goodQueue(), dlq = goodDlq();
        queue.attributes.insert(u"MessageRetentionPeriod"_s, source);
        dlq.attributes.insert(u"MessageRetentionPeriod"_s, dead);
        expect(judgeDeadLetterQueue(queue, dlq), u"dlq.retention"_s, level, words);
    }

    void moveTasksAreNoFaultEitherWay()
    {
        using Answer = MoveTaskSupport::Answer;
        const QString id = u"dlq.move-tasks"_s;
        expect(judgeMoveTasks({Answer::Yes, {}}), id, Level::Ok, {u"has message move tasks"_s});
        expect(judgeMoveTasks({Answer::No, u"what it said"_s}), id, Level::Ok,
               {u"no message move tasks"_s, u"sends, verifies, deletes"_s, u"what it said"_s});
        expect(judgeMoveTasks({Answer::NotPermitted, u"what it said"_s}), id, Level::Ok,
               {u"not permitted"_s, u"what it said"_s});
        expect(judgeMoveTasks({Answer::Unknown, u"what it said"_s}), id, Level::Warning,
               {u"could not be seen"_s, u"what it said"_s, u"run the check again"_s});
    }

    void theWrongDeadLetterQueueIsNamed()
    {
        QueueLook dlq = goodDlq();
        dlq.attributes.insert(u"QueueArn"_s, u"arn:aws:sqs:us-east-1:000000000000:elsewhere"_s);
        expect(judgeDeadLetterQueue(goodQueue(), dlq), u"dlq.same"_s, Level::Error,
               {u"q-dlq"_s, u"elsewhere"_s, u"--dlq-url"_s});
        expect(judgeDeadLetterQueue(goodQueue(), goodQueue()), u"dlq.same"_s, Level::Error, {u"the queue itself"_s});
        dlq.error = Error{ErrorKind::NotFound, u"gone"_s, u"QueueDoesNotExist"_s};
        expect(judgeDeadLetterQueue(goodQueue(), dlq), u"dlq.reachable"_s, Level::Error, {u"gone"_s, u"--dlq-url"_s});
    }

    void timeOuts_data()
    {
        QTest::addColumn<TimeOuts>("times");
        QTest::addColumn<QString>("id");
        QTest::addColumn<Level>("level");
        QTest::addColumn<QStringList>("words");
        const QString mailId = u"timeouts.mail"_s, lockId = u"timeouts.lock"_s, heartbeatId = u"timeouts.heartbeat"_s;
        QTest::newRow("impatient after the dot")
            << TimeOuts{30s, 10s, 9s, 24s, true} << mailId << Level::Warning
            << QStringList{u"9 s"_s, u"10 s"_s, u"in doubt"_s, u"--mail-final-timeout"_s};
        QTest::newRow("equally patient") << TimeOuts{30s, 10s, 10s, 24s, true} << mailId << Level::Ok
                                         << QStringList{u"10 s"_s};
        QTest::newRow("lock wait as long as V")
            << TimeOuts{30s, 10s, 60s, 30s, true} << lockId << Level::Warning
            << QStringList{u"30 s"_s, u"hands it out once more"_s, u"--lock-timeout"_s};
        QTest::newRow("lock wait just below V")
            << TimeOuts{30s, 10s, 60s, 29'999ms, true} << lockId << Level::Ok << QStringList{u"29999 ms"_s};
        QTest::newRow("no heartbeat") << TimeOuts{30s, 10s, 60s, 24s, false} << heartbeatId << Level::Warning
                                      << QStringList{u"94 s"_s, u"30 s"_s, u"--no-heartbeat"_s};
        QTest::newRow("no heartbeat needed")
            << TimeOuts{94s, 10s, 60s, 24s, false} << heartbeatId << Level::Ok << QStringList{u"94 s"_s};
        QTest::newRow("heartbeat") << TimeOuts{30s, 10s, 60s, 24s, true} << heartbeatId << Level::Ok
                                   << QStringList{u"99 s"_s};
        QTest::newRow("longer than SQS hides")
            << TimeOuts{30s, 10s, 43200s, 24s, true} << heartbeatId << Level::Warning << QStringList{u"12 hours"_s};
        QTest::newRow("no time for a heartbeat") << TimeOuts{1s, 10s, 60s, 800ms, true} << heartbeatId << Level::Warning
                                                 << QStringList{u"500 ms"_s, u"VisibilityTimeout"_s};
    }

    void timeOuts()
    {
        QFETCH(TimeOuts, times);
        QFETCH(QString, id);
        QFETCH(Level, level);
        QFETCH(QStringList, words);
        expect(judgeTimeOuts(times), id, level, words);
    }

    void theLockWaitFollowsTheQueueUnlessItIsSet()
    {
        Config config;
        QCOMPARE(timeOutsOf(config, 30s).lockWait, 24'000ms);
        config.lockTimeout = 7s;
        QCOMPARE(timeOutsOf(config, 30s).lockWait, 7'000ms);
    }
};

Q_DECLARE_METATYPE(sendonce::preflight::FolderFacts)
Q_DECLARE_METATYPE(sendonce::preflight::TimeOuts)

QTEST_GUILESS_MAIN(PreflightTest)
#include "tst_preflight.moc"
