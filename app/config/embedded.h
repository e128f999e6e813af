#pragma once

#include "worker/local/localservices.h"
#include "worker/result.h"

#include <QString>

namespace sendonce {

/// Makes the embedded default complete: database with the job board's tables and demo data, then queue and mailbox.
/// When another process already runs this folder's services, its addresses come back and nothing is started here.
/// Blocks (files, ports): not on the GUI thread.
Result<LocalAddresses> startEmbedded(LocalServices &services, const LocalSettings &settings);

/// `sqlite:///` of the folder's own database.
QString embeddedDatabaseUrl(const QString &dataDir);

} // namespace sendonce
