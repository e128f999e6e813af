#pragma once

#include "worker/result.h"
#include "worker/store/claimsession.h"
#include "worker/store/pgconnection.h"
#include "worker/store/sqltext.h"

#include <QStringList>

namespace sendonce {

/// An event type's look-up as PostgreSQL takes it.
class PgLookup
{
public:
    /// Invalid: a parameter that the event does not have, or that no database keeps as it is.
    static Result<PgConnection::Statement> statement(const ClaimRequest &request);
    /// The one row, or none. Invalid: two columns of one name.
    static Result<ClaimSession::Row> rowOf(const PgRows &rows);

private:
    struct Known
    {
        QByteArray sql; ///< with $1, $2 …
        QStringList names;
    };
    static const Known &known(const QString &sql);
};

} // namespace sendonce
