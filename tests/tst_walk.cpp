#include "worker/consume/deliverymachine.h"
#include "worker/local/localqueues.h"

#include <QtTest>

#include <deque>
#include <random>

using namespace sendonce;
using namespace Qt::StringLiterals;
using Kind = DeliveryCommand::Kind;
using Row = std::optional<QMap<QString, QVariant>>;

/// The true queue and the true delivery machine, one modelled database and mail server, one seeded scheduler that lets
/// several lanes run, fail and crash at any step. What must hold: no event is mailed twice but for the counted
/// instants, none is left unmailed while its message lives, and no double is silent (spec.md, "The guarantee").
class Walk : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void everyEventIsMailedOnceOverAThousandWalks();
    void aDesignThatClaimsBeforeTheSendIsCaught();
    void aDesignThatTakesErrorsForDuplicatesIsCaught();
};

namespace {

EventTypes types;
const QString Queue = u"job-board-events"_s;

/// The designs that fail, to show that the judge can see it (reliability.md, "Known-bad controls").
enum class Design { OneTransaction, CommitsTheClaimFirst, AnyErrorIsADuplicate };

struct Lane
{
    std::unique_ptr<DeliveryMachine> delivery;
    DeliveryCommand next;
    QString receiptHandle;
    QMap<QString, QString> uncommitted; ///< event_id -> processed_at
    bool inTransaction = false;
    bool handedOver = false; ///< the slot in the handover file is filled
};

class World
{
public:
    World(quint32 seed, Design design)
        : m_random(seed)
        , m_design(design)
        , m_queues([this] { return quint64(m_random()) << 32 | m_random(); })
    {
        m_queues.advance({m_now, m_now});
        apply(local::CreateQueueRequest{Queue, {{u"VisibilityTimeout"_s, u"30"_s}}, {}});
        m_lanes.resize(1 + below(3));
        const int events = 1 + below(4);
        for (int i = 0; i < events; ++i) {
            const QString eventId = u"event-%1"_s.arg(i);
            m_mails.insert(eventId, 0);
            for (int copies = 1 + below(3); copies > 0; --copies) {
                local::OutgoingMessage message;
                message.body = QString::fromUtf8(composeStatusChanged(eventId, 3, u"reviewing"_s, u"interview"_s));
                apply(local::SendMessageRequest{Queue, message});
            }
        }
    }

    /// Some hundred steps with faults, then a drain without. Empty: all promises kept.
    QString run()
    {
        for (int i = 0; i < 150; ++i)
            step(true);
        for (int i = 0; i < 5000 && !drained(); ++i)
            step(false);
        if (!drained())
            return u"the queue does not drain"_s;
        for (auto mails = m_mails.cbegin(); mails != m_mails.cend(); ++mails) {
            if (mails.value() < 1)
                return u"%1 was never mailed"_s.arg(mails.key());
            if (mails.value() > 1 + m_excused.value(mails.key()))
                return u"%1 was mailed %2 times, with %3 counted instants"_s.arg(mails.key())
                    .arg(mails.value())
                    .arg(m_excused.value(mails.key()));
            if (mails.value() > 1 + m_announced.value(mails.key()))
                return u"%1 was mailed %2 times, but only %3 were announced"_s.arg(mails.key())
                    .arg(mails.value())
                    .arg(m_announced.value(mails.key()));
            if (!m_claims.contains(mails.key()))
                return u"%1 is mailed but not claimed"_s.arg(mails.key());
        }
        return {};
    }

private:
    int below(int bound) { return int(m_random() % quint32(bound)); }
    bool chance(int percent) { return below(100) < percent; }

    local::SqsReply apply(const local::SqsRequest &request)
    {
        auto reply = m_queues.apply(request);
        for (const local::QueueChange &change : m_queues.changes()) {
            if (const auto *insert = std::get_if<local::InsertMessage>(&change))
                m_bodies.insert(insert->message.row, insert->content.body);
        }
        m_queues.commit();
        return reply;
    }

    bool drained() const
    {
        const auto *queue = m_queues.find(Queue);
        const bool idle =
            std::all_of(m_lanes.cbegin(), m_lanes.cend(), [](const Lane &lane) { return !lane.delivery; });
        return idle && queue->count() == 0;
    }

    void step(bool faults)
    {
        m_now += below(faults ? 8000 : 4000);
        m_queues.advance({m_now, m_now});
        Lane &lane = m_lanes[size_t(below(int(m_lanes.size())))];
        if (!lane.delivery)
            receive(lane);
        else if (faults && chance(6))
            crash(lane);
        else
            carryOut(lane, faults);
    }

    void receive(Lane &lane)
    {
        const auto reply = apply(local::ReceiveMessageRequest{Queue, 1, {}, 0, {u"All"_s}, {}, {}});
        const auto &messages = std::get<local::ReceivedMessages>(std::get<local::SqsResult>(reply)).messages;
        if (messages.isEmpty())
            return;
        Message message;
        message.messageId = messages[0].messageId;
        message.body = m_bodies.value(messages[0].row);
        message.systemAttributes = {{u"ApproximateReceiveCount"_s, QString::number(messages[0].receiveCount)},
                                    {u"SentTimestamp"_s, QString::number(messages[0].sentMsec)}};
        lane.receiptHandle = messages[0].receiptHandle;
        lane.delivery = std::make_unique<DeliveryMachine>(
            DeliveryRules{&types, {u"Job Board"_s, u"no-reply@jobboard.example"_s}, u"jobboard.example"_s}, message,
            djangoTime(++m_clockUsec));
        lane.next = lane.delivery->start(0);
    }

    /// As kill -9: nothing is settled, the database rolls back, what lies in the handover file is found at the next
    /// start.
    void crash(Lane &lane)
    {
        const QString eventId = lane.delivery->event().eventId;
        if (lane.handedOver)
            ++m_announced[eventId];
        forgetUncommitted(lane);
        lane = {};
    }

    void forgetUncommitted(Lane &lane)
    {
        // A mail that left without its claim: the one instant in which a second mail is possible.
        if (lane.inTransaction && m_mailedInTransaction.remove(&lane))
            ++m_excused[lane.delivery->event().eventId];
        lane.uncommitted.clear();
        lane.inTransaction = false;
    }

    bool writerBusy(const Lane &lane) const
    {
        return std::any_of(m_lanes.cbegin(), m_lanes.cend(),
                           [&lane](const Lane &other) { return &other != &lane && other.inTransaction; });
    }

    ProcessedEvents::Claim claim(Lane &lane, bool commitAtOnce)
    {
        const QString eventId = lane.delivery->event().eventId;
        ProcessedEvents::Claim result;
        result.inserted = !m_claims.contains(eventId);
        result.standingText = m_claims.value(eventId);
        if (result.inserted)
            (commitAtOnce ? m_claims : lane.uncommitted).insert(eventId, lane.delivery->processedAt());
        return result;
    }

    void carryOut(Lane &lane, bool faults)
    {
        const Error broken{ErrorKind::Io, u"injected"_s, {}};
        DeliveryInput input = Result<void>();
        switch (lane.next.kind) {
        case Kind::Begin:
            if (writerBusy(lane)) {
                if (!faults || chance(50))
                    return; // waits for its turn
                input = Result<void>(Error{ErrorKind::Busy, u"busy elsewhere"_s, {}});
            } else {
                lane.inTransaction = true;
            }
            break;
        case Kind::Claim:
            if (faults && chance(10))
                input = m_design == Design::AnyErrorIsADuplicate ? Result(ProcessedEvents::Claim{})
                                                                 : Result<ProcessedEvents::Claim>(broken);
            else
                input = Result(claim(lane, m_design == Design::CommitsTheClaimFirst));
            break;
        case Kind::LookUp:
            if (faults && chance(5))
                input = Result<Row>(broken);
            else
                input = Result<Row>(Row(QMap<QString, QVariant>{{u"user_id"_s, 5},
                                                                {u"first_name"_s, u"Sam"_s},
                                                                {u"last_name"_s, u"Lee"_s},
                                                                {u"username"_s, u"sam"_s},
                                                                {u"email"_s, u"sam@example.org"_s},
                                                                {u"job_title"_s, u"Engineer"_s},
                                                                {u"company_name"_s, u"Acme"_s}}));
            break;
        case Kind::Send:
            input = send(lane, faults);
            break;
        case Kind::RecordDoubt:
            ++m_announced[lane.delivery->event().eventId];
            break;
        case Kind::Commit:
            input = commit(lane, faults);
            break;
        case Kind::RollBack:
            forgetUncommitted(lane);
            break;
        case Kind::Reclaim:
            if (faults && chance(30)) {
                input = Result<ProcessedEvents::Claim>(broken);
            } else {
                const bool others = writerBusy(lane);
                if (others)
                    return; // waits for its turn
                input = Result(claim(lane, true));
            }
            break;
        case Kind::LookIntoDoubt: // --in-doubt resend and the strategy transaction: these are not asked for
        case Kind::AskReceiver:
        case Kind::ClaimDelivery:
        case Kind::TakeOver:
        case Kind::Mark:
        case Kind::Release:
        case Kind::Doubt:
        case Kind::Finish:
            finish(lane, faults);
            return;
        }
        lane.next = lane.delivery->step(input, 0);
    }

    SendResult send(Lane &lane, bool faults)
    {
        SendResult result;
        const int dice = faults ? below(100) : 0;
        lane.handedOver = dice < 70;
        const bool stored = dice < 60;
        if (stored) {
            ++m_mails[lane.delivery->event().eventId];
            m_mailedInTransaction.insert(&lane);
        }
        if (dice < 50)
            result.status = SendResult::Status::Sent;
        else if (dice < 70)
            result.status = SendResult::Status::InDoubt; // half of them stored, half not: both look the same
        else
            result.status = SendResult::Status::NotSent;
        result.text = u"injected"_s;
        return result;
    }

    Result<void> commit(Lane &lane, bool faults)
    {
        const bool fails = faults && chance(15);
        if (fails && chance(50)) { // rolled back, and said so
            forgetUncommitted(lane);
            return Error{ErrorKind::Io, u"injected"_s, {}};
        }
        for (auto row = lane.uncommitted.cbegin(); row != lane.uncommitted.cend(); ++row)
            m_claims.insert(row.key(), row.value());
        m_mailedInTransaction.remove(&lane);
        forgetUncommitted(lane);
        if (fails) // committed, and the answer lost
            return Error{ErrorKind::Io, u"injected"_s, {}};
        return {};
    }

    void finish(Lane &lane, bool faults)
    {
        const DeliveryReport &report = lane.delivery->report();
        const bool done =
            report.outcome == Outcome::Sent || report.outcome == Outcome::Duplicate || report.outcome == Outcome::Gone;
        if (report.possiblyMailedTwice)
            ++m_announced[report.eventId];
        if (done && !(faults && chance(20))) // else a crash between COMMIT and delete
            apply(local::DeleteMessageRequest{Queue, lane.receiptHandle});
        forgetUncommitted(lane);
        lane = {};
    }

    std::mt19937 m_random;
    const Design m_design;
    local::LocalQueues m_queues;
    qint64 m_now = 1'764'590'400'000;
    qint64 m_clockUsec = 1'764'590'400'000'000;
    std::deque<Lane> m_lanes;
    QHash<qint64, QByteArray> m_bodies;
    QMap<QString, QString> m_claims; ///< committed
    QMap<QString, int> m_mails, m_excused, m_announced;
    QSet<const Lane *> m_mailedInTransaction;
};

int walksThatFail(Design design, int walks)
{
    int failed = 0;
    for (int seed = 1; seed <= walks; ++seed)
        failed += World(quint32(seed), design).run().isEmpty() ? 0 : 1;
    return failed;
}

} // namespace

void Walk::initTestCase()
{
    auto loaded = EventTypes::load({});
    QVERIFY(loaded);
    types = loaded.take();
}

void Walk::everyEventIsMailedOnceOverAThousandWalks()
{
    for (quint32 seed = 1; seed <= 1000; ++seed) {
        const QString broken = World(seed, Design::OneTransaction).run();
        QVERIFY2(broken.isEmpty(), qPrintable(u"seed %1: %2"_s.arg(QString::number(seed), broken)));
    }
}

void Walk::aDesignThatClaimsBeforeTheSendIsCaught()
{
    QVERIFY(walksThatFail(Design::CommitsTheClaimFirst, 50) > 0);
}

void Walk::aDesignThatTakesErrorsForDuplicatesIsCaught()
{
    QVERIFY(walksThatFail(Design::AnyErrorIsADuplicate, 50) > 0);
}

QTEST_GUILESS_MAIN(Walk)
#include "tst_walk.moc"
