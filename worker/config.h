#pragma once

#include "worker/types.h"

#include <QString>
#include <QUrl>

#include <chrono>
#include <memory>
#include <optional>

namespace sendonce {

using namespace std::chrono_literals;

struct AwsKeyOrigin; // worker/queue/awscredentials.h
class MailPassword; // worker/mail/mailpassword.h

/// Keys for signing requests to SQS. Dummies are right for every emulator. With an origin they may be empty: they are
/// then fetched before the first request.
struct AwsCredentials
{
    QString accessKeyId;
    QString secretAccessKey;
    QString sessionToken;
    std::shared_ptr<const AwsKeyOrigin> origin = {}; ///< where new ones come from; null: they stay as they are

    bool operator==(const AwsCredentials &) const = default;
};

/// How an event is claimed (spec.md, "Two strategies for production").
enum class Strategy { Transaction, ClaimSendMark };
/// What is done with an event that may have been mailed (spec.md, "Outcome of a send").
enum class DoubtPolicy {
    Resend, ///< the same bytes again
    Hold, ///< nothing, until a person decides
    Ask, ///< what the receiving side says: settled, or again
};

/// Everything a worker needs to know, resolved by app/config from flags, environment and defaults, and never changed
/// while it runs. Holds secrets: never logged, never shown as a whole.
struct Config
{
    QString profile = QStringLiteral("Local"); ///< name on screen
    bool embedded = false; ///< queue, database and mail are this folder's embedded services (same id; spec.md)

    QUrl endpoint; ///< where SQS requests go; empty: the queue URL's own origin
    QUrl queueUrl;
    QUrl dlqUrl; ///< empty: read from the queue's RedrivePolicy
    QString region = QStringLiteral("us-east-1");
    AwsCredentials credentials;

    QString databaseUrl; ///< as DatabaseUrl reads it: sqlite:///path or postgresql://…; may hold a password
    QUrl mailUrl; ///< smtp://, smtp+starttls:// or smtps://; no password in it
    std::shared_ptr<MailPassword> mailPassword; ///< of the URL's user; null: none
    bool allowPlainMail = false; ///< in clear to another computer
    QString mailCaFile; ///< certificates trusted beside the system's; empty: none
    QString mailIdempotencyHeader; ///< header that carries the event id for the mail service; empty: none
    QString mailFrom = QStringLiteral("Job Board <no-reply@jobboard.example>");
    QString messageIdDomain; ///< empty: the sender's

    Strategy strategy = Strategy::Transaction;
    DoubtPolicy inDoubt = DoubtPolicy::Resend;
    QString askMaildir; ///< for DoubtPolicy::Ask: the receiving side's Maildir; empty: there is none to ask
    int databaseConnections = 8; ///< shared by all lanes, for Strategy::ClaimSendMark on PostgreSQL
    int lanes = 1;
    std::chrono::milliseconds mailTimeout = 10s; ///< before the final dot, for the whole dialogue
    std::chrono::milliseconds mailFinalTimeout = 60s; ///< after it
    std::chrono::milliseconds lockTimeout = 0ms; ///< 0: 0.8 × the queue's visibility timeout
    qint64 maxMessages = 0; ///< start no more deliveries than that; 0: no bound
    double mailRate = 0; ///< mails per second, all lanes together; 0: no limit
    bool heartbeat = true;
    int keepDays = 45; ///< claims older than this are forgotten (spec.md, rule 10)
    std::chrono::milliseconds depthInterval = 1s; ///< between two samples of the queue's numbers

    QString dataDir; ///< absolute, 0700, ours
    QString controlSocket; ///< of the embedded services: where faults are armed
    QString eventTypesDir; ///< the user's own event types; may not exist
    bool readOnly = false; ///< look, but do not act: nothing is received for work, sent, replayed, deleted or armed
    bool crashEndsLane = false; ///< a crash that is armed ends the lane alone, not this process: a console's
    std::optional<Stage> crashAt; ///< --crash-at: SIGKILL to ourselves there (embedded services only)
};

} // namespace sendonce
