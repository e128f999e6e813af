#include "worker/store/pglookup.h"

#include <QHash>

#include <optional>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

/// Text as libpq takes it; nothing where the database would read another text.
std::optional<QByteArray> bound(const QVariant &value)
{
    switch (value.typeId()) {
    case QMetaType::Bool:
        return QByteArray(value.toBool() ? "true" : "false");
    case QMetaType::Double:
        return QByteArray::number(value.toDouble(), 'g', 17);
    default:
        break;
    }
    const QString text = value.toString();
    if (!text.isValidUtf16() || text.contains(QChar(0)))
        return std::nullopt;
    return text.toUtf8();
}

} // namespace

Result<PgConnection::Statement> PgLookup::statement(const ClaimRequest &request)
{
    const Known &lookup = known(request.lookupSql);
    PgConnection::Statement statement{lookup.sql, {}};
    statement.values.reserve(size_t(lookup.names.size()));
    for (const QString &name : lookup.names) {
        const auto field = request.fields.constFind(name);
        if (field == request.fields.cend())
            return Error{
                ErrorKind::Invalid, u"the look-up asks for :%1, which the event does not have"_s.arg(name), {}};
        if (!field->isValid()) {
            statement.values.push_back(std::nullopt);
            continue;
        }
        auto value = bound(*field);
        if (!value)
            return Error{ErrorKind::Invalid,
                         u"the look-up cannot take :%1: its text holds what no database keeps as it is"_s.arg(name),
                         {}};
        statement.values.push_back(std::move(value));
    }
    return statement;
}

Result<ClaimSession::Row> PgLookup::rowOf(const PgRows &rows)
{
    if (rows.count() == 0)
        return ClaimSession::Row();
    QMap<QString, QVariant> row;
    for (int column = 0; column < rows.columns(); ++column) {
        const QString name = rows.column(column);
        if (row.contains(name))
            return Error{ErrorKind::Invalid, u"the look-up gives two columns named %1"_s.arg(name), {}};
        row.insert(name, rows.value(0, column));
    }
    return ClaimSession::Row(row);
}

/// Rewritten once for all lanes of a thread: it takes longer than the look-up.
const PgLookup::Known &PgLookup::known(const QString &sql)
{
    static thread_local QHash<QString, Known> rewritten;
    const auto known = rewritten.constFind(sql);
    if (known != rewritten.cend())
        return *known;
    const QStringList statements = sqlStatements(sql);
    const PositionalSql lookup = positionalSql(statements.value(0), SqlMarks::Numbered);
    // No row more than the first is read.
    const QString first = u"SELECT * FROM (%1) AS sendonce_lookup LIMIT 1"_s.arg(lookup.sql);
    return *rewritten.insert(sql, {first.toUtf8(), lookup.names});
}

} // namespace sendonce
