#include "worker/scenario/demonstrationdesigns.h"

#include "worker/scenario/demonstrationdelivery.h"

namespace sendonce {

using namespace std::chrono_literals;

void mailWithoutIdempotency(DemonstrationDelivery &delivery)
{
    delivery.sendMail(); // at least once: each delivery is an e-mail
}

void checkThenInsert(DemonstrationDelivery &delivery)
{
    if (delivery.isWrittenDown(delivery.eventId()))
        return;
    // Another worker that looks now finds nothing either, and whoever dies behind the mail has written nothing down.
    delivery.sendMail();
    delivery.writeDown(delivery.eventId());
}

void claimCommittedFirst(DemonstrationDelivery &delivery)
{
    if (!delivery.claim(delivery.eventId())) // outside of a transaction: committed as it returns
        return;
    // Whatever goes wrong from here on, the redelivery finds the claim and is skipped.
    delivery.sendMail();
}

void messageIdAsKey(DemonstrationDelivery &delivery)
{
    delivery.begin();
    if (!delivery.claim(delivery.messageId())) // a second message of the event has another one, as has a redriven one
        return;
    delivery.sendMail();
    delivery.commit();
}

void claimOutsideTheTransaction(DemonstrationDelivery &delivery)
{
    if (!delivery.setUnlessThere(delivery.eventId(), 12h))
        return;
    delivery.begin();
    delivery.sendMail(); // fails: the transaction is rolled back, the key stays
    delivery.commit();
}

} // namespace sendonce
