#include "worker/operate/retention.h"

#include <QElapsedTimer>
#include <QRandomGenerator>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr int RowsPerBatch = 1000;
constexpr std::chrono::milliseconds LongestPause = 2s;
constexpr std::chrono::milliseconds ElsewherePause = 250ms; ///< while another cleaner, or a lane, has its turn
constexpr auto LongestRetention = 14 * 24h; ///< that SQS offers; taken where a queue does not say
constexpr int AuditDays = 400;
const QString Act = u"clean up"_s;

std::chrono::seconds retentionOf(const QMap<QString, QString> &attributes)
{
    const qint64 seconds = attributes.value(u"MessageRetentionPeriod"_s).toLongLong();
    return seconds > 0 ? std::chrono::seconds(seconds) : std::chrono::seconds(LongestRetention);
}

} // namespace

KeptFor keptFor(int wantedDays, std::chrono::seconds queue, std::chrono::seconds dlq)
{
    const auto least = queue + 2 * dlq;
    const int leastDays = int(std::chrono::ceil<std::chrono::duration<int, std::ratio<86400>>>(least).count());
    if (wantedDays >= leastDays)
        return {wantedDays, {}};
    return {
        leastDays,
        u"claims are kept %1 days instead of %2: a message can come back for as long as the queue keeps it and its dead letter queue twice"_s
            .arg(leastDays)
            .arg(wantedDays)};
}

struct Retention::Run
{
    Kind kind;
    QStringList spared;
    CleanUp report = {};
    std::chrono::seconds queueRetention{0};
    QDateTime auditBefore = {};
    qint64 lastId = 0;
    int youngInARow = 0;
    std::chrono::milliseconds pause{0};
    std::optional<JournalForgetting> journal = {};
};

Retention::Retention(SqsClient &client, Database &database, Database &journal, Audit &audit, const Config &config,
                     Times times, QObject *parent)
    : QObject(parent)
    , m_client(client)
    , m_database(database)
    , m_journal(journal)
    , m_audit(audit)
    , m_config(config)
    , m_times(times)
    , m_claims(database)
{
    m_due.setSingleShot(true);
    m_due.setTimerType(Qt::VeryCoarseTimer);
    connect(&m_due, &QTimer::timeout, this, [this] {
        const double jitter = QRandomGenerator::global()->generateDouble() / 10 - 0.05;
        m_due.start(std::chrono::duration_cast<std::chrono::milliseconds>(m_times.every * (1 + jitter)));
        if (!m_run)
            begin(Kind::Scheduled, {});
    });
    m_pause.setSingleShot(true);
}

Retention::~Retention() = default;

void Retention::setQueues(const QUrl &queueUrl, const QUrl &dlqUrl)
{
    m_queueUrl = queueUrl;
    m_dlqUrl = dlqUrl;
}

void Retention::schedule()
{
    // Many workers are started in one moment, and need not all clean in one.
    const double jitter = QRandomGenerator::global()->generateDouble();
    if (!m_due.isActive())
        m_due.start(std::chrono::duration_cast<std::chrono::milliseconds>(m_times.first * (1 + jitter)));
}

void Retention::preview(const QStringList &spared)
{
    begin(Kind::Preview, spared);
}

void Retention::clean(const QStringList &spared)
{
    begin(Kind::ByHand, spared);
}

void Retention::begin(Kind kind, const QStringList &spared)
{
    if (m_run) {
        CleanUp refused;
        refused.error = u"a clean-up is running already"_s;
        Q_EMIT kind == Kind::Preview ? previewed(refused) : done(refused);
        return;
    }
    m_run = std::make_unique<Run>(Run{kind, spared});
    m_run->report.scheduled = kind == Kind::Scheduled;
    m_run->report.spared = spared.size();
    const auto possible = m_claims.isPossible();
    if (kind == Kind::Scheduled && possible && !possible.value()) {
        m_run.reset(); // said at the start, when the table could not be made
        return;
    }
    if (!possible)
        end(possible.error().text);
    else if (!possible.value())
        end(u"%1 has no table sendonce_meta, in which a clean-up notes what it forgot"_s.arg(m_database.displayName()));
    else if (m_queueUrl.isEmpty())
        end(u"the queue is not known yet, and with it how long its messages can come back"_s);
    else
        askQueue();
}

void Retention::askQueue()
{
    m_client.getQueueAttributes(m_queueUrl, {u"MessageRetentionPeriod"_s}, this,
                                [this](const Result<QMap<QString, QString>> &attributes) {
                                    if (!attributes) {
                                        end(attributes.error().text);
                                        return;
                                    }
                                    m_run->queueRetention = retentionOf(attributes.value());
                                    askDeadLetterQueue();
                                });
}

void Retention::askDeadLetterQueue()
{
    const auto bound = [this](std::chrono::seconds dlq) {
        const KeptFor kept = keptFor(m_config.keepDays, m_run->queueRetention, dlq);
        m_run->report.keepDays = kept.days;
        m_run->report.warning = kept.warning;
        bounded();
    };
    if (m_dlqUrl.isEmpty()) {
        bound(0s);
        return;
    }
    m_client.getQueueAttributes(m_dlqUrl, {u"MessageRetentionPeriod"_s}, this,
                                [this, bound](const Result<QMap<QString, QString>> &attributes) {
                                    if (attributes)
                                        bound(retentionOf(attributes.value()));
                                    else
                                        end(attributes.error().text);
                                });
}

void Retention::bounded()
{
    CleanUp &report = m_run->report;
    const QDateTime now = QDateTime::currentDateTimeUtc();
    report.before = now.addDays(-report.keepDays);
    m_run->auditBefore = now.addDays(-AuditDays - 1); // the table refuses it before the 400 days are over
    if (m_run->kind != Kind::Scheduled) {
        const auto old = m_claims.count(report.before, m_run->spared);
        if (!old) {
            end(old.error().text);
            return;
        }
        report.rows = old->rows;
        report.oldest = old->oldest;
        report.newest = old->newest;
        if (m_run->kind == Kind::Preview) {
            end();
            return;
        }
        const auto noted = m_audit.note(
            Act, {}, u"forget %1 claims from before %2"_s.arg(report.rows).arg(report.before.toString(Qt::ISODate)));
        if (!noted) {
            end(noted.error().text);
            return;
        }
        report.rows = 0;
    }
    m_run->journal.emplace(m_journal, m_database);
    nextBatch();
}

void Retention::goOn(void (Retention::*next)())
{
    m_pause.disconnect();
    connect(&m_pause, &QTimer::timeout, this, next);
    m_pause.start(m_run->pause);
}

void Retention::nextBatch()
{
    QElapsedTimer took;
    took.start();
    const auto batch = m_claims.take(m_run->lastId, RowsPerBatch, m_run->report.before, m_run->spared);
    if (!batch) {
        end(batch.error().text);
        return;
    }
    if (batch->elsewhere) {
        m_run->pause = ElsewherePause;
        goOn(&Retention::nextBatch);
        return;
    }
    m_run->lastId = batch->lastId;
    m_run->report.rows += batch->taken;
    m_run->youngInARow = batch->taken > 0 ? 0 : m_run->youngInARow + batch->seen;
    // It takes longer where others work, and then makes more room for them.
    m_run->pause = std::clamp<std::chrono::milliseconds>(std::chrono::milliseconds(2 * took.elapsed()),
                                                         m_times.shortestPause, LongestPause);
    const bool enough = m_run->kind == Kind::Scheduled && m_run->youngInARow >= YoungRowsAtTheEnd;
    goOn(batch->seen == 0 || enough ? &Retention::nextJournalBatch : &Retention::nextBatch);
}

void Retention::nextJournalBatch()
{
    const auto taken = m_run->journal->take(RowsPerBatch, m_run->report.before, m_run->auditBefore, m_run->spared);
    if (taken && taken.value() > 0) {
        m_run->report.journalRows += taken.value();
        goOn(&Retention::nextJournalBatch);
        return;
    }
    end(taken ? QString() : taken.error().text);
}

void Retention::end(const QString &error)
{
    const std::unique_ptr<Run> run = std::move(m_run);
    run->report.error = error;
    if (run->kind == Kind::Preview) {
        Q_EMIT previewed(run->report);
        return;
    }
    if (run->kind == Kind::ByHand && run->report.before.isValid()) {
        const QString outcome = error.isEmpty() ? u"%1 claims forgotten"_s.arg(run->report.rows)
                                                : u"%1 claims forgotten, then: %2"_s.arg(run->report.rows).arg(error);
        if (const auto noted = m_audit.note(Act, {}, {}, outcome); !noted && error.isEmpty())
            run->report.error = noted.error().text;
    }
    Q_EMIT done(run->report);
}

} // namespace sendonce
