#pragma once

#include "worker/result.h"
#include "worker/store/database.h"

#include <QMap>
#include <QVariant>

#include <optional>

namespace sendonce {

/// Looks up what a mail needs, with the event type's own SQL, bound by name. The SQL is read-only by check: one
/// statement, starts with SELECT or WITH, and no row more than the first is read. No row: std::nullopt. Column names
/// become template names.
Result<std::optional<QMap<QString, QVariant>>> lookUp(Database &database, const QString &sql,
                                                      const QMap<QString, QVariant> &fields);

/// Whether an event type's SQL is acceptable, for the check at start.
Result<void> checkLookupSql(const QString &sql);

/// Makes Django's tables (SQLite only, as Django's own migrations lay them out) and, when jobs_application is empty,
/// the demo data of resources/demo/jobboard.sql. Only the embedded default does this.
Result<void> createJobBoard(Database &database);

} // namespace sendonce
