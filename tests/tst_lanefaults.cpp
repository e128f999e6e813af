#include "app/config/embedded.h"
#include "app/config/settings.h"
#include "tests/world/postgres.h"
#include "worker/store/turn.h"
#include "worker/worker.h"

#include <QtSql/QSqlDatabase>
#include <QtSql/QSqlQuery>
#include <QtTest>

#include <QDir>
#include <QElapsedTimer>
#include <QTemporaryDir>

#include <utility>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

const QStringList OutcomeNames = {u"sent"_s, u"duplicate"_s, u"gone"_s, u"failed"_s, u"in doubt"_s, u"given back"_s};

/// What is armed, and what it must come to: spec.md's table and rules 5 to 7. One event, one message.
struct Case
{
    const char *faults; ///< "where what [ms]; …"
    QStringList outcomes; ///< of its deliveries, in order
    int mails = 1;
    QStringList lines = {}; ///< what of WARNING or ERROR is logged, in order
    int claims = 1; ///< at the end
    int dead = 0; ///< letters
    const char *flags = ""; ///< "in-doubt=hold …"
};

constexpr auto Delay = 300ms; ///< of what only takes longer

const QString Crashed = u"(armed fault) with message"_s;
const QString Twice = u"possibly mailed twice"_s;
const QString Doubtful = u"may have been mailed"_s;
const QString Failure = u"Failed to handle message"_s;
const QString Away = u"The database is away"_s;

const QStringList Sent{u"sent"_s};
const QStringList FailedThenSent{u"failed"_s, u"sent"_s};
const QStringList BackThenSent{u"given back"_s, u"sent"_s};

const QList<Case> TransactionCases = {
    {"worker.received crash", Sent, 1, {Crashed}},
    {"worker.received hang 300", Sent},
    {"worker.received slow 300", Sent},
    {"worker.received clock-jump 86400000", Sent},
    {"worker.claimed crash", Sent, 1, {Crashed}},
    {"worker.claimed hang 300", Sent},
    {"worker.claimed slow 300", Sent},
    {"worker.claimed clock-jump 86400000", Sent},
    {"worker.looked-up crash", Sent, 1, {Crashed}},
    {"worker.looked-up hang 300", Sent},
    {"worker.looked-up slow 300", Sent},
    {"worker.looked-up clock-jump 86400000", Sent},
    {"worker.mid-mail crash", Sent, 1, {Crashed}},
    {"worker.mid-mail hang 300", Sent},
    {"worker.mid-mail slow 300", Sent},
    {"worker.mid-mail clock-jump 86400000", Sent},
    {"worker.handed-over crash", Sent, 2, {Crashed, Twice}},
    {"worker.handed-over hang 300", Sent},
    {"worker.handed-over slow 300", Sent},
    {"worker.accepted crash", Sent, 2, {Crashed, Twice}},
    {"worker.accepted hang 300", Sent},
    {"worker.accepted slow 300", Sent},
    {"worker.committed crash", {u"duplicate"_s}, 1, {Crashed}},
    {"worker.committed hang 300", Sent},
    {"worker.committed slow 300", Sent},
    {"worker.deleted crash", Sent, 1, {Crashed}},
    {"database.claim busy", BackThenSent},
    {"database.claim lock-timeout", BackThenSent},
    {"database.claim cut", BackThenSent, 1, {Away}},
    {"database.claim read-only", FailedThenSent, 1, {Failure}},
    {"database.claim disk-full", FailedThenSent, 1, {Failure}},
    {"database.look-up busy", FailedThenSent, 1, {Failure}},
    {"database.look-up lock-timeout", FailedThenSent, 1, {Failure}},
    {"database.look-up cut", BackThenSent, 1, {Away}},
    {"database.commit busy", Sent},
    {"database.commit cut", Sent},
    {"database.commit commit-then-cut", Sent},
    {"database.commit read-only", Sent},
    {"database.commit disk-full", Sent},
    // With the mail out and no claim there remains a doubt; it is said, and by policy the mail is sent again.
    {"database.reclaim busy; database.commit disk-full", {u"in doubt"_s, u"sent"_s}, 2, {Doubtful}},
    {"database.reclaim cut; database.commit cut", {u"in doubt"_s, u"sent"_s}, 2, {Away, Doubtful}},
    {"database.reclaim read-only; database.commit read-only", {u"in doubt"_s, u"sent"_s}, 2, {Doubtful}},
    {"database.reclaim disk-full; database.commit disk-full", {u"in doubt"_s, u"sent"_s}, 2, {Doubtful}},
    {"database.reclaim cut; database.commit commit-then-cut", {u"in doubt"_s, u"duplicate"_s}, 1, {Away, Doubtful}},
    {"database.reclaim disk-full; database.commit cut",
     {u"in doubt"_s, u"in doubt"_s, u"in doubt"_s},
     1,
     {Doubtful, Doubtful, Doubtful},
     0,
     1,
     "in-doubt=hold"},
    {"database.reclaim disk-full; database.commit cut",
     {u"in doubt"_s, u"sent"_s},
     1,
     {Doubtful},
     1,
     0,
     "in-doubt=ask"},
};

const QStringList TwoDoubts{u"in doubt"_s, u"in doubt"_s};
const QStringList ThreeDoubts = TwoDoubts + QStringList{u"in doubt"_s};
const QStringList HeldLines{Doubtful, Doubtful};
const QStringList CrashedAndHeld = QStringList{Crashed} + HeldLines;
const QStringList ThreeHeld = HeldLines + QStringList{Doubtful};

/// The default policy is hold: what is in doubt waits for a person.
const QList<Case> MarkCases = {
    {"worker.received crash", Sent, 1, {Crashed}},
    {"worker.received hang 300", Sent},
    {"worker.received slow 300", Sent},
    {"worker.received clock-jump 86400000", Sent}, // the claim comes after it
    {"worker.claimed crash", TwoDoubts, 0, CrashedAndHeld, 0, 1},
    {"worker.claimed hang 300", Sent},
    {"worker.claimed slow 300", Sent},
    {"worker.claimed clock-jump 86400000", FailedThenSent, 1, {u"the final dot was not written"_s}},
    {"worker.looked-up crash", TwoDoubts, 0, CrashedAndHeld, 0, 1},
    {"worker.looked-up hang 300", Sent},
    {"worker.looked-up slow 300", Sent},
    {"worker.looked-up clock-jump 86400000", FailedThenSent, 1, {u"the final dot was not written"_s}},
    {"worker.mid-mail crash", TwoDoubts, 0, CrashedAndHeld, 0, 1},
    {"worker.mid-mail hang 300", Sent},
    {"worker.mid-mail slow 300", Sent},
    {"worker.mid-mail clock-jump 86400000", FailedThenSent, 1, {u"the final dot was not written"_s}},
    {"worker.mid-mail clock-jump 3000", Sent}, // the lease of 14 s lasts
    {"worker.handed-over crash", TwoDoubts, 1, CrashedAndHeld, 0, 1},
    {"worker.handed-over hang 300", Sent},
    {"worker.handed-over slow 300", Sent},
    {"worker.accepted crash", TwoDoubts, 1, CrashedAndHeld, 0, 1},
    {"worker.accepted hang 300", Sent},
    {"worker.accepted slow 300", Sent},
    {"worker.committed crash", {u"duplicate"_s}, 1, {Crashed}},
    {"worker.committed hang 300", Sent},
    {"worker.committed slow 300", Sent},
    {"worker.deleted crash", Sent, 1, {Crashed}},
    {"worker.claimed crash", Sent, 1, {Crashed}, 1, 0, "in-doubt=ask"},
    {"worker.accepted crash", Sent, 1, {Crashed}, 1, 0, "in-doubt=ask"},
    {"worker.claimed crash", Sent, 1, {Crashed, Twice}, 1, 0, "in-doubt=resend"},
    {"worker.accepted crash", Sent, 2, {Crashed, Twice}, 1, 0, "in-doubt=resend"},
    {"database.claim busy", BackThenSent},
    {"database.claim lock-timeout", BackThenSent},
    {"database.claim cut", BackThenSent, 1, {Away}},
    {"database.claim read-only", FailedThenSent, 1, {Failure}},
    {"database.claim disk-full", FailedThenSent, 1, {Failure}},
    {"database.look-up busy", BackThenSent}, // it is part of the claim
    {"database.look-up lock-timeout", BackThenSent},
    {"database.look-up cut", BackThenSent, 1, {Away}},
    {"database.commit cut", Sent},
    {"database.commit commit-then-cut", Sent},
    {"database.commit busy", ThreeDoubts, 1, ThreeHeld, 0, 1},
    {"database.commit read-only", ThreeDoubts, 1, ThreeHeld, 0, 1},
    {"database.commit disk-full", ThreeDoubts, 1, ThreeHeld, 0, 1},
    {"database.reclaim busy; database.commit cut", ThreeDoubts, 1, ThreeHeld, 0, 1},
    {"database.reclaim cut; database.commit cut", ThreeDoubts, 1, QStringList{Away} + ThreeHeld, 0, 1},
    {"database.reclaim read-only; database.commit cut", ThreeDoubts, 1, ThreeHeld, 0, 1},
    {"database.reclaim disk-full; database.commit cut", ThreeDoubts, 1, ThreeHeld, 0, 1},
    {"database.reclaim cut; database.commit commit-then-cut", {u"in doubt"_s, u"duplicate"_s}, 1, {Away, Doubtful}},
};

/// "worker.claimed slow 300"
FaultRule ruleOf(const QString &words)
{
    const QStringList parts = words.trimmed().split(u' ');
    FaultRule rule;
    rule.where = faultPoint(parts[0]).value();
    rule.what = faultEffect(parts[1], rule.where).value();
    rule.delay = std::chrono::milliseconds(parts.value(2).toInt());
    return rule;
}

QStringList faultsOf(const Case &each)
{
    return QString::fromLatin1(each.faults).split(u';');
}

void addRows(const QList<Case> &cases)
{
    QTest::addColumn<int>("number");
    for (int i = 0; i < cases.size(); ++i) {
        const QByteArray flags = *cases[i].flags ? ", "_ba + cases[i].flags : QByteArray();
        QTest::newRow((QByteArray(cases[i].faults) + flags).constData()) << i;
    }
}

} // namespace

/// Every fault of a worker and of its database on the true path: a true worker whose lanes die as processes do, on true
/// embedded services, both in this process.
class LaneFaults : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<LocalServices> m_services;
    std::unique_ptr<Worker> m_worker;
    std::unique_ptr<QSignalSpy> m_started, m_delivered, m_crashed, m_logged, m_counters, m_depth, m_armed, m_states;
    world::Postgres m_postgres;

    void startServices(int maxReceiveCount = 3)
    {
        m_services.reset();
        m_dir = std::make_unique<QTemporaryDir>();
        m_services = std::make_unique<LocalServices>();
        LocalSettings settings;
        settings.dataDir = m_dir->path();
        settings.sqsPort = settings.smtpPort = 0;
        settings.visibilityTimeoutSeconds = 1;
        settings.maxReceiveCount = maxReceiveCount;
        auto started = startEmbedded(*m_services, settings);
        QVERIFY2(started, started ? "" : qPrintable(started.error().text));
        m_addresses = started.value();
    }
    LocalAddresses m_addresses;

    void open(QMap<QString, QString> flags = {}, int maxReceiveCount = 3)
    {
        startServices(maxReceiveCount);
        flags.insert(u"mail-timeout"_s, u"2s"_s);
        flags.insert(u"mail-final-timeout"_s, u"2s"_s);
        auto config = resolve(gather(flags, {}), {}, m_dir->path(), m_addresses);
        QVERIFY2(config, config ? "" : qPrintable(config.error().text));
        Config settings = config.take();
        settings.crashEndsLane = true;
        settings.depthInterval = 100ms;
        settings.embedded = true; // also with a PostgreSQL of ours
        m_worker = std::make_unique<Worker>(settings);
        m_started = std::make_unique<QSignalSpy>(m_worker.get(), &Worker::deliveryStarted);
        m_delivered = std::make_unique<QSignalSpy>(m_worker.get(), &Worker::delivered);
        m_crashed = std::make_unique<QSignalSpy>(m_worker.get(), &Worker::crashed);
        m_logged = std::make_unique<QSignalSpy>(m_worker.get(), &Worker::logged);
        m_counters = std::make_unique<QSignalSpy>(m_worker.get(), &Worker::countersChanged);
        m_depth = std::make_unique<QSignalSpy>(m_worker.get(), &Worker::depthSampled);
        m_armed = std::make_unique<QSignalSpy>(m_worker.get(), &Worker::armedChanged);
        m_states = std::make_unique<QSignalSpy>(m_worker.get(), &Worker::stateChanged);
        QSignalSpy opened(m_worker.get(), &Worker::opened);
        m_worker->open();
        QTRY_COMPARE(opened.size(), 1);
    }
    void close()
    {
        if (m_worker) {
            QSignalSpy closed(m_worker.get(), &Worker::closed);
            m_worker->close();
            QTRY_COMPARE_WITH_TIMEOUT(closed.size(), 1, 15'000);
        }
        m_worker.reset();
        m_services.reset();
    }

    FaultRules armed() const { return m_armed->isEmpty() ? FaultRules() : m_armed->last().at(0).value<FaultRules>(); }
    void arm(const FaultRule &rule)
    {
        const qsizetype before = armed().size();
        m_worker->arm(rule);
        QTRY_COMPARE(armed().size(), before + 1);
    }
    void send(const QString &event = u"E"_s, int copies = 1, qint64 application = 3)
    {
        SendRequest request;
        request.eventId = event;
        request.copies = copies;
        request.applicationId = application;
        QSignalSpy sent(m_worker.get(), &Worker::sendFinished);
        m_worker->send(request);
        QTRY_COMPARE(sent.size(), 1);
        QCOMPARE(sent[0].at(0).value<SendReport>().error, QString());
    }
    WorkerState state() const
    {
        return m_states->isEmpty() ? WorkerState::Stopped : m_states->last().at(0).value<WorkerState>();
    }

    DeliveryReport report(qsizetype index) const { return (*m_delivered)[index].at(0).value<DeliveryReport>(); }
    QStringList outcomes() const
    {
        QStringList names;
        for (qsizetype i = 0; i < m_delivered->size(); ++i)
            names.append(OutcomeNames[int(report(i).outcome)]);
        return names;
    }
    Counters counters() const
    {
        return m_counters->isEmpty() ? Counters() : m_counters->last().at(0).value<Counters>();
    }
    QStringList complaints() const
    {
        QStringList lines;
        for (const QList<QVariant> &each : *m_logged) {
            const auto line = each.at(0).value<LogLine>();
            if (line.level == LogLevel::Warning || line.level == LogLevel::Error)
                lines.append(line.text);
        }
        return lines;
    }
    int logged(const QString &text) const
    {
        return int(std::count_if(m_logged->cbegin(), m_logged->cend(), [&](const auto &each) {
            return each.at(0).template value<LogLine>().text.contains(text);
        }));
    }

    /// Nothing is in the queue any more, in two samples that were taken after all of that had happened.
    void waitForTheEnd(qsizetype deliveries, qsizetype dead = 0)
    {
        QTRY_VERIFY2_WITH_TIMEOUT(m_delivered->size() >= deliveries, qPrintable(outcomes().join(u", "_s)), 20'000);
        const qsizetype samples = m_depth->size();
        QTRY_VERIFY_WITH_TIMEOUT(m_depth->size() >= samples + 2 && isQuiet(samples, dead), 20'000);
    }
    bool isQuiet(qsizetype since, qsizetype dead) const
    {
        int quiet = 0;
        for (qsizetype i = m_depth->size() - 1; i >= since; --i) {
            const auto depth = (*m_depth)[i].at(0).value<QueueDepth>();
            if (depth.visible + depth.inFlight + depth.delayed > 0 || depth.deadLetters < dead)
                break;
            ++quiet;
        }
        return quiet >= 2;
    }
    qint64 deadLetters() const { return m_depth->last().at(0).value<QueueDepth>().deadLetters; }

    int mails(const QString &event = u"E"_s) const
    {
        int count = 0;
        const QDir folder(m_dir->path() + u"/mailbox/new"_s);
        for (const QString &name : folder.entryList(QDir::Files)) {
            QFile file(folder.filePath(name));
            count += file.open(QIODevice::ReadOnly)
                && QString::fromUtf8(file.readAll()).contains(u"X-Sendonce-Event: %1\r\n"_s.arg(event));
        }
        return count;
    }
    qint64 ask(const QString &sql) const
    {
        qint64 answer = -1;
        {
            QSqlDatabase database = QSqlDatabase::addDatabase(u"QSQLITE"_s, u"test"_s);
            database.setDatabaseName(m_dir->path() + u"/sendonce.db"_s);
            database.setConnectOptions(u"QSQLITE_BUSY_TIMEOUT=5000"_s);
            if (database.open()) {
                QSqlQuery query(database);
                if (query.exec(sql))
                    answer = query.next() ? query.value(0).toLongLong() : query.numRowsAffected();
            }
        }
        QSqlDatabase::removeDatabase(u"test"_s);
        return answer;
    }
    qint64 claims() const { return ask(u"SELECT count(*) FROM jobs_processedevent"_s); }

    /// What became of one message, as the case says.
    void judge(const Case &each, QMap<QString, QString> flags)
    {
        for (const QString &flag : QString::fromLatin1(each.flags).split(u' ', Qt::SkipEmptyParts))
            flags.insert(flag.section(u'=', 0, 0), flag.section(u'=', 1));
        open(flags);
        bool crashes = false;
        for (const QString &words : faultsOf(each)) {
            const FaultRule rule = ruleOf(words);
            crashes = crashes || rule.what == FaultEffect::Crash;
            arm(rule);
        }
        const FaultRule first = ruleOf(faultsOf(each).first());
        // A worker that has died between claim and mark leaves a lease, and whoever comes waits for its end.
        connect(m_worker.get(), &Worker::crashed, this,
                [this] { QVERIFY(ask(u"UPDATE sendonce_delivery SET lease_until = 0"_s) >= 0); });
        QElapsedTimer worked;
        connect(m_worker.get(), &Worker::deliveryStarted, this, [&] {
            if (!worked.isValid()) // the second may begin before the journal has told of the first
                worked.start();
        });
        qint64 firstTook = -1;
        connect(m_worker.get(), &Worker::delivered, this, [&] {
            if (firstTook < 0)
                firstTook = worked.elapsed();
        });
        send();
        m_worker->start();
        waitForTheEnd(each.outcomes.size(), each.dead);

        QCOMPARE(outcomes(), each.outcomes);
        QCOMPARE(mails(), each.mails);
        QCOMPARE(claims(), each.claims);
        QCOMPARE(deadLetters(), each.dead);
        QCOMPARE(armed(), FaultRules()); // all of them have struck
        QCOMPARE(m_crashed->size(), crashes ? 1 : 0);
        if (crashes) {
            QCOMPARE(m_crashed->first().at(2).toString(), u"E"_s);
            QCOMPARE(m_crashed->first().at(3).value<FaultPoint>(), first.where);
        }
        const QString said = complaints().join(u'\n');
        QVERIFY2(complaints().size() == each.lines.size(), qPrintable(said));
        for (qsizetype i = 0; i < each.lines.size(); ++i)
            QVERIFY2(complaints()[i].contains(each.lines[i]), qPrintable(said));
        const auto count = [&each](const QString &line) { return each.lines.count(line); };
        QCOMPARE(counters().possiblyTwice, count(Twice));
        QCOMPARE(counters().inDoubt, count(Doubtful));
        QCOMPARE(counters().sent, each.outcomes.count(u"sent"_s));
        QCOMPARE(logged(u"The database is reachable again"_s), count(Away));
        if (first.what == FaultEffect::Hang || first.what == FaultEffect::Slow)
            QVERIFY2(firstTook >= Delay.count(), qPrintable(QString::number(firstTook)));
        if (first.what == FaultEffect::LockTimeout)
            QVERIFY2(firstTook >= 800, qPrintable(QString::number(firstTook))); // of 1 s visibility
        QCOMPARE(Turn::waiting(m_dir->path() + u"/sendonce.db"_s), 0);
        if (!m_delivered->isEmpty() && each.dead == 0) {
            // Each crash and each other end has cost one receive, and nothing was received in vain.
            const qsizetype before = first.where == FaultPoint::WorkerDeleted ? 0 : m_crashed->size();
            QCOMPARE(report(m_delivered->size() - 1).receiveCount, int(before + each.outcomes.size()));
        }
    }

    static void verifyEveryFaultIsACase(const QList<Case> &cases)
    {
        QStringList missing;
        for (int i = int(FaultPoint::DatabaseClaim); i < FaultPointCount; ++i) {
            for (const FaultEffect effect : faultEffectsAt(FaultPoint(i))) {
                const bool found = std::any_of(cases.cbegin(), cases.cend(), [&](const Case &each) {
                    const FaultRule rule = ruleOf(faultsOf(each).first());
                    return rule.where == FaultPoint(i) && rule.what == effect;
                });
                if (!found)
                    missing.append(faultPointName(FaultPoint(i)) + u' ' + faultEffectName(effect));
            }
        }
        QCOMPARE(missing, QStringList());
    }

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }
    void cleanup() { close(); }

    void everyFaultIsACase()
    {
        verifyEveryFaultIsACase(TransactionCases);
        verifyEveryFaultIsACase(MarkCases);
    }

    void inOneTransaction_data() { addRows(TransactionCases); }
    void inOneTransaction()
    {
        QFETCH(int, number);
        judge(TransactionCases[number], {});
    }

    void withClaimSendMark_data() { addRows(MarkCases); }
    void withClaimSendMark()
    {
        QFETCH(int, number);
        judge(MarkCases[number], {{u"strategy"_s, u"claim-send-mark"_s}});
    }

    void whatWouldNotBeMailedIsClaimedAllTheSame_data()
    {
        QTest::addColumn<QString>("fault");
        QTest::addColumn<QStringList>("ends");
        QTest::newRow("cut") << u"database.commit cut"_s << QStringList{u"given back"_s, u"gone"_s};
        QTest::newRow("committed") << u"database.commit commit-then-cut"_s
                                   << QStringList{u"given back"_s, u"duplicate"_s};
        QTest::newRow("disk") << u"database.commit disk-full"_s << QStringList{u"failed"_s, u"gone"_s};
        QTest::newRow("crash") << u"worker.committed crash"_s << QStringList{u"duplicate"_s};
    }
    void whatWouldNotBeMailedIsClaimedAllTheSame()
    {
        QFETCH(QString, fault);
        QFETCH(QStringList, ends);
        open();
        arm(ruleOf(fault));
        send(u"E"_s, 1, 99); // no such application
        m_worker->start();
        waitForTheEnd(ends.size());
        QCOMPARE(outcomes(), ends);
        QCOMPARE(mails(), 0);
        QCOMPARE(claims(), 1);
        QCOMPARE(deadLetters(), 0);
    }

    void aDuplicateNeedsNoCommit()
    {
        open();
        m_worker->start();
        send();
        waitForTheEnd(1);
        for (const QString &fault : {u"database.commit cut"_s, u"database.commit disk-full"_s})
            arm(ruleOf(fault));
        send(u"E"_s, 2);
        waitForTheEnd(3);
        QCOMPARE(outcomes(), (QStringList{u"sent"_s, u"duplicate"_s, u"duplicate"_s}));
        QCOMPARE(mails(), 1);
    }

    void theOtherCopyOfWhatACrashLeftIsNotLost()
    {
        // The first copy is mailed, and its lane dies; the second one finds no claim and mails; then the first is
        // skipped.
        open();
        arm(ruleOf(u"worker.accepted crash"_s));
        send(u"E"_s, 2);
        m_worker->start();
        waitForTheEnd(2);
        QCOMPARE(outcomes(), (QStringList{u"sent"_s, u"duplicate"_s}));
        QCOMPARE(mails(), 2);
        QCOMPARE(claims(), 1);
        QCOMPARE(counters().possiblyTwice, 1);
    }

    void onlyWhomItIsFor()
    {
        open();
        FaultRule rule = ruleOf(u"worker.looked-up crash"_s);
        rule.event = u"E-?"_s;
        rule.recipient = u"sam@*"_s;
        rule.type = u"application.*"_s;
        arm(rule);
        rule = ruleOf(u"worker.claimed crash"_s);
        rule.recipient = u"*"_s; // nobody knows it there
        arm(rule);
        m_worker->start();
        send(u"F-1"_s);
        waitForTheEnd(1);
        QCOMPARE(m_crashed->size(), 0);
        send(u"E-1"_s);
        waitForTheEnd(2);
        QCOMPARE(m_crashed->size(), 1);
        QCOMPARE(m_crashed->first().at(2).toString(), u"E-1"_s);
        QCOMPARE(armed().size(), 1);
        QCOMPARE(mails(u"E-1"_s), 1);
        QCOMPARE(mails(u"F-1"_s), 1);
    }

    void alsoBehindTheDelete()
    {
        open();
        FaultRule rule = ruleOf(u"worker.deleted crash"_s);
        rule.event = u"E"_s;
        arm(rule);
        m_worker->start();
        send(u"F"_s);
        waitForTheEnd(1);
        QCOMPARE(m_crashed->size(), 0);
        send(u"E"_s);
        waitForTheEnd(2);
        QCOMPARE(m_crashed->size(), 1);
        QCOMPARE(logged(u"it was settled, nothing is lost"_s), 1);
    }

    void theOnlyLaneDiesAgainAndAgain()
    {
        open();
        FaultRule rule = ruleOf(u"worker.claimed crash"_s);
        rule.times = 2;
        arm(rule);
        send();
        m_worker->start();
        waitForTheEnd(1);
        QCOMPARE(m_crashed->size(), 2);
        QCOMPARE(outcomes(), Sent);
        QCOMPARE(report(0).receiveCount, 3);
        QCOMPARE(mails(), 1);
    }

    void whoAlwaysDiesOfAMessageLeavesItToTheDeadLetters()
    {
        open();
        FaultRule rule = ruleOf(u"worker.claimed crash"_s);
        rule.times = 0;
        rule.event = u"E"_s;
        arm(rule);
        send();
        send(u"F"_s);
        m_worker->start();
        waitForTheEnd(1, 1);
        QCOMPARE(m_crashed->size(), 3);
        QCOMPARE(outcomes(), Sent);
        QCOMPARE(report(0).eventId, u"F"_s);
        QCOMPARE(mails(), 0);
        QCOMPARE(claims(), 1);
        m_worker->disarmAll();
        QTRY_COMPARE(armed(), FaultRules());
    }

    void aStopDoesNotWaitForALaneThatBeginsAnew()
    {
        open();
        arm(ruleOf(u"worker.claimed crash"_s));
        send();
        m_worker->start();
        QElapsedTimer stopping;
        connect(m_worker.get(), &Worker::crashed, this, [&] {
            m_worker->stop();
            stopping.start();
        });
        QTRY_VERIFY(m_crashed->size() == 1 && state() == WorkerState::Stopped);
        QVERIFY2(stopping.elapsed() < 450, qPrintable(QString::number(stopping.elapsed())));
        QCOMPARE(m_delivered->size(), 0);
        m_worker->start();
        waitForTheEnd(1);
        QCOMPARE(outcomes(), Sent);
        QCOMPARE(mails(), 1);
    }

    void startedAgainWhileALaneBeginsAnewItWorks()
    {
        open();
        arm(ruleOf(u"worker.claimed crash"_s));
        send();
        m_worker->start();
        connect(m_worker.get(), &Worker::crashed, this, [&] {
            m_worker->stop();
            m_worker->start();
        });
        waitForTheEnd(1);
        QCOMPARE(outcomes(), Sent);
        QCOMPARE(mails(), 1);
        QCOMPARE(state(), WorkerState::Running);
    }

    void aCrashWhileItStops()
    {
        open();
        arm(ruleOf(u"worker.claimed hang"_s)); // until it is stopped
        arm(ruleOf(u"worker.looked-up crash"_s));
        send();
        m_worker->start();
        QTRY_COMPARE(armed().size(), 1);
        m_worker->stop();
        QTRY_COMPARE(state(), WorkerState::Stopped);
        QCOMPARE(m_crashed->size(), 1);
        QCOMPARE(m_delivered->size(), 0);
        m_worker->start();
        waitForTheEnd(1);
        QCOMPARE(mails(), 1);
    }

    void closedWhileALaneBeginsAnew()
    {
        open();
        arm(ruleOf(u"worker.accepted crash"_s));
        send();
        m_worker->start();
        QTRY_COMPARE(m_crashed->size(), 1);
        close();
    }

    void whatHangsEndsWithAStop_data()
    {
        QTest::addColumn<QString>("strategy");
        QTest::addColumn<QString>("point");
        QTest::addColumn<QString>("outcome");
        for (const QString &strategy : {u"transaction"_s, u"claim-send-mark"_s}) {
            const auto row = [&strategy](const QString &point, const QString &outcome) {
                QTest::newRow(qPrintable(strategy + u", "_s + point)) << strategy << point << outcome;
            };
            row(u"worker.received"_s, u"given back"_s);
            row(u"worker.claimed"_s, u"given back"_s);
            row(u"worker.looked-up"_s, u"given back"_s);
            row(u"worker.mid-mail"_s, u"given back"_s);
            row(u"worker.handed-over"_s, u"sent"_s); // behind the dot nothing is abandoned
            row(u"worker.accepted"_s, u"sent"_s);
            row(u"worker.committed"_s, u"sent"_s);
        }
    }
    void whatHangsEndsWithAStop()
    {
        QFETCH(QString, strategy);
        QFETCH(QString, point);
        QFETCH(QString, outcome);
        open({{u"strategy"_s, strategy}});
        arm(ruleOf(point + u" hang"_s));
        send();
        m_worker->start();
        QTRY_COMPARE(armed(), FaultRules());
        const qsizetype samples = m_depth->size();
        QTRY_VERIFY(m_depth->size() > samples + 3); // it would have gone on by now
        QCOMPARE(m_delivered->size(), 0);
        QElapsedTimer stopping;
        stopping.start();
        m_worker->stop();
        QTRY_COMPARE(state(), WorkerState::Stopped);
        QVERIFY2(stopping.elapsed() < 1500, qPrintable(QString::number(stopping.elapsed())));
        QCOMPARE(outcomes(), QStringList{outcome});
        QCOMPARE(mails(), outcome == "sent"_L1 ? 1 : 0);
        QCOMPARE(claims(), outcome == "sent"_L1 ? 1 : 0);
        QCOMPARE(ask(u"SELECT count(*) FROM sendonce_delivery"_s), 0);
        m_worker->start();
        waitForTheEnd(outcome == "sent"_L1 ? 1 : 2);
        QCOMPARE(mails(), 1);
    }

    void withASeedTheSameDeliveriesAreStruck()
    {
        const auto run = [this] {
            open({}, 20);
            FaultRule rule = ruleOf(u"worker.claimed crash"_s);
            rule.times = 0;
            rule.oneIn = 2;
            rule.seed = 5;
            arm(rule);
            rule = ruleOf(u"database.claim disk-full"_s);
            rule.times = 0;
            rule.oneIn = 3;
            arm(rule);
            for (int i = 0; i < 8; ++i)
                send(u"E-%1"_s.arg(i));
            QStringList struck;
            connect(m_worker.get(), &Worker::crashed, this,
                    [&](int, const QString &, const QString &event) { struck.append(event + u" crashed"_s); });
            connect(m_worker.get(), &Worker::delivered, this, [&](const DeliveryReport &each) {
                if (each.outcome == Outcome::Failed)
                    struck.append(each.eventId + u" failed"_s);
            });
            m_worker->start();
            [&] { QTRY_COMPARE_WITH_TIMEOUT(counters().sent, 8, 40'000); }();
            for (int i = 0; i < 8; ++i)
                struck.append(u"%1 mails"_s.arg(mails(u"E-%1"_s.arg(i))));
            close();
            struck.sort();
            return struck;
        };
        const QStringList first = run();
        QVERIFY2(first.size() > 8 + 5, qPrintable(first.join(u", "_s)));
        QCOMPARE(first.filter(u" mails"_s), QStringList(8, u"1 mails"_s));
        QCOMPARE(run(), first);
    }

    void withOneLaneTheOutcomesComeInTheSameOrder()
    {
        const auto run = [this](quint32 seed) {
            open({{u"lanes"_s, u"1"_s}}, 20);
            const auto armOneIn = [this](const QString &words, int oneIn, quint32 itsSeed) {
                FaultRule rule = ruleOf(words);
                rule.times = 0;
                rule.oneIn = oneIn;
                rule.seed = itsSeed;
                if (rule.what == FaultEffect::Reply)
                    rule.code = 451;
                arm(rule);
            };
            armOneIn(u"database.claim disk-full"_s, 3, seed);
            armOneIn(u"database.look-up busy"_s, 4, seed + 1);
            armOneIn(u"mail.end reply"_s, 3, seed + 2);
            for (int i = 0; i < 9; ++i)
                send(u"E-%1"_s.arg(i));
            m_worker->start();
            [&] { QTRY_COMPARE_WITH_TIMEOUT(counters().sent, 9, 40'000); }();
            QStringList order;
            for (qsizetype i = 0; i < m_delivered->size(); ++i)
                order.append(report(i).eventId + u' ' + outcomes()[i]);
            close();
            return order;
        };
        const QStringList first = run(5);
        QVERIFY2(first.filter(u" failed"_s).size() > 5, qPrintable(first.join(u", "_s)));
        const QStringList second = run(5);
        QVERIFY2(second == first, qPrintable(first.join(u", "_s) + u'\n' + second.join(u", "_s)));
        QVERIFY(run(50) != first);
    }

    void twoLanesOnPostgresql_data()
    {
        QTest::addColumn<QString>("strategy");
        QTest::addColumn<QString>("fault");
        QTest::addColumn<bool>("mayMailTwice");
        QTest::addColumn<bool>("mayBeHeld");
        for (const char *fault :
             {"worker.received crash", "worker.claimed crash", "worker.looked-up crash", "worker.mid-mail crash",
              "worker.committed crash", "worker.deleted crash", "database.claim cut", "database.claim busy",
              "database.claim disk-full", "database.look-up cut", "database.commit cut",
              "database.commit commit-then-cut", "database.commit disk-full"})
            QTest::newRow(fault) << u"transaction"_s << QString::fromLatin1(fault) << false << false;
        for (const char *fault : {"worker.handed-over crash", "worker.accepted crash"})
            QTest::newRow(fault) << u"transaction"_s << QString::fromLatin1(fault) << true << false;
        for (const char *fault : {"worker.received crash", "worker.committed crash", "worker.deleted crash",
                                  "database.claim cut", "database.claim disk-full", "database.commit cut",
                                  "database.commit commit-then-cut", "worker.mid-mail clock-jump 86400000"}) {
            QTest::newRow((QByteArray("claim-send-mark, ") + fault).constData())
                << u"claim-send-mark"_s << QString::fromLatin1(fault) << false << false;
        }
        QTest::newRow("claim-send-mark, worker.accepted crash")
            << u"claim-send-mark"_s << u"worker.accepted crash"_s << false << true;
    }
    void twoLanesOnPostgresql()
    {
        // Lanes that share a thread: while one of them dies the other works.
        QFETCH(QString, strategy);
        QFETCH(QString, fault);
        QFETCH(bool, mayMailTwice);
        QFETCH(bool, mayBeHeld);
        if (m_postgres.port() == 0 && !m_postgres.start())
            QSKIP(qPrintable(m_postgres.why()));
        const QString database = m_postgres.createJobBoard();
        QVERIFY2(!database.isEmpty(), qPrintable(m_postgres.why()));
        constexpr int Events = 12, Struck = 4;
        open({{u"database-url"_s, m_postgres.url(database)}, {u"strategy"_s, strategy}, {u"lanes"_s, u"2"_s}}, 10);
        FaultRule rule = ruleOf(fault);
        rule.times = Struck;
        rule.oneIn = 2;
        rule.seed = 3;
        arm(rule);
        for (int i = 0; i < Events; ++i)
            send(u"E-%1"_s.arg(i));
        m_worker->start();
        const auto sql = [&](const QString &statement) { return m_postgres.sql(database, statement); };
        if (mayBeHeld) // whoever was mailed without a mark is somebody's lease, and then in doubt
            QTRY_VERIFY_WITH_TIMEOUT(m_crashed->size() == Struck
                                         && sql(u"SELECT count(*) FROM jobs_processedevent"_s)
                                             == QString::number(Events - Struck),
                                     40'000);
        else
            QTRY_COMPARE_WITH_TIMEOUT(sql(u"SELECT count(*) FROM jobs_processedevent"_s), QString::number(Events),
                                      40'000);
        if (!mayBeHeld)
            waitForTheEnd(0);
        int copies = 0;
        for (int i = 0; i < Events; ++i) {
            const int mailed = mails(u"E-%1"_s.arg(i));
            QVERIFY(mailed >= 1 && (mailed == 1 || mayMailTwice));
            copies += mailed - 1;
        }
        QCOMPARE(copies, mayMailTwice ? Struck : 0);
        QCOMPARE(counters().possiblyTwice, copies); // none of them silently
        QCOMPARE(counters().inDoubt, 0);
        if (rule.what == FaultEffect::Crash)
            QCOMPARE(m_crashed->size(), Struck);
        QCOMPARE(sql(u"SELECT count(*) FROM sendonce_delivery"_s), mayBeHeld ? QString::number(Struck) : u"0"_s);
    }
};

QTEST_GUILESS_MAIN(LaneFaults)
#include "tst_lanefaults.moc"
