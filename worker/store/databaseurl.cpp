#include "worker/store/databaseurl.h"

#include <QFileInfo>
#include <QRegularExpression>
#include <QStringDecoder>
#include <QStringList>

#include <algorithm>
#include <optional>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

const QString AcceptedFile = u"accepted: sqlite:///relative/path or sqlite:////absolute/path"_s;
const QString AcceptedServer =
    u"accepted: postgresql://user:password@host:port/database?key=value, or postgresql:///database?host=/socket/directory"_s;

/// libpq's keywords that may stand in the query. Not among them: `options`, which can set anything, and what the URL
/// has a place of its own for.
const QStringList ServerKeys{u"sslmode"_s,
                             u"sslrootcert"_s,
                             u"sslcert"_s,
                             u"sslkey"_s,
                             u"sslcrl"_s,
                             u"sslcrldir"_s,
                             u"sslsni"_s,
                             u"ssl_min_protocol_version"_s,
                             u"channel_binding"_s,
                             u"gssencmode"_s,
                             u"krbsrvname"_s,
                             u"passfile"_s,
                             u"service"_s,
                             u"target_session_attrs"_s,
                             u"connect_timeout"_s,
                             u"application_name"_s,
                             u"keepalives"_s,
                             u"keepalives_idle"_s,
                             u"keepalives_interval"_s,
                             u"keepalives_count"_s,
                             u"tcp_user_timeout"_s};

Error invalid(const QString &text)
{
    return {ErrorKind::Invalid, text, {}};
}

Error invalidServer(const QString &text)
{
    return invalid(u"the PostgreSQL URL %1; %2"_s.arg(text, AcceptedServer));
}

/// Percent-decodes; nothing for a stray percent sign, NUL, or bytes that are not UTF-8.
std::optional<QString> decoded(const QString &encoded)
{
    const QByteArray bytes = encoded.toUtf8();
    for (qsizetype at = bytes.indexOf('%'); at >= 0; at = bytes.indexOf('%', at + 1)) {
        const QByteArray digits = bytes.mid(at + 1, 2);
        bool ok = false;
        if (digits.toInt(&ok, 16) == 0 || !ok || digits.size() < 2 || !isxdigit(static_cast<unsigned char>(digits[0])))
            return std::nullopt;
    }
    QStringDecoder decoder(QStringDecoder::Utf8);
    const QString text = decoder(QByteArray::fromPercentEncoding(bytes));
    if (decoder.hasError())
        return std::nullopt;
    return text;
}

Result<DatabaseUrl> parseSqlite(const QString &url)
{
    const QString rest = url.sliced(url.indexOf(u':') + 1);
    if (rest.isEmpty() || rest == "//"_L1 || rest == "///"_L1 || rest == "///:memory:"_L1)
        return invalid(
            u"database URL “%1” names a database in memory, which gives no durability; %2"_s.arg(url, AcceptedFile));
    if (!rest.startsWith("///"_L1))
        return invalid(u"database URL “%1” names a host or lacks a slash; %2"_s.arg(url, AcceptedFile));
    if (rest.contains(u'?') || rest.contains(u'#'))
        return invalid(
            u"database URL “%1” has options; %2 (a ? or # in the path as %3F or %23)"_s.arg(url, AcceptedFile));
    const auto path = decoded(rest.sliced(3));
    if (!path || path->isEmpty())
        return invalid(u"database URL “%1” is not percent-encoded UTF-8; %2"_s.arg(url, AcceptedFile));
    if (path->endsWith(u'/'))
        return invalid(u"database URL “%1” names a folder; %2"_s.arg(url, AcceptedFile));
    DatabaseUrl parsed;
    parsed.path = QFileInfo(*path).absoluteFilePath();
    return parsed;
}

/// "a,[::1]:5433,b:5434" -> hosts and ports, as libpq takes them.
Result<void> parseHosts(const QString &text, DatabaseUrl &parsed)
{
    static const QRegularExpression Form(u"\\A(\\[[0-9A-Fa-f:.%]+\\]|[^:\\[\\]]*)(?::([0-9]*))?\\z"_s);
    QStringList hosts, ports;
    for (const QString &each : text.split(u',')) {
        const auto match = Form.match(each);
        if (!match.hasMatch())
            return invalidServer(u"has a host or port that cannot be read (an IPv6 address goes in brackets)"_s);
        QString encoded = match.captured(1);
        if (encoded.startsWith(u'['))
            encoded = encoded.sliced(1, encoded.size() - 2);
        const auto host = decoded(encoded);
        if (!host || host->contains(u','))
            return invalidServer(u"has a host that is not percent-encoded UTF-8"_s);
        const QString port = match.captured(2);
        if (!port.isEmpty() && (port.size() > 5 || port.toInt() < 1 || port.toInt() > 65535))
            return invalidServer(u"has port %1, and 1 to 65535 are possible"_s.arg(port.left(20)));
        hosts.append(*host);
        ports.append(port);
    }
    if (hosts.size() > 1 && hosts.contains(QString()))
        return invalidServer(u"has an empty host among several"_s);
    parsed.host = hosts.join(u',');
    if (std::any_of(ports.cbegin(), ports.cend(), [](const QString &port) { return !port.isEmpty(); }))
        parsed.port = ports.join(u',');
    return {};
}

Result<void> parseOption(const QString &pair, DatabaseUrl &parsed)
{
    const QString key = pair.section(u'=', 0, 0);
    const auto value = decoded(pair.section(u'=', 1));
    if (!value || value->contains(u';')) // QPSQL takes a ; for the end of a value
        return invalidServer(u"has a value for %1 that is not percent-encoded UTF-8, or holds a ;"_s.arg(key.left(40)));
    if (key == "host"_L1) {
        if (!value->startsWith(u'/') || !parsed.host.isEmpty())
            return invalidServer(u"has ?host=, which is for a socket directory where no host stands before the path"_s);
        parsed.host = *value;
    } else if (key == "port"_L1) {
        if (value->toInt() < 1 || value->toInt() > 65535 || !parsed.port.isEmpty())
            return invalidServer(u"has a second port, or one that is none"_s);
        parsed.port = *value;
    } else if (key == "pgbouncer"_L1) {
        if (*value != "true"_L1 && *value != "false"_L1)
            return invalidServer(u"has pgbouncer=%1, and true and false are possible"_s.arg(value->left(20)));
        parsed.pooled = *value == "true"_L1;
    } else if (ServerKeys.contains(key)) {
        parsed.options.append({key, *value});
    } else {
        return invalid(
            u"the PostgreSQL URL has the key %1; accepted: host (a socket directory), port, pgbouncer, %2"_s.arg(
                key.left(40), ServerKeys.join(u", "_s)));
    }
    return {};
}

Result<DatabaseUrl> parseServer(const QString &url)
{
    QString rest = url.sliced(url.indexOf(u':') + 1);
    if (!rest.startsWith("//"_L1))
        return invalidServer(u"lacks the two slashes"_s);
    rest.remove(0, 2);
    if (rest.contains(u'#'))
        return invalidServer(u"holds a #, which goes as %23"_s);
    DatabaseUrl parsed;
    parsed.kind = DatabaseUrl::Kind::Postgres;
    const QString query = rest.section(u'?', 1);
    rest = rest.section(u'?', 0, 0);
    const QString authority = rest.section(u'/', 0, 0);
    const QString path = rest.section(u'/', 1);
    const qsizetype at = authority.lastIndexOf(u'@');
    if (at >= 0) {
        const QString who = authority.first(at);
        const auto user = decoded(who.section(u':', 0, 0));
        const auto password = decoded(who.section(u':', 1));
        if (!user || !password || who.contains(u'@'))
            return invalidServer(u"has a user or password that is not percent-encoded (@ : / ? # % as %40 …)"_s);
        parsed.user = *user;
        parsed.password = *password;
    }
    if (const auto hosts = parseHosts(authority.sliced(at + 1), parsed); !hosts)
        return hosts.error();
    const auto database = decoded(path);
    if (!database || path.contains(u'/') || path.contains(u'@')) // or a password was cut by its own /
        return invalidServer(u"has a database name, user or password that is not percent-encoded (/ as %2F)"_s);
    parsed.database = *database;
    QStringList seen;
    for (const QString &pair : query.split(u'&', Qt::SkipEmptyParts)) {
        const QString key = pair.section(u'=', 0, 0);
        if (seen.contains(key))
            return invalidServer(u"has %1 twice"_s.arg(key.left(40)));
        seen.append(key);
        if (const auto option = parseOption(pair, parsed); !option)
            return option.error();
    }
    return parsed;
}

} // namespace

Result<DatabaseUrl> DatabaseUrl::parse(const QString &url)
{
    const QString scheme = url.section(u':', 0, 0).toLower();
    if (url.contains(u':') && (scheme == "postgres"_L1 || scheme == "postgresql"_L1))
        return parseServer(url);
    if (url.contains(u':') && scheme == "sqlite"_L1)
        return parseSqlite(url);
    // The rest of a foreign URL may hold a password.
    return invalid(u"a database URL must begin with sqlite:/// or postgresql://; "_s + AcceptedFile + u"; "_s
                   + AcceptedServer);
}

QString DatabaseUrl::displayName() const
{
    if (kind == Kind::Sqlite)
        return u"SQLite "_s + QFileInfo(path).fileName();
    const auto orElse = [](const QString &given, const char *variable, const QString &otherwise) {
        if (!given.isEmpty())
            return given;
        const QString set = qEnvironmentVariable(variable);
        return set.isEmpty() ? otherwise : set;
    };
    return u"PostgreSQL %1/%2"_s.arg(orElse(host, "PGHOST", u"(local)"_s),
                                     orElse(database, "PGDATABASE", orElse(user, "PGUSER", u"(default)"_s)));
}

Result<QString> sqlitePath(const QString &url)
{
    const auto parsed = DatabaseUrl::parse(url);
    if (!parsed)
        return parsed.error();
    if (parsed->isPostgres())
        return invalid(u"a PostgreSQL URL names no file; "_s + AcceptedFile);
    return parsed->path;
}

} // namespace sendonce
