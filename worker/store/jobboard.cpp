#include "worker/store/jobboard.h"

#include "worker/store/sqltext.h"

#include <QFile>
#include <QHash>
#include <QSet>
#include <QtSql/QSqlError>
#include <QtSql/QSqlQuery>
#include <QtSql/QSqlRecord>

#include <optional>

// Outside of every namespace, as Q_INIT_RESOURCE asks: the linker drops a resource of a static library that nothing
// names.
static void linkDemo()
{
    Q_INIT_RESOURCE(demo);
}

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

Error invalid(const QString &text)
{
    return {ErrorKind::Invalid, text, {}};
}

/// Checked and rewritten once for all connections of a thread: it takes longer than the look-up.
Result<PositionalSql> rewritten(const QString &sql)
{
    static thread_local QHash<QString, PositionalSql> known;
    const auto found = known.constFind(sql);
    if (found != known.cend())
        return *found;
    if (const auto checked = checkLookupSql(sql); !checked)
        return checked.error();
    return *known.insert(sql, positionalSql(sqlStatements(sql).constFirst()));
}

} // namespace

Result<void> checkLookupSql(const QString &sql)
{
    using Kind = SqlToken::Kind;
    static const QSet<QString> writing{u"INSERT"_s, u"UPDATE"_s, u"DELETE"_s, u"MERGE"_s, u"REPLACE"_s,
                                       u"INTO"_s,   u"CREATE"_s, u"ALTER"_s,  u"DROP"_s,  u"TRUNCATE"_s,
                                       u"VACUUM"_s, u"PRAGMA"_s, u"ATTACH"_s, u"DETACH"_s};
    if (sqlStatements(sql).size() != 1)
        return invalid(u"the look-up holds %1 statements; one SELECT is accepted"_s.arg(sqlStatements(sql).size()));
    const QList<SqlToken> tokens = sqlTokens(sql);
    bool isFirst = true;
    for (qsizetype i = 0; i < tokens.size(); ++i) {
        const SqlToken &token = tokens[i];
        if (token.kind == Kind::Blank)
            continue;
        const QString word = token.kind == Kind::Word ? token.text.toUpper() : QString();
        if (isFirst && word != "SELECT"_L1 && word != "WITH"_L1)
            return invalid(u"the look-up begins with “%1”; one SELECT is accepted"_s.arg(token.text.left(40)));
        isFirst = false;
        const bool isCall = i + 1 < tokens.size() && tokens[i + 1].text == "("_L1; // replace(text, from, to)
        if (writing.contains(word) && !(word == "REPLACE"_L1 && isCall))
            return invalid(
                u"the look-up holds the word %1; one SELECT that writes nothing is accepted (a name in quotes)"_s.arg(
                    word));
        if (token.kind == Kind::Unclosed)
            return invalid(u"the look-up holds a quote or comment that is not closed: %1"_s.arg(token.text.left(40)));
        if (token.kind == Kind::Symbol && (token.text == "?"_L1 || token.text == "@"_L1 || token.text == "$"_L1))
            return invalid(
                u"the look-up holds a parameter with “%1”; parameters with a colon are accepted, as in :application_id"_s
                    .arg(token.text));
    }
    return {};
}

Result<std::optional<QMap<QString, QVariant>>> lookUp(Database &database, const QString &sql,
                                                      const QMap<QString, QVariant> &fields)
{
    const auto positional = rewritten(sql);
    if (!positional)
        return positional.error();
    const QStringList &names = positional->names;
    for (const QString &name : names) {
        if (!fields.contains(name))
            return invalid(u"the look-up asks for :%1, which the event does not have"_s.arg(name));
    }
    const QString doing = u"the look-up in %1 failed"_s.arg(database.displayName());
    const auto prepared = database.prepared(positional->sql);
    if (!prepared)
        return prepared.error();
    QSqlQuery &query = *prepared.value();
    for (qsizetype i = 0; i < names.size(); ++i)
        query.bindValue(int(i), fields.value(names[i]));
    if (const auto run = database.runReading(query, doing); !run)
        return run.error();
    if (!query.next()) {
        const QSqlError error = query.lastError();
        query.finish();
        if (error.isValid())
            return sqlError(error, doing);
        return std::optional<QMap<QString, QVariant>>();
    }
    QMap<QString, QVariant> row;
    const QSqlRecord record = query.record();
    query.finish();
    for (int column = 0; column < record.count(); ++column) {
        if (row.contains(record.fieldName(column)))
            return invalid(u"the look-up gives two columns named %1"_s.arg(record.fieldName(column)));
        row.insert(record.fieldName(column), record.value(column));
    }
    return std::optional(row);
}

Result<void> createJobBoard(Database &database)
{
    if (const auto migrated = database.migrate(u"jobboard"_s); !migrated)
        return migrated.error();
    const QString doing = u"the demo data of %1 cannot be made"_s.arg(database.displayName());
    Result<Transaction> transaction = Transaction::begin(database);
    if (!transaction)
        return transaction.error();
    QSqlQuery query(database.handle());
    if (!query.exec(u"SELECT 1 FROM jobs_application LIMIT 1"_s))
        return sqlError(query.lastError(), doing);
    const bool isEmpty = !query.next();
    query.finish();
    if (!isEmpty)
        return {};
    linkDemo();
    QFile file(u":/demo/jobboard.sql"_s);
    if (!file.open(QIODevice::ReadOnly))
        return Error{ErrorKind::Io, u"%1: %2"_s.arg(doing, file.errorString()), {}};
    const QStringList statements = sqlStatements(QString::fromUtf8(file.readAll()));
    for (const QString &statement : statements) {
        if (!query.exec(statement))
            return sqlError(query.lastError(), doing);
    }
    return transaction.value().commit();
}

} // namespace sendonce
