#include "worker/store/sqltext.h"

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

bool isWordStart(QChar c)
{
    return c.isLetter() || c == u'_';
}

bool isWordPart(QChar c)
{
    return c.isLetterOrNumber() || c == u'_' || c == u'$';
}

/// End of the quoted text that starts at `start`: behind the closing character, which stands for itself when doubled;
/// -1: open.
qsizetype quotedEnd(const QString &sql, qsizetype start)
{
    const QChar close = sql[start] == u'[' ? QChar(u']') : sql[start];
    for (qsizetype at = start + 1; at < sql.size(); ++at) {
        if (sql[at] != close)
            continue;
        if (close == u']' || at + 1 == sql.size() || sql[at + 1] != close)
            return at + 1;
        ++at;
    }
    return -1;
}

SqlToken tokenAt(const QString &sql, qsizetype at)
{
    using Kind = SqlToken::Kind;
    const QStringView rest = QStringView(sql).sliced(at);
    const auto token = [&](Kind kind, qsizetype size) { return SqlToken{kind, rest.first(size).toString()}; };
    const auto upTo = [&](qsizetype end, Kind kind) {
        return end < 0 ? token(Kind::Unclosed, rest.size()) : token(kind, end - at);
    };
    const auto run = [&](qsizetype from, auto isPart) {
        qsizetype size = from;
        while (size < rest.size() && isPart(rest[size]))
            ++size;
        return size;
    };

    const QChar first = rest.first();
    if (first.isSpace())
        return token(Kind::Blank, run(1, [](QChar c) { return c.isSpace(); }));
    if (rest.startsWith("--"_L1))
        return token(Kind::Blank, run(2, [](QChar c) { return c != u'\n'; }));
    if (rest.startsWith("/*"_L1)) {
        const qsizetype end = sql.indexOf("*/"_L1, at + 2);
        return upTo(end < 0 ? -1 : end + 2, Kind::Blank);
    }
    if (first == u'\'' || first == u'"' || first == u'`' || first == u'[')
        return upTo(quotedEnd(sql, at), Kind::Quoted);
    if (rest.startsWith("::"_L1)) // PostgreSQL's cast
        return token(Kind::Symbol, 2);
    if (first == u':' && rest.size() > 1 && isWordStart(rest[1]))
        return token(Kind::Parameter, run(2, isWordPart));
    if (isWordPart(first))
        return token(Kind::Word, run(1, isWordPart));
    return token(Kind::Symbol, 1);
}

} // namespace

QList<SqlToken> sqlTokens(const QString &sql)
{
    QList<SqlToken> tokens;
    for (qsizetype at = 0; at < sql.size(); at += tokens.constLast().text.size())
        tokens.append(tokenAt(sql, at));
    return tokens;
}

QStringList sqlStatements(const QString &script)
{
    QStringList statements(1);
    QStringList words; // of the statement so far, as far as they matter
    const QList<SqlToken> tokens = sqlTokens(script);
    for (const SqlToken &token : tokens) {
        if (token.kind == SqlToken::Kind::Word)
            words.append(token.text.toUpper());
        // A trigger's own statements end in semicolons too.
        const bool insideTrigger = words.mid(0, 2) == QStringList{u"CREATE"_s, u"TRIGGER"_s}
            && words.contains(u"BEGIN"_s) && words.last() != "END"_L1;
        if (token.kind == SqlToken::Kind::Symbol && token.text == ";"_L1 && !insideTrigger) {
            statements.append(QString());
            words.clear();
        } else {
            statements.last() += token.kind == SqlToken::Kind::Blank ? u" "_s : token.text;
        }
    }
    for (QString &statement : statements)
        statement = statement.trimmed();
    statements.removeAll(QString());
    return statements;
}

PositionalSql positionalSql(const QString &statement, SqlMarks marks)
{
    PositionalSql out;
    const QList<SqlToken> tokens = sqlTokens(statement);
    for (const SqlToken &token : tokens) {
        if (token.kind == SqlToken::Kind::Parameter) {
            out.names.append(token.text.sliced(1));
            out.sql += marks == SqlMarks::Question ? u"?"_s : u"$%1"_s.arg(out.names.size());
        } else {
            out.sql += token.kind == SqlToken::Kind::Blank ? u" "_s : token.text;
        }
    }
    return out;
}

QString numberedSql(const QString &statement)
{
    QString out;
    int count = 0;
    const QList<SqlToken> tokens = sqlTokens(statement);
    for (const SqlToken &token : tokens) {
        const bool isMark = token.kind == SqlToken::Kind::Symbol && token.text == "?"_L1;
        out += isMark ? u"$%1"_s.arg(++count) : token.text;
    }
    return out;
}

} // namespace sendonce
