#pragma once

#include "worker/result.h"

#include <QList>
#include <QString>
#include <QStringList>

namespace sendonce {

/// SQL as text, without a database: for our .sql files and the look-ups of event types. Knows '…', "…", `…`, […] and
/// both kinds of comment.
struct SqlToken
{
    enum class Kind {
        Blank, ///< white space and comments
        Word, ///< keyword, name or number
        Quoted,
        Parameter, ///< :name, the colon included
        Symbol, ///< one character; or :: as one
        Unclosed, ///< a quote or comment without an end
    };
    Kind kind = Kind::Blank;
    QString text;
};
QList<SqlToken> sqlTokens(const QString &sql);

/// The statements of a script, without comments and semicolons, empty ones left out. CREATE TRIGGER … BEGIN … END is
/// one.
QStringList sqlStatements(const QString &script);

/// How parameters are written: `?` for Qt's drivers, `$1`, `$2` … for libpq.
enum class SqlMarks { Question, Numbered };

/// One statement with a mark for each named parameter, and the names in that order: drivers find parameters inside of
/// comments.
struct PositionalSql
{
    QString sql;
    QStringList names;
};
PositionalSql positionalSql(const QString &statement, SqlMarks marks = SqlMarks::Question);

/// `?` -> `$1`, `$2` …: one text of ours for both databases.
QString numberedSql(const QString &statement);

} // namespace sendonce
