#pragma once

namespace sendonce {

class DemonstrationDelivery;

/// The designs that fail, as textbooks and blog posts have them; kept so that people can see them lose or repeat an
/// e-mail. Each handles one message: returning lets it be deleted, a step that fails leaves it to the queue. They run
/// in a World and nowhere else.

/// Mails whatever comes.
void mailWithoutIdempotency(DemonstrationDelivery &delivery);
/// Looks whether the event was handled, mails, and writes it down. No constraint stands behind the look.
void checkThenInsert(DemonstrationDelivery &delivery);
/// Claims the event for good, then mails.
void claimCommittedFirst(DemonstrationDelivery &delivery);
/// One transaction and a unique constraint, but the key is the delivery's and not the event's.
void messageIdAsKey(DemonstrationDelivery &delivery);
/// The claim is a key of Redis's, which no roll-back takes back, and which expires.
void claimOutsideTheTransaction(DemonstrationDelivery &delivery);

} // namespace sendonce
