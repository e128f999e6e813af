#pragma once

#include "worker/config.h"
#include "worker/result.h"
#include "worker/store/database.h"

namespace sendonce {

/// "transaction", "claim-send-mark": as in flags and in sendonce_meta.
QString strategyName(Strategy strategy);

/// All workers on one database use one strategy (spec.md, "Two strategies"): the first one writes it into
/// sendonce_meta. Invalid: another one stands there, or claim-send-mark without the tables it needs. Without
/// sendonce_meta `transaction` works as it is.
Result<void> agreeOnStrategy(Database &database, Strategy strategy);

} // namespace sendonce
