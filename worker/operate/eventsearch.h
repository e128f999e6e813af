#pragma once

#include "worker/store/database.h"
#include "worker/store/journal.h"
#include "worker/store/processedevents.h"
#include "worker/types.h"

namespace sendonce {

/// A page of processed events, each row joined with what the journal knows: one query of each per page. Blocks on SQL.
ProcessedPage searchProcessed(ProcessedEvents &claims, Journal &journal, const ProcessedQuery &query);

} // namespace sendonce
