#include "tests/world/postgres.h"
#include "worker/consume/journalwriter.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;
using namespace sendonce::world;

namespace {

DeliveryReport delivery(int number, const QString &reason = {})
{
    DeliveryReport report;
    report.eventId = u"e-%1"_s.arg(number);
    report.messageId = u"m-%1"_s.arg(number);
    report.receiveCount = 1;
    report.lane = 1;
    report.receivedAt = QDateTime::fromMSecsSinceEpoch(1'700'000'000'000 + number, Qt::UTC);
    report.outcome = Outcome::Sent;
    report.reason = reason;
    return report;
}

} // namespace

/// No lane waits for a journal that is away, and what it missed is written when it is back.
class TestJournalWriter : public QObject
{
    Q_OBJECT

    Postgres m_postgres;
    QTemporaryDir m_dir;
    QString m_database;
    std::unique_ptr<JournalWriter> m_writer;
    std::unique_ptr<QSignalSpy> m_recorded, m_warned;

    void open(const QString &database)
    {
        m_database = database;
        m_writer = std::make_unique<JournalWriter>(m_dir.path(), m_postgres.url(database));
        m_recorded = std::make_unique<QSignalSpy>(m_writer.get(), &JournalWriter::recorded);
        m_warned = std::make_unique<QSignalSpy>(m_writer.get(), &JournalWriter::warned);
    }
    QString written() { return m_postgres.sql(m_database, u"SELECT count(*) FROM sendonce_attempt"_s); }
    QString lastWarning() const { return m_warned->isEmpty() ? QString() : m_warned->last().first().toString(); }

private Q_SLOTS:
    void initTestCase() { QVERIFY2(m_postgres.start(), qPrintable(m_postgres.why())); }
    void cleanup()
    {
        m_writer.reset();
        if (!m_postgres.url({}).isEmpty() && QTest::currentTestFailed())
            m_postgres.startAgain();
    }

    void anOutageLosesNothingAndHoldsNobodyUp()
    {
        open(m_postgres.createJobBoard());
        m_writer->record({delivery(1)});
        QTRY_COMPARE(m_recorded->size(), 1); // idle: at once
        QCOMPARE(written(), u"1"_s);
        QVERIFY(m_postgres.stop(Postgres::Stop::Fast)); // a crash may take the last rows: they do not wait for the disk
        for (int number = 2; number <= 60; ++number)
            m_writer->record({delivery(number)});
        m_writer->flush();
        int told = 0;
        for (const auto &each : std::as_const(*m_recorded))
            told += int(each.first().value<QList<DeliveryReport>>().size());
        QCOMPARE(told, 60);
        QCOMPARE(m_warned->size(), 1); // once, not for each
        QVERIFY(m_postgres.startAgain());
        QTRY_COMPARE_WITH_TIMEOUT(m_warned->size(), 2, 30'000);
        QVERIFY2(lastWarning().contains(u"nothing is missing"_s), qPrintable(lastWarning()));
        QCOMPARE(written(), u"60"_s);
    }

    void whatComesInBetweenIsWrittenTogetherAndWakesNobody()
    {
        open(m_postgres.createJobBoard());
        m_writer->record({delivery(1)});
        m_writer->flush();
        QCoreApplication::removePostedEvents(m_writer.get()); // the wake-up of the first one
        QCOMPARE(m_recorded->size(), 1);
        for (int number = 2; number <= 20; ++number)
            m_writer->record({delivery(number)});
        QCoreApplication::sendPostedEvents(m_writer.get()); // there is none: its timer will do
        QCOMPARE(m_recorded->size(), 1);
        QTRY_COMPARE(m_recorded->size(), 2);
        QCOMPARE(m_recorded->last().first().value<QList<DeliveryReport>>().size(), 19);
        QTRY_COMPARE(written(), u"20"_s);
    }

    void whatIsTooMuchIsCounted()
    {
        open(m_postgres.createJobBoard());
        QVERIFY(m_postgres.stop(Postgres::Stop::Immediate));
        const int all = int(JournalWriter::MostKept) + 7;
        for (int number = 1; number <= all; ++number)
            m_writer->record({delivery(number)});
        QVERIFY(m_postgres.startAgain());
        QTRY_VERIFY_WITH_TIMEOUT(lastWarning().contains(u"7 deliveries are missing"_s), 60'000);
        QTRY_COMPARE(written(), QString::number(JournalWriter::MostKept));
        QCOMPARE(m_postgres.sql(m_database, u"SELECT min(received_at) FROM sendonce_attempt"_s),
                 QString::number(delivery(8).receivedAt.toMSecsSinceEpoch() * 1000)); // the newest stay
    }

    void theEndDuringAnOutageSaysWhatIsMissing()
    {
        open(m_postgres.createJobBoard());
        QVERIFY(m_postgres.stop(Postgres::Stop::Immediate));
        m_writer->record({delivery(1)});
        m_writer->record({delivery(2)});
        m_writer->close();
        QVERIFY2(lastWarning().contains(u"2 deliveries are missing"_s), qPrintable(lastWarning()));
        QVERIFY(m_postgres.startAgain());
    }

    void oneThatCannotBeKeptDoesNotStopTheOthers()
    {
        QVERIFY2(!m_postgres
                      .sql(u"postgres"_s,
                           u"CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' "
                           "TEMPLATE template0"_s)
                      .isNull(),
                 qPrintable(m_postgres.why()));
        open(u"latin"_s);
        m_writer->record({delivery(1)});
        m_writer->record({delivery(2, u"reviewing → interview"_s)});
        m_writer->record({delivery(3)});
        m_writer->flush();
        QCOMPARE(written(), u"2"_s);
        QCOMPARE(m_warned->size(), 1);
        QVERIFY2(lastWarning().contains(u"m-2"_s), qPrintable(lastWarning()));
    }
};

QTEST_GUILESS_MAIN(TestJournalWriter)
#include "tst_journalwriter.moc"
