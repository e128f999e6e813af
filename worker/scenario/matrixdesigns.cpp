#include "worker/scenario/matrixdesigns.h"

#include "worker/scenario/demonstrationdesigns.h"

#include <QHash>

#include <array>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr size_t Designs = 7;
using Promises = std::array<MatrixPromise, Designs>;

constexpr MatrixPromise None{0, 0};
constexpr MatrixPromise One{1, 1};
constexpr MatrixPromise Copies{2, 1}; ///< the same message mailed twice
constexpr MatrixPromise Two{2, 2}; ///< two messages mailed
constexpr MatrixPromise TwoAndACopy{3, 2};

/// One e-mail but where it is said. By hazard; in the order of matrixDesigns(): no idempotency, check then insert,
/// claim committed first, MessageId as the key, Redis-like, one transaction, claim-send-mark.
const QHash<QString, Promises> &promises()
{
    static const QHash<QString, Promises> all = {
        // The same MessageId, so that even the wrong key is the same.
        {u"duplicate-delivery"_s, {Copies, One, One, One, One, One, One}},
        {u"second-message"_s, {Two, One, One, Two, One, One, One}},
        // Who only looks sees nothing of the other; a unique constraint, and SET NX, do.
        {u"race"_s, {Two, Two, One, Two, One, One, One}},
        // A claim that is not rolled back turns a mail that was not sent into one that never will be.
        {u"mail-refused"_s, {One, One, None, One, None, One, One}},
        {u"crash-received"_s, {One, One, One, One, One, One, One}},
        // claim-send-mark: nobody but the dead worker knows whether it had mailed, so a person decides.
        {u"crash-claimed"_s, {One, One, None, One, None, One, None}},
        {u"crash-looked-up"_s, {One, One, None, One, None, One, None}},
        {u"crash-mid-mail"_s, {One, One, None, One, None, One, None}},
        // The exact instant, which no database closes: the mail is out, the memory of it is not committed.
        {u"crash-handed-over"_s, {Copies, Copies, One, Copies, One, Copies, One}},
        {u"crash-accepted"_s, {Copies, Copies, One, Copies, One, Copies, One}},
        {u"crash-committed"_s, {Copies, One, One, One, One, One, One}},
        {u"crash-deleted"_s, {One, One, One, One, One, One, One}},
        // Claimed first, it is the claim that fails, before the mail. The production strategies try again at once.
        {u"commit-fails"_s, {One, Copies, One, Copies, One, One, One}},
        // MessageId: the duplicate mails, for it has another key, and then the first one once more.
        {u"commit-fails-duplicate"_s, {Two, Two, One, TwoAndACopy, One, Two, One}},
        // In doubt. One transaction mails again and says so; claim-send-mark asks a person.
        {u"timeout-after-dot"_s, {Copies, Copies, One, Copies, One, Copies, One}},
        // Redis-like: a day later the key has expired.
        {u"redrive"_s, {Two, One, One, Two, Two, One, One}},
        {u"lost-delete"_s, {Copies, One, One, One, One, One, One}},
    };
    return all;
}

} // namespace

const QList<Design> &matrixDesigns()
{
    static const QList<Design> all = {
        {u"no-idempotency"_s, u"No idempotency"_s, {}, mailWithoutIdempotency, false},
        {u"check-then-insert"_s, u"Check, then insert"_s, {}, checkThenInsert, true},
        {u"claim-first"_s, u"Claim committed before the send"_s, {}, claimCommittedFirst, true},
        {u"message-id-key"_s, u"MessageId as the key"_s, {}, messageIdAsKey, true},
        {u"redis-like"_s, u"Claim outside the transaction (Redis)"_s, {}, claimOutsideTheTransaction, true},
        {u"one-transaction"_s, u"One transaction"_s, Strategy::Transaction, nullptr, true},
        {u"claim-send-mark"_s, u"Claim, send, mark"_s, Strategy::ClaimSendMark, nullptr, true},
    };
    return all;
}

MatrixPromise promiseOf(const Design &design, const QString &hazard)
{
    const QList<Design> &designs = matrixDesigns();
    for (qsizetype i = 0; i < designs.size(); ++i) {
        if (designs[i].id == design.id)
            return promises().value(hazard)[size_t(i)];
    }
    return {};
}

QString rowId(const Design &design, bool suppressing)
{
    return suppressing ? design.id + u"+suppressing"_s : design.id;
}

} // namespace sendonce
