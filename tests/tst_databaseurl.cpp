#include "worker/store/databaseurl.h"

#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;

using Options = QList<QPair<QString, QString>>;

class TestDatabaseUrl : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsServers_data();
    void readsServers();
    void refusesInWordsAndWithoutSecrets_data();
    void refusesInWordsAndWithoutSecrets();
    void namesWithoutSecrets();
    void sqliteIsAPath();
};

void TestDatabaseUrl::readsServers_data()
{
    QTest::addColumn<QString>("url");
    QTest::addColumn<DatabaseUrl>("expected");
    const auto row = [](const char *name, const QString &url, const QString &host, const QString &port,
                        const QString &database, const QString &user = {}, const QString &password = {},
                        const Options &options = {}, bool pooled = false) {
        DatabaseUrl expected;
        expected.kind = DatabaseUrl::Kind::Postgres;
        expected.host = host;
        expected.port = port;
        expected.database = database;
        expected.user = user;
        expected.password = password;
        expected.options = options;
        expected.pooled = pooled;
        QTest::newRow(name) << url << expected;
    };
    row("everything", u"postgres://u:p@db.example:5433/jobs?sslmode=require"_s, u"db.example"_s, u"5433"_s, u"jobs"_s,
        u"u"_s, u"p"_s, {{u"sslmode"_s, u"require"_s}});
    row("the longer name", u"postgresql://db.example/jobs"_s, u"db.example"_s, {}, u"jobs"_s);
    row("capitals", u"POSTGRESQL://db.example/jobs"_s, u"db.example"_s, {}, u"jobs"_s);
    row("nothing: libpq decides", u"postgresql://"_s, {}, {}, {});
    row("only a database", u"postgresql:///jobs"_s, {}, {}, u"jobs"_s);
    row("only a user", u"postgresql://me@/jobs"_s, {}, {}, u"jobs"_s, u"me"_s);
    row("a host without a path", u"postgresql://db.example"_s, u"db.example"_s, {}, {});
    row("percent-encoding", u"postgres://us%40er:p%3Aa%2Fs%3Fs%23%25w%40@h/j%2Fb"_s, u"h"_s, {}, u"j/b"_s, u"us@er"_s,
        u"p:a/s?s#%w@"_s);
    row("UTF-8", u"postgres://h/%C3%A9v%C3%A9nements"_s, u"h"_s, {}, u"événements"_s);
    row("a colon in the password", u"postgres://u:a:b@h/j"_s, u"h"_s, {}, u"j"_s, u"u"_s, u"a:b"_s);
    row("IPv6", u"postgres://[::1]:5433/j"_s, u"::1"_s, u"5433"_s, u"j"_s);
    row("a socket directory in the query", u"postgresql:///j?host=/run/postgresql&port=5433"_s, u"/run/postgresql"_s,
        u"5433"_s, u"j"_s);
    row("a socket directory as host", u"postgresql://me@%2Frun%2Fpostgresql/j"_s, u"/run/postgresql"_s, {}, u"j"_s,
        u"me"_s);
    row("an encoded value", u"postgresql:///j?host=%2Frun%2Fpg&application_name=a%20b"_s, u"/run/pg"_s, {}, u"j"_s, {},
        {}, {{u"application_name"_s, u"a b"_s}});
    row("several hosts", u"postgres://a,b:5433/j?target_session_attrs=read-write"_s, u"a,b"_s, u",5433"_s, u"j"_s, {},
        {}, {{u"target_session_attrs"_s, u"read-write"_s}});
    row("a pooler", u"postgres://h:6432/j?pgbouncer=true"_s, u"h"_s, u"6432"_s, u"j"_s, {}, {}, {}, true);
}

void TestDatabaseUrl::readsServers()
{
    QFETCH(QString, url);
    QFETCH(DatabaseUrl, expected);
    const auto parsed = DatabaseUrl::parse(url);
    QVERIFY2(parsed.ok(), parsed.ok() ? "" : qPrintable(parsed.error().text));
    QVERIFY(parsed.value() == expected);
}

void TestDatabaseUrl::refusesInWordsAndWithoutSecrets_data()
{
    QTest::addColumn<QString>("url");
    QTest::addColumn<QString>("says");
    QTest::newRow("no slashes") << u"postgres:u:secret@h/j"_s << u"two slashes"_s;
    QTest::newRow("unknown key") << u"postgres://u:secret@h/j?schema=x"_s << u"the key schema; accepted: host"_s;
    QTest::newRow("options") << u"postgres://u:secret@h/j?options=-cfsync%3Doff"_s << u"the key options"_s;
    QTest::newRow("password in the query") << u"postgres://h/j?password=secret"_s << u"the key password"_s;
    QTest::newRow("user in the query") << u"postgres://h/j?user=secret"_s << u"the key user"_s;
    QTest::newRow("another host") << u"postgres://u:secret@h/j?host=evil"_s << u"for a socket directory"_s;
    QTest::newRow("two hosts") << u"postgres://u:secret@h/j?host=/run"_s << u"for a socket directory"_s;
    QTest::newRow("twice") << u"postgres://u:secret@h/j?sslmode=require&sslmode=disable"_s << u"sslmode twice"_s;
    QTest::newRow("semicolon") << u"postgres://u:secret@h/j?application_name=a;b"_s << u"holds a ;"_s;
    QTest::newRow("port") << u"postgres://u:secret@h:70000/j"_s << u"port 70000"_s;
    QTest::newRow("port of letters") << u"postgres://u:secret@h:http/j"_s << u"host or port"_s;
    QTest::newRow("slash in the password") << u"postgres://u:sec/ret@h/j"_s << u"host or port"_s;
    QTest::newRow("slash in a password of digits") << u"postgres://u:12/secret@h/j"_s << u"not percent-encoded"_s;
    QTest::newRow("the same, no database") << u"postgres://u:12/secret@h"_s << u"not percent-encoded"_s;
    QTest::newRow("at sign in the password") << u"postgres://u:a@secret@h/j"_s << u"not percent-encoded"_s;
    QTest::newRow("hash in the password") << u"postgres://u:sec#ret@h/j"_s << u"goes as %23"_s;
    QTest::newRow("bad encoding") << u"postgres://u:%zzsecret@h/j"_s << u"not percent-encoded"_s;
    QTest::newRow("NUL") << u"postgres://u:secret@h/j%00"_s << u"not percent-encoded"_s;
    QTest::newRow("no UTF-8") << u"postgres://u:secret@h/%ff"_s << u"not percent-encoded"_s;
    QTest::newRow("path of two") << u"postgres://u:secret@h/j/k"_s << u"%2F"_s;
    QTest::newRow("an empty host among several") << u"postgres://u:secret@a,/j"_s << u"empty host"_s;
    QTest::newRow("pgbouncer=yes") << u"postgres://u:secret@h/j?pgbouncer=yes"_s << u"true and false"_s;
    QTest::newRow("another scheme") << u"mysql://u:secret@h/j"_s << u"sqlite:/// or postgresql://"_s;
}

void TestDatabaseUrl::refusesInWordsAndWithoutSecrets()
{
    QFETCH(QString, url);
    QFETCH(QString, says);
    const auto parsed = DatabaseUrl::parse(url);
    QVERIFY(!parsed.ok());
    QCOMPARE(parsed.error().kind, ErrorKind::Invalid);
    QVERIFY2(parsed.error().text.contains(says), qPrintable(parsed.error().text));
    QVERIFY2(parsed.error().text.contains(u"accepted: "_s), qPrintable(parsed.error().text));
    QVERIFY(!parsed.error().text.contains(u"secret"_s));
    QVERIFY(!parsed.error().text.contains(u"ret@"_s));
}

void TestDatabaseUrl::namesWithoutSecrets()
{
    qunsetenv("PGHOST");
    qunsetenv("PGDATABASE");
    qunsetenv("PGUSER");
    const auto name = [](const QString &url) { return DatabaseUrl::parse(url)->displayName(); };
    QCOMPARE(name(u"postgres://u:secret@db.example:5433/jobs"_s), u"PostgreSQL db.example/jobs"_s);
    QCOMPARE(name(u"postgresql:///jobs?host=/run/postgresql"_s), u"PostgreSQL /run/postgresql/jobs"_s);
    QCOMPARE(name(u"postgresql://"_s), u"PostgreSQL (local)/(default)"_s);
    qputenv("PGHOST", "there");
    qputenv("PGDATABASE", "jobs");
    QCOMPARE(name(u"postgresql://"_s), u"PostgreSQL there/jobs"_s);
    qunsetenv("PGHOST");
    qunsetenv("PGDATABASE");
    QCOMPARE(name(u"sqlite:////var/lib/sendonce.db"_s), u"SQLite sendonce.db"_s);
}

void TestDatabaseUrl::sqliteIsAPath()
{
    QCOMPARE(sqlitePath(u"sqlite:////var/lib/x%20y.db"_s).value(), u"/var/lib/x y.db"_s);
    const auto server = sqlitePath(u"postgres://u:secret@h/j"_s);
    QVERIFY(!server.ok() && !server.error().text.contains(u"secret"_s));
}

Q_DECLARE_METATYPE(DatabaseUrl)
QTEST_GUILESS_MAIN(TestDatabaseUrl)
#include "tst_databaseurl.moc"
