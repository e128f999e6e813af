#include "worker/store/jobboard.h"

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QtSql/QSqlQuery>

#include <barrier>
#include <thread>
#include <vector>

using namespace Qt::StringLiterals;
using namespace sendonce;

namespace {

QVariant ask(const Database &database, const QString &sql)
{
    QSqlQuery query(database.handle());
    return query.exec(sql) && query.next() ? query.value(0) : QVariant();
}

const QString Join =
    u"SELECT application.id AS application_id, auth_user.id AS user_id, username, first_name, last_name, email, "
    "job.title AS job_title, company.name AS company_name, application.status AS status FROM jobs_application AS "
    "application "
    "JOIN jobs_job AS job ON job.id = application.job_id JOIN jobs_company AS company ON company.id = job.company_id "
    "JOIN jobs_candidate AS candidate ON candidate.id = application.candidate_id "
    "JOIN auth_user ON auth_user.id = candidate.user_id "
    "WHERE application.id = :application_id -- one row; not :this"_s;

} // namespace

class TestJobBoard : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup() { m_database.reset(); }

    void applicationThreeIsSams();
    void demoDataAreWhole();
    void makingItAgainChangesNothing();
    void eightThreadsMakeItOnce();
    void emptiedApplicationsComeBack();
    void djangosTablesStayAsTheyAre();

    void findsNothing();
    void bindsTextAsData();
    void readsTheFirstRowOnly();
    void nullsAreNull();
    void missingFieldIsNamed();
    void refusesWhatIsNoSelect_data();
    void refusesWhatIsNoSelect();
    void acceptsSelects_data();
    void acceptsSelects();
    void cannotWriteEvenIfItWouldPass();
    void oneRunShowsThatItOnlyReads();
    void brokenSqlIsAnError();
    void worksInsideOfTheClaimsTransaction();

private:
    Result<std::optional<QMap<QString, QVariant>>> find(const QString &sql, const QMap<QString, QVariant> &fields = {})
    {
        return lookUp(*m_database, sql, fields);
    }
    QString url() const { return u"sqlite:///"_s + m_folder->filePath(u"t.db"_s); }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Database> m_database;
};

void TestJobBoard::init()
{
    QTest::failOnWarning(QRegularExpression(u".*"_s));
    m_folder = std::make_unique<QTemporaryDir>();
    Result<Database> database = Database::open(url());
    QVERIFY(database.ok());
    m_database = std::make_unique<Database>(database.take());
    const Result<void> made = createJobBoard(*m_database);
    QVERIFY2(made.ok(), made.ok() ? "" : qPrintable(made.error().text));
}

void TestJobBoard::applicationThreeIsSams()
{
    const auto found = find(Join, {{u"application_id"_s, Q_INT64_C(3)}, {u"unused"_s, u"x"_s}});
    QVERIFY2(found.ok(), found.ok() ? "" : qPrintable(found.error().text));
    QVERIFY(found->has_value());
    const QMap<QString, QVariant> expected{{u"application_id"_s, 3},
                                           {u"user_id"_s, 5},
                                           {u"username"_s, u"sam"_s},
                                           {u"first_name"_s, u"Sam"_s},
                                           {u"last_name"_s, u"Rivera"_s},
                                           {u"email"_s, u"sam@example.com"_s},
                                           {u"job_title"_s, u"Backend Engineer"_s},
                                           {u"company_name"_s, u"Acme"_s},
                                           {u"status"_s, u"reviewing"_s}};
    QCOMPARE(found->value().keys(), expected.keys());
    for (auto it = expected.cbegin(); it != expected.cend(); ++it)
        QCOMPARE(found->value().value(it.key()).toString(), it.value().toString());
}

void TestJobBoard::demoDataAreWhole()
{
    QCOMPARE(ask(*m_database, u"SELECT count(*) FROM jobs_company"_s).toInt(), 6);
    QCOMPARE(ask(*m_database, u"SELECT count(*) FROM jobs_job"_s).toInt(), 10);
    QCOMPARE(ask(*m_database, u"SELECT count(*) FROM jobs_candidate"_s).toInt(), 14);
    QCOMPARE(ask(*m_database, u"SELECT count(*) FROM jobs_application"_s).toInt(), 25);
    QVERIFY(!ask(*m_database, u"PRAGMA foreign_key_check"_s).isValid());
    QCOMPARE(ask(*m_database, u"PRAGMA integrity_check"_s).toString(), u"ok"_s);
    // RFC 2606: nobody's address.
    QCOMPARE(
        ask(*m_database,
            u"SELECT count(*) FROM auth_user WHERE email NOT LIKE '%@example.com' AND email NOT LIKE '%@example.org' "
            "AND email NOT LIKE '%@example.net' AND email NOT LIKE '%.example'"_s)
            .toInt(),
        0);
    // Limits that SQLite does not check and PostgreSQL would.
    QCOMPARE(ask(*m_database, u"SELECT count(*) FROM jobs_application WHERE length(status) > 20"_s).toInt(), 0);
    QCOMPARE(ask(*m_database, u"SELECT first_name FROM auth_user WHERE id = 6"_s).toString(), u"Ελένη"_s);
}

void TestJobBoard::makingItAgainChangesNothing()
{
    QVERIFY(QSqlQuery(m_database->handle()).exec(u"DELETE FROM jobs_application WHERE id = 3"_s));
    QVERIFY(QSqlQuery(m_database->handle()).exec(u"UPDATE auth_user SET email = 'new@example.com' WHERE id = 5"_s));
    QVERIFY(createJobBoard(*m_database).ok());
    QCOMPARE(ask(*m_database, u"SELECT count(*) FROM jobs_application"_s).toInt(), 24);
    QCOMPARE(ask(*m_database, u"SELECT email FROM auth_user WHERE id = 5"_s).toString(), u"new@example.com"_s);
}

void TestJobBoard::eightThreadsMakeItOnce()
{
    const QString fresh = u"sqlite:///"_s + m_folder->filePath(u"fresh.db"_s);
    std::barrier start(8);
    std::atomic_int made = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            start.arrive_and_wait();
            Result<Database> database = Database::open(fresh);
            if (database.ok() && createJobBoard(database.value()).ok())
                ++made;
        });
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(made, 8);
    const Result<Database> database = Database::open(fresh);
    QCOMPARE(ask(database.value(), u"SELECT count(*) FROM jobs_application"_s).toInt(), 25);
}

void TestJobBoard::emptiedApplicationsComeBack()
{
    QVERIFY(QSqlQuery(m_database->handle()).exec(u"DELETE FROM jobs_application"_s));
    QVERIFY(createJobBoard(*m_database).ok());
    QCOMPARE(ask(*m_database, u"SELECT count(*) FROM jobs_application"_s).toInt(), 25);
}

void TestJobBoard::djangosTablesStayAsTheyAre()
{
    const QString path = m_folder->filePath(u"django.db"_s);
    Result<Database> database = Database::openFile(path);
    const QString theirs =
        u"CREATE TABLE \"jobs_processedevent\" (\"id\" integer NOT NULL PRIMARY KEY AUTOINCREMENT, \"event_id\" "
        u"varchar(64) NOT NULL UNIQUE, "
        "\"event_type\" varchar(100) NOT NULL, \"processed_at\" datetime NOT NULL, \"note\" text NULL)"_s;
    QVERIFY(QSqlQuery(database->handle()).exec(theirs));
    QVERIFY(database.value().migrate(u"jobboard"_s).ok());
    QCOMPARE(ask(database.value(), u"SELECT sql FROM sqlite_master WHERE name = 'jobs_processedevent'"_s).toString(),
             theirs);
    // Ours, as SQLite keeps it, is Django's text.
    QCOMPARE(ask(*m_database, u"SELECT sql FROM sqlite_master WHERE name = 'jobs_processedevent'"_s).toString(),
             QString(theirs).remove(u", \"note\" text NULL"_s));
}

void TestJobBoard::findsNothing()
{
    const auto found = find(Join, {{u"application_id"_s, Q_INT64_C(99)}});
    QVERIFY(found.ok());
    QVERIFY(!found->has_value());
}

void TestJobBoard::bindsTextAsData()
{
    const QString hostile = u"3'); DROP TABLE auth_user; --"_s;
    const auto found =
        find(u"SELECT :a AS a, :b AS b, :a AS again, ':a' AS quoted"_s, {{u"a"_s, hostile}, {u"b"_s, true}});
    QVERIFY2(found.ok(), found.ok() ? "" : qPrintable(found.error().text));
    QCOMPARE(found->value().value(u"a"_s).toString(), hostile);
    QCOMPARE(found->value().value(u"again"_s).toString(), hostile);
    QCOMPARE(found->value().value(u"b"_s).toInt(), 1);
    QCOMPARE(found->value().value(u"quoted"_s).toString(), u":a"_s);
    QVERIFY(!find(Join, {{u"application_id"_s, hostile}})->has_value());
    QCOMPARE(ask(*m_database, u"SELECT count(*) FROM auth_user"_s).toInt(), 15);
}

void TestJobBoard::readsTheFirstRowOnly()
{
    const auto found = find(u"SELECT id FROM jobs_application ORDER BY id"_s);
    QCOMPARE(found->value().value(u"id"_s).toInt(), 1);
}

void TestJobBoard::nullsAreNull()
{
    const auto found = find(u"SELECT last_login, first_name FROM auth_user WHERE id = 1"_s);
    QVERIFY(found->value().contains(u"last_login"_s));
    QVERIFY(found->value().value(u"last_login"_s).isNull());
    QVERIFY(!found->value().value(u"first_name"_s).isNull());
}

void TestJobBoard::missingFieldIsNamed()
{
    const auto found = find(Join, {{u"application"_s, 3}});
    QVERIFY(!found.ok());
    QCOMPARE(found.error().kind, ErrorKind::Invalid);
    QVERIFY2(found.error().text.contains(u":application_id"_s), qPrintable(found.error().text));
}

void TestJobBoard::refusesWhatIsNoSelect_data()
{
    QTest::addColumn<QString>("sql");
    QTest::addColumn<QString>("says");
    QTest::newRow("empty") << u" -- nothing\n"_s << u"0 statements"_s;
    QTest::newRow("delete") << u"DELETE FROM jobs_application"_s << u"begins with “DELETE”"_s;
    QTest::newRow("update in small letters") << u"update auth_user set email=''"_s << u"begins with “update”"_s;
    QTest::newRow("pragma") << u"PRAGMA query_only=OFF"_s << u"begins with “PRAGMA”"_s;
    QTest::newRow("attach") << u"ATTACH '/tmp/x' AS y"_s << u"begins with “ATTACH”"_s;
    QTest::newRow("two statements") << u"SELECT 1; DELETE FROM jobs_application"_s << u"2 statements"_s;
    QTest::newRow("two selects") << u"SELECT 1; SELECT 2"_s << u"2 statements"_s;
    QTest::newRow("with … delete") << u"WITH x AS (SELECT 1) DELETE FROM jobs_application"_s << u"the word DELETE"_s;
    QTest::newRow("with … insert") << u"WITH x AS (SELECT 1) INSERT INTO jobs_company SELECT 9, 'x', 'y' FROM x"_s
                                   << u"the word INSERT"_s;
    QTest::newRow("with … replace") << u"WITH x AS (SELECT 1) REPLACE INTO jobs_company SELECT 1, 'x', 'y'"_s
                                    << u"the word REPLACE"_s;
    QTest::newRow("writing WITH of PostgreSQL")
        << u"WITH x AS (DELETE FROM t RETURNING id) SELECT * FROM x"_s << u"the word DELETE"_s;
    QTest::newRow("select into") << u"SELECT id INTO copy FROM auth_user"_s << u"the word INTO"_s;
    QTest::newRow("hidden behind a comment") << u"/* SELECT */ DELETE FROM auth_user"_s << u"begins with “DELETE”"_s;
    QTest::newRow("brackets") << u"(SELECT 1)"_s << u"begins with “(”"_s;
    QTest::newRow("open text") << u"SELECT 'a"_s << u"not closed"_s;
    QTest::newRow("question mark") << u"SELECT ?"_s << u"parameters with a colon"_s;
}

void TestJobBoard::refusesWhatIsNoSelect()
{
    QFETCH(QString, sql);
    QFETCH(QString, says);
    const Result<void> checked = checkLookupSql(sql);
    QVERIFY(!checked.ok());
    QCOMPARE(checked.error().kind, ErrorKind::Invalid);
    QVERIFY2(checked.error().text.contains(says), qPrintable(checked.error().text));
    QVERIFY(!find(sql).ok());
    QCOMPARE(ask(*m_database, u"SELECT count(*) FROM jobs_application"_s).toInt(), 25);
}

void TestJobBoard::acceptsSelects_data()
{
    QTest::addColumn<QString>("sql");
    QTest::newRow("plain") << u"SELECT 1 AS one"_s;
    QTest::newRow("small letters, semicolon") << u"  select 1 as one ;\n"_s;
    QTest::newRow("with") << u"WITH x AS (SELECT 1 AS one) SELECT one FROM x"_s;
    QTest::newRow("words in texts and names") << u"SELECT 1 AS one, 'DELETE; DROP' AS a, 2 AS \"update\""_s;
    QTest::newRow("words in comments") << u"-- DELETE; or not\nSELECT 1 AS one /* INSERT */"_s;
    QTest::newRow("words as parts of names") << u"SELECT 1 AS one, 2 AS updated_at, 3 AS into_it"_s;
    QTest::newRow("the function replace") << u"SELECT 1 AS one, replace('a', 'a', 'b') AS b"_s;
}

void TestJobBoard::acceptsSelects()
{
    QFETCH(QString, sql);
    const auto found = find(sql);
    QVERIFY2(found.ok(), found.ok() ? "" : qPrintable(found.error().text));
    QCOMPARE(found->value().value(u"one"_s).toInt(), 1);
}

// The words are the first door; this is the second one. SQLite's own functions that write need an argument of ours to
// get past.
void TestJobBoard::cannotWriteEvenIfItWouldPass()
{
    QVERIFY(find(u"SELECT query_only AS value FROM pragma_query_only"_s)->value().value(u"value"_s).toInt() == 1);
    QCOMPARE(ask(*m_database, u"PRAGMA query_only"_s).toInt(), 0);
    QVERIFY(!find(u"SELECT nonsense FROM nowhere"_s).ok());
    QCOMPARE(ask(*m_database, u"PRAGMA query_only"_s).toInt(), 0); // also after an error
}

/// A change of query_only makes SQLite compile every statement of the connection anew.
void TestJobBoard::oneRunShowsThatItOnlyReads()
{
    const QString sql = u"SELECT query_only AS guarded, CASE WHEN :fails THEN abs(-9223372036854775808) END AS number "
                        "FROM pragma_query_only"_s;
    const auto isGuarded = [&] { return find(sql, {{u"fails"_s, 0}})->value().value(u"guarded"_s).toInt(); };
    QVERIFY(!find(sql, {{u"fails"_s, 1}}).ok());
    QCOMPARE(isGuarded(), 1); // one that failed shows nothing
    QCOMPARE(isGuarded(), 0);
    m_database = std::make_unique<Database>(Database::open(url()).take());
    QCOMPARE(isGuarded(), 1); // of each connection
}

void TestJobBoard::brokenSqlIsAnError()
{
    const auto found = find(u"SELECT nonsense FROM nowhere"_s);
    QVERIFY(!found.ok());
    QVERIFY2(found.error().text.contains(u"no such table: nowhere"_s), qPrintable(found.error().text));
    QVERIFY(find(u"SELECT 1 AS a, 2 AS a"_s).error().text.contains(u"two columns named a"_s));
    QVERIFY(!find(u"SELECT abs(-9223372036854775808) AS overflow"_s).ok()); // fails at the first row, not before
}

void TestJobBoard::worksInsideOfTheClaimsTransaction()
{
    Result<Transaction> transaction = Transaction::begin(*m_database);
    QVERIFY(QSqlQuery(m_database->handle()).exec(u"UPDATE auth_user SET first_name = 'Samuel' WHERE id = 5"_s));
    QCOMPARE(find(Join, {{u"application_id"_s, 3}})->value().value(u"first_name"_s).toString(), u"Samuel"_s);
    QVERIFY(QSqlQuery(m_database->handle()).exec(u"UPDATE auth_user SET last_name = 'R.' WHERE id = 5"_s));
    QVERIFY(transaction.value().commit().ok());
    QCOMPARE(ask(*m_database, u"SELECT first_name || last_name FROM auth_user WHERE id = 5"_s).toString(),
             u"SamuelR."_s);
}

QTEST_GUILESS_MAIN(TestJobBoard)
#include "tst_jobboard.moc"
