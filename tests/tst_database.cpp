#include "worker/store/database.h"
#include "worker/store/jobboard.h"
#include "worker/store/processedevents.h"

#include <QDir>
#include <QFile>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>
#include <QtSql/QSqlError>
#include <QtSql/QSqlQuery>

#include <barrier>
#include <thread>
#include <vector>

using namespace Qt::StringLiterals;
using namespace sendonce;
using namespace std::chrono_literals;

namespace {

QVariant ask(const Database &database, const QString &sql)
{
    QSqlQuery query(database.handle());
    return query.exec(sql) && query.next() ? query.value(0) : QVariant();
}

/// The version that this program's migrations lead to.
int newest(const QString &set)
{
    const QStringList names = QDir(u":/migrations/"_s + set).entryList({u"*.sql"_s}, QDir::Files, QDir::Name);
    return names.constLast().section(u'-', 0, 0).toInt();
}

bool run(const Database &database, const QString &sql)
{
    return QSqlQuery(database.handle()).exec(sql);
}

} // namespace

class TestDatabase : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();

    void acceptsUrls_data();
    void acceptsUrls();
    void refusesUrlsInWords_data();
    void refusesUrlsInWords();
    void opensDurably();
    void opensWhatIsOpenElsewhere();
    void eightThreadsOpenANewFileAtOnce();
    void movesAndLeavesNothingBehind();
    void namesWhatCannotBeOpened();
    void leavesADamagedFileAsItIs();
    void damagedPagesAreErrorsAndNoCrash();

    void transactionRollsBackUnlessCommitted();
    void failedCommitIsOver();
    void lockedIsBusy();
    void fullIsAnErrorAndNotBusy();

    void migratesOnce();
    void migratesInOneTransaction();
    void eightThreadsMigrateAtOnce();
    void refusesANewerVersion();
    void migratingNothingTakesNoLock();
    void unknownSetIsAnError();

private:
    QString url() const { return u"sqlite:///"_s + m_folder->filePath(u"t.db"_s); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestDatabase::init()
{
    QTest::failOnWarning(QRegularExpression(u".*"_s));
    m_folder = std::make_unique<QTemporaryDir>();
}

void TestDatabase::acceptsUrls_data()
{
    QTest::addColumn<QString>("url");
    QTest::addColumn<QString>("path");
    QTest::newRow("absolute") << u"sqlite:////var/lib/sendonce.db"_s << u"/var/lib/sendonce.db"_s;
    QTest::newRow("relative") << u"sqlite:///data/sendonce.db"_s << QDir::current().filePath(u"data/sendonce.db"_s);
    QTest::newRow("scheme in capitals") << u"SQLite:////a.db"_s << u"/a.db"_s;
    QTest::newRow("percent-encoded") << u"sqlite:////a%20b/%C3%A9%3F%23%25.db"_s << u"/a b/é?#%.db"_s;
    QTest::newRow("not encoded") << u"sqlite:////a b/é.db"_s << u"/a b/é.db"_s;
}

void TestDatabase::acceptsUrls()
{
    QFETCH(QString, url);
    const Result<QString> path = sqlitePath(url);
    QVERIFY2(path.ok(), path.ok() ? "" : qPrintable(path.error().text));
    QTEST(path.value(), "path");
}

void TestDatabase::refusesUrlsInWords_data()
{
    QTest::addColumn<QString>("url");
    QTest::addColumn<QString>("says");
    QTest::newRow("empty") << QString() << u"must begin with sqlite:/// or postgresql://"_s;
    QTest::newRow("a path") << u"/var/lib/x.db"_s << u"must begin with sqlite:/// or postgresql://"_s;
    QTest::newRow("memory") << u"sqlite://"_s << u"no durability"_s;
    QTest::newRow("memory, no slashes") << u"sqlite:"_s << u"no durability"_s;
    QTest::newRow("memory, three slashes") << u"sqlite:///"_s << u"no durability"_s;
    QTest::newRow("memory by name") << u"sqlite:///:memory:"_s << u"no durability"_s;
    QTest::newRow("host") << u"sqlite://host/a.db"_s << u"names a host"_s;
    QTest::newRow("one slash") << u"sqlite:/a.db"_s << u"lacks a slash"_s;
    QTest::newRow("option") << u"sqlite:////a.db?mode=memory"_s << u"has options"_s;
    QTest::newRow("fragment") << u"sqlite:////a.db#x"_s << u"has options"_s;
    QTest::newRow("stray percent") << u"sqlite:////a%2.db"_s << u"percent-encoded"_s;
    QTest::newRow("percent sign") << u"sqlite:////a%-1.db"_s << u"percent-encoded"_s;
    QTest::newRow("NUL") << u"sqlite:////a%00.db"_s << u"percent-encoded"_s;
    QTest::newRow("no UTF-8") << u"sqlite:////a%ff.db"_s << u"percent-encoded"_s;
    QTest::newRow("folder") << u"sqlite:////var/lib/"_s << u"names a folder"_s;
    QTest::newRow("postgres") << u"postgres://user:secret@host/db"_s << u"names no file"_s;
    QTest::newRow("mysql") << u"mysql://user:secret@host/db"_s << u"must begin with sqlite:/// or postgresql://"_s;
}

void TestDatabase::refusesUrlsInWords()
{
    QFETCH(QString, url);
    QFETCH(QString, says);
    const Result<QString> path = sqlitePath(url);
    QVERIFY(!path.ok());
    QCOMPARE(path.error().kind, ErrorKind::Invalid);
    QVERIFY2(path.error().text.contains(says), qPrintable(path.error().text));
    QVERIFY(path.error().text.contains(u"accepted: "_s));
    QVERIFY(!path.error().text.contains(u"secret"_s));
}

void TestDatabase::opensDurably()
{
    Result<Database> database = Database::open(url());
    QVERIFY2(database.ok(), database.ok() ? "" : qPrintable(database.error().text));
    QCOMPARE(database->displayName(), u"SQLite t.db"_s);
    QCOMPARE(database->filePath(), m_folder->filePath(u"t.db"_s));
    QCOMPARE(ask(database.value(), u"PRAGMA journal_mode"_s).toString(), u"wal"_s);
    QCOMPARE(ask(database.value(), u"PRAGMA synchronous"_s).toInt(), 2);
    QCOMPARE(ask(database.value(), u"PRAGMA foreign_keys"_s).toInt(), 1);
    QCOMPARE(ask(database.value(), u"PRAGMA busy_timeout"_s).toInt(), 30'000);
}

// Finding WAL already set needs no lock, so a lane in its transaction does not hinder a window that opens.
void TestDatabase::opensWhatIsOpenElsewhere()
{
    Result<Database> first = Database::open(url());
    QVERIFY(first.ok());
    const Result<Transaction> writing = Transaction::begin(first.value());
    QVERIFY(writing.ok());
    QVERIFY(Database::open(url(), 0ms).ok());
}

void TestDatabase::eightThreadsOpenANewFileAtOnce()
{
    std::barrier start(8);
    std::atomic_int opened = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            start.arrive_and_wait();
            const Result<Database> database = Database::open(url());
            if (database.ok() && ask(database.value(), u"PRAGMA journal_mode"_s).toString() == "wal"_L1)
                ++opened;
        });
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(opened, 8);
    QCOMPARE(QSqlDatabase::connectionNames(), QStringList());
}

void TestDatabase::movesAndLeavesNothingBehind()
{
    {
        Result<Database> opened = Database::open(url());
        QVERIFY(opened.ok());
        Database first = opened.take();
        Database second = std::move(first);
        QVERIFY(run(second, u"CREATE TABLE t (x)"_s));
        Result<Database> other = Database::openFile(m_folder->filePath(u"other.db"_s));
        QVERIFY(other.ok());
        QCOMPARE(QSqlDatabase::connectionNames().size(), 2);
        second = other.take();
        QCOMPARE(second.displayName(), u"SQLite other.db"_s);
    }
    QCOMPARE(QSqlDatabase::connectionNames(), QStringList()); // and no warning: failOnWarning
}

void TestDatabase::namesWhatCannotBeOpened()
{
    const Result<Database> database = Database::openFile(m_folder->filePath(u"no/such/folder.db"_s));
    QVERIFY(!database.ok());
    QCOMPARE(database.error().kind, ErrorKind::Io);
    QVERIFY2(database.error().text.contains(m_folder->filePath(u"no/such/folder.db"_s)),
             qPrintable(database.error().text));
    QCOMPARE(QSqlDatabase::connectionNames(), QStringList());
}

void TestDatabase::leavesADamagedFileAsItIs()
{
    const QByteArray content = QByteArray("this is no database\n").repeated(500);
    QFile file(m_folder->filePath(u"t.db"_s));
    QVERIFY(file.open(QIODevice::ReadWrite));
    QCOMPARE(file.write(content), content.size());
    file.close();
    const Result<Database> database = Database::open(url());
    QVERIFY(!database.ok());
    QCOMPARE(database.error().kind, ErrorKind::Io);
    QVERIFY2(database.error().text.contains(u"damaged or no SQLite database"_s), qPrintable(database.error().text));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), content);
}

void TestDatabase::damagedPagesAreErrorsAndNoCrash()
{
    {
        Result<Database> database = Database::open(url());
        QVERIFY(createJobBoard(database.value()).ok());
    }
    QFile whole(m_folder->filePath(u"t.db"_s));
    QVERIFY(whole.open(QIODevice::ReadOnly));
    const QByteArray content = whole.readAll();
    QRandomGenerator random(20250304);
    int refused = 0;
    for (int round = 0; round < 60; ++round) {
        QByteArray damaged = content;
        if (round % 4 == 0)
            damaged.truncate(random.bounded(int(content.size())));
        for (int change = random.bounded(1, 40); change > 0 && !damaged.isEmpty(); --change)
            damaged[random.bounded(int(damaged.size()))] = char(random.bounded(256));
        const QString path = m_folder->filePath(u"%1.db"_s.arg(round));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(damaged) == damaged.size());
        file.close();

        Result<Database> database = Database::openFile(path, 0ms);
        Result<void> made = database ? createJobBoard(database.value()) : database.error();
        if (made) {
            ProcessedEvents events(database.value());
            if (const auto claimed = events.claim(u"e"_s, u"t"_s, u"2025-03-04 00:00:00"_s, {}); !claimed)
                made = claimed.error();
        }
        if (!made) {
            ++refused;
            QVERIFY(!made.error().text.isEmpty());
        }
    }
    QVERIFY(refused > 0);
}

void TestDatabase::transactionRollsBackUnlessCommitted()
{
    Result<Database> database = Database::open(url());
    QVERIFY(database.ok());
    QVERIFY(run(database.value(), u"CREATE TABLE t (x)"_s));
    const auto insert = [&](bool commit) {
        Result<Transaction> begun = Transaction::begin(database.value());
        QVERIFY(begun.ok());
        Transaction transaction = begun.take();
        Transaction moved = std::move(transaction);
        QVERIFY(run(database.value(), u"INSERT INTO t VALUES (1)"_s));
        if (commit)
            QVERIFY(moved.commit().ok());
    };
    insert(false);
    QCOMPARE(ask(database.value(), u"SELECT count(*) FROM t"_s).toInt(), 0);
    insert(true);
    QCOMPARE(ask(database.value(), u"SELECT count(*) FROM t"_s).toInt(), 1);

    Result<Transaction> twice = Transaction::begin(database.value());
    QVERIFY(twice.value().commit().ok());
    QVERIFY(!twice.value().commit().ok());
    twice.value().rollback(); // after the end: nothing
}

void TestDatabase::failedCommitIsOver()
{
    Result<Database> database = Database::open(url());
    QVERIFY(run(database.value(), u"CREATE TABLE parent (id integer primary key)"_s));
    QVERIFY(run(database.value(), u"CREATE TABLE child (p REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)"_s));
    Result<Transaction> transaction = Transaction::begin(database.value());
    QVERIFY(run(database.value(), u"INSERT INTO child VALUES (7)"_s));
    const Result<void> committed = transaction.value().commit();
    QVERIFY(!committed.ok());
    QCOMPARE(committed.error().kind, ErrorKind::Io);
    QVERIFY2(committed.error().text.contains(u"FOREIGN KEY"_s), qPrintable(committed.error().text));
    QVERIFY(Transaction::begin(database.value()).ok());
    QCOMPARE(ask(database.value(), u"SELECT count(*) FROM child"_s).toInt(), 0);
}

void TestDatabase::lockedIsBusy()
{
    Result<Database> holder = Database::open(url());
    Result<Database> other = Database::open(url(), 20ms);
    QVERIFY(holder.ok() && other.ok());
    Result<Transaction> held = Transaction::begin(holder.value());
    QVERIFY(held.ok());
    const Result<Transaction> refused = Transaction::begin(other.value());
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().kind, ErrorKind::Busy);
    QCOMPARE(refused.error().code, u"5"_s);
    held.value().rollback();
    QVERIFY(Transaction::begin(other.value()).ok());
}

void TestDatabase::fullIsAnErrorAndNotBusy()
{
    Result<Database> database = Database::open(url());
    QVERIFY(run(database.value(), u"CREATE TABLE t (x)"_s));
    QVERIFY(ask(database.value(), u"PRAGMA max_page_count=3"_s).isValid());
    Result<Transaction> transaction = Transaction::begin(database.value());
    QSqlQuery query(database->handle());
    QVERIFY(!query.exec(u"INSERT INTO t VALUES (zeroblob(100000))"_s));
    const Error error = sqlError(query.lastError(), u"writing"_s);
    QCOMPARE(error.kind, ErrorKind::Io);
    QCOMPARE(error.code, u"13"_s);
    QVERIFY2(error.text.startsWith(u"writing: database or disk is full"_s), qPrintable(error.text));
}

void TestDatabase::migratesOnce()
{
    for (int start = 0; start < 3; ++start) {
        Result<Database> database = Database::open(url());
        const Result<void> migrated = database.value().migrate(u"jobboard"_s);
        QVERIFY2(migrated.ok(), migrated.ok() ? "" : qPrintable(migrated.error().text));
        QCOMPARE(ask(database.value(), u"SELECT version FROM sendonce_schema WHERE name = 'jobboard'"_s).toInt(),
                 newest(u"jobboard"_s));
    }
    Result<Database> database = Database::open(url());
    QVERIFY(database.value().migrate(u"journal"_s).ok()); // another set, its own version
    QCOMPARE(ask(database.value(), u"SELECT group_concat(name || version) FROM sendonce_schema"_s).toString(),
             u"jobboard%1,journal%2"_s.arg(newest(u"jobboard"_s)).arg(newest(u"journal"_s)));
}

void TestDatabase::migratesInOneTransaction()
{
    Result<Database> database = Database::open(url());
    // The last statement of the journal's first migration will find its name taken.
    QVERIFY(run(database.value(), u"CREATE TABLE sendonce_note_twice (x)"_s));
    const Result<void> migrated = database.value().migrate(u"journal"_s);
    QVERIFY(!migrated.ok());
    QVERIFY2(migrated.error().text.contains(u"sendonce_note_twice"_s), qPrintable(migrated.error().text));
    QCOMPARE(ask(database.value(), u"SELECT count(*) FROM sqlite_master WHERE name <> 'sendonce_note_twice'"_s).toInt(),
             0);
    QVERIFY(run(database.value(), u"DROP TABLE sendonce_note_twice"_s));
    QVERIFY(database.value().migrate(u"journal"_s).ok());
}

void TestDatabase::eightThreadsMigrateAtOnce()
{
    std::barrier start(8);
    std::atomic_int done = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            Result<Database> database = Database::open(url());
            start.arrive_and_wait();
            if (database.ok() && database.value().migrate(u"jobboard"_s).ok())
                ++done;
        });
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(done, 8);
}

void TestDatabase::refusesANewerVersion()
{
    Result<Database> database = Database::open(url());
    QVERIFY(database.value().migrate(u"journal"_s).ok());
    QVERIFY(run(database.value(), u"UPDATE sendonce_schema SET version = 7"_s));
    const Result<void> migrated = database.value().migrate(u"journal"_s);
    QVERIFY(!migrated.ok());
    QCOMPARE(migrated.error().kind, ErrorKind::Refused);
    QVERIFY2(migrated.error().text.contains(
                 u"newer Sendonce (journal version 7; this program knows %1)"_s.arg(newest(u"journal"_s))),
             qPrintable(migrated.error().text));
}

void TestDatabase::migratingNothingTakesNoLock()
{
    Result<Database> lane = Database::open(url());
    QVERIFY(lane.value().migrate(u"jobboard"_s).ok());
    const Result<Transaction> writing = Transaction::begin(lane.value());
    QVERIFY(writing.ok());
    Result<Database> starting = Database::open(url(), 0ms);
    QVERIFY(starting.value().migrate(u"jobboard"_s).ok());
}

void TestDatabase::unknownSetIsAnError()
{
    Result<Database> database = Database::open(url());
    QCOMPARE(database.value().migrate(u"nothing"_s).error().kind, ErrorKind::Invalid);
}

QTEST_GUILESS_MAIN(TestDatabase)
#include "tst_database.moc"
