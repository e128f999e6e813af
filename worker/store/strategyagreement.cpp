#include "worker/store/strategyagreement.h"

namespace sendonce {

using namespace Qt::StringLiterals;

QString strategyName(Strategy strategy)
{
    return strategy == Strategy::ClaimSendMark ? u"claim-send-mark"_s : u"transaction"_s;
}

Result<void> agreeOnStrategy(Database &database, Strategy strategy)
{
    const QString doing = u"the strategy of %1's workers cannot be read"_s.arg(database.displayName());
    const auto there = database.rows(
        database.isPostgres() ? u"SELECT 1 WHERE to_regclass('sendonce_meta') IS NOT NULL"_s
                              : u"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'sendonce_meta'"_s,
        {}, doing);
    if (!there)
        return there.error();
    const QString ours = strategyName(strategy);
    if (there->isEmpty()) {
        if (strategy == Strategy::Transaction)
            return {};
        return Error{
            ErrorKind::Invalid,
            u"--strategy %1 needs the tables sendonce_delivery and sendonce_meta, which %2 does not have"_s.arg(
                ours, database.displayName()),
            {}};
    }
    const QString look = u"SELECT value FROM sendonce_meta WHERE name = 'strategy'"_s;
    auto standing = database.rows(look, {}, doing);
    if (!standing)
        return standing.error();
    if (standing->isEmpty()) {
        const auto written = database.rows(u"INSERT INTO sendonce_meta (name, value) VALUES ('strategy', ?) "
                                           "ON CONFLICT (name) DO NOTHING"_s,
                                           {ours}, doing);
        if (!written)
            return written.error();
        standing = database.rows(look, {}, doing); // somebody else's may have come first
        if (!standing)
            return standing.error();
    }
    const QString theirs = standing->isEmpty() ? QString() : standing->first().first().toString();
    if (theirs == ours)
        return {};
    return Error{ErrorKind::Invalid,
                 u"--strategy %1: the workers of %2 use %3, and all workers of a database use one; to change it, stop "
                 "them all, settle what is in doubt, and delete the row 'strategy' of sendonce_meta"_s.arg(
                     ours, database.displayName(), theirs),
                 {}};
}

} // namespace sendonce
