#pragma once

#include "worker/result.h"
#include "worker/store/claimsession.h"
#include "worker/store/pgconnection.h"
#include "worker/store/sqltext.h"

#include <QHash>

namespace sendonce {

/// An event type's look-up as PostgreSQL takes it; the text is rewritten once.
class PgLookup
{
public:
    /// Invalid: a parameter that the event does not have, or that no database keeps as it is.
    Result<PgConnection::Statement> statement(const ClaimRequest &request);
    /// The one row, or none. Invalid: two columns of one name.
    static Result<ClaimSession::Row> rowOf(const PgRows &rows);

private:
    struct Known
    {
        QByteArray sql; ///< with $1, $2 …
        QStringList names;
    };
    const Known &known(const QString &sql);

    QHash<QString, Known> m_known; ///< by the event type's SQL
};

} // namespace sendonce
