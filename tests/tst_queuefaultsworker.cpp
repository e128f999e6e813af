#include "app/config/embedded.h"
#include "app/config/settings.h"
#include "worker/worker.h"

#include <QtTest>

#include <QDir>
#include <QElapsedTimer>
#include <QTemporaryDir>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto Visibility = 3s;

FaultRule rule(FaultPoint where, FaultEffect what, int times = 1)
{
    FaultRule rule;
    rule.where = where;
    rule.what = what;
    rule.times = times;
    return rule;
}

} // namespace

/// What the faults of the queue come to for those who get the mails: a true worker with one lane on true embedded
/// services, both in this process. That the endpoint does what is armed is for tst_queuefaults.
class QueueFaultsWorker : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<LocalServices> m_services;
    std::unique_ptr<Worker> m_worker;
    LocalAddresses m_addresses;
    QList<DeliveryReport> m_delivered;
    QList<LogLine> m_lines;
    FaultRules m_armed;
    int m_lastArmed = 0;
    std::pair<int, int> m_left; ///< messages in the queue and in its dead letter queue

    void open(QMap<QString, QString> flags = {})
    {
        flags.insert(u"lanes"_s, u"1"_s);
        auto config = resolve(gather(flags, {}), {}, m_dir->path(), m_addresses);
        QVERIFY2(config, config ? "" : qPrintable(config.error().text));
        m_worker = std::make_unique<Worker>(config.take());
        connect(m_worker.get(), &Worker::delivered, this,
                [this](const DeliveryReport &report) { m_delivered.append(report); });
        connect(m_worker.get(), &Worker::logged, this, [this](const LogLine &line) { m_lines.append(line); });
        connect(m_worker.get(), &Worker::armedChanged, this, [this](const FaultRules &rules) { m_armed = rules; });
        QSignalSpy opened(m_worker.get(), &Worker::opened);
        m_worker->open();
        QTRY_COMPARE(opened.size(), 1);
    }
    void arm(const FaultRule &rule)
    {
        m_worker->arm(rule);
        QTRY_VERIFY(!m_armed.isEmpty() && m_armed.last().id > m_lastArmed);
        m_lastArmed = m_armed.last().id;
    }
    SendReport send(const QString &event)
    {
        SendRequest request;
        request.eventId = event;
        QSignalSpy sent(m_worker.get(), &Worker::sendFinished);
        m_worker->send(request);
        [&] { QTRY_COMPARE_WITH_TIMEOUT(sent.size(), 1, 20'000); }();
        return sent.isEmpty() ? SendReport() : sent[0].at(0).value<SendReport>();
    }
    /// Everything is handled and nothing lies in the queue any more, nor in its dead letters.
    void waitForTheEnd(qsizetype deliveries)
    {
        QTRY_VERIFY2_WITH_TIMEOUT(m_delivered.size() >= deliveries, qPrintable(outcomes().join(u", "_s)), 30'000);
        m_left = {-1, -1};
        const auto isEmpty = [this] {
            m_services->count();
            return m_left == std::pair(0, 0);
        };
        QTRY_VERIFY_WITH_TIMEOUT(isEmpty(), 20'000);
    }
    QStringList outcomes() const
    {
        QStringList names;
        for (const DeliveryReport &report : m_delivered) {
            names.append(report.outcome == Outcome::Sent            ? u"sent"_s
                             : report.outcome == Outcome::Duplicate ? u"skipped"_s
                                                                    : u"else: "_s + report.reason);
        }
        return names;
    }
    int mails(const QString &event) const
    {
        int count = 0;
        const QDir folder(m_dir->path() + u"/mailbox/new"_s);
        for (const QString &name : folder.entryList(QDir::Files)) {
            QFile file(folder.filePath(name));
            count += file.open(QIODevice::ReadOnly)
                && QString::fromUtf8(file.readAll()).contains(u"X-Sendonce-Event: %1\r\n"_s.arg(event));
        }
        return count;
    }
    int logged(const QString &text) const
    {
        return int(std::count_if(m_lines.cbegin(), m_lines.cend(),
                                 [&text](const LogLine &line) { return line.text.contains(text); }));
    }
    QStringList complaints() const
    {
        QStringList lines;
        for (const LogLine &line : m_lines) {
            if (line.level == LogLevel::Warning || line.level == LogLevel::Error)
                lines.append(line.text);
        }
        return lines;
    }

private Q_SLOTS:
    void init()
    {
        QTest::failOnWarning(QRegularExpression(u".*"_s));
        m_delivered.clear();
        m_lines.clear();
        m_armed.clear();
        m_lastArmed = 0;
        m_dir = std::make_unique<QTemporaryDir>();
        m_services = std::make_unique<LocalServices>();
        LocalSettings settings;
        settings.dataDir = m_dir->path();
        settings.sqsPort = settings.smtpPort = 0;
        settings.visibilityTimeoutSeconds = int(Visibility.count());
        auto started = startEmbedded(*m_services, settings);
        QVERIFY2(started, started ? "" : qPrintable(started.error().text));
        m_addresses = started.value();
        connect(m_services.get(), &LocalServices::counted, this, [this](int queue, int deadLetters) {
            m_left = {queue, deadLetters};
        });
    }

    void cleanup()
    {
        if (m_worker) {
            QSignalSpy closed(m_worker.get(), &Worker::closed);
            m_worker->close();
            QTRY_COMPARE_WITH_TIMEOUT(closed.size(), 1, 15'000);
        }
        m_worker.reset();
        m_services.reset();
    }

    void duplicateDeliveryIsOneMailAndOneSkip()
    {
        open();
        arm(rule(FaultPoint::QueueReceive, FaultEffect::Duplicate));
        m_worker->start();
        QCOMPARE(send(u"E-1"_s).error, QString());
        waitForTheEnd(2);
        QCOMPARE(send(u"E-2"_s).error, QString());
        waitForTheEnd(3);
        QCOMPARE(outcomes(), (QStringList{u"sent"_s, u"skipped"_s, u"sent"_s}));
        QCOMPARE(m_delivered[1].messageId, m_delivered[0].messageId);
        QCOMPARE(m_delivered[1].receiveCount, 2);
        QCOMPARE(mails(u"E-1"_s), 1);
        QCOMPARE(mails(u"E-2"_s), 1);
        QCOMPARE(complaints(), QStringList());
        QTRY_COMPARE(m_armed, FaultRules());
    }

    /// A worker that knows its pace receives ahead, and so what it has in work already: then there is nothing to skip.
    void duplicateOfWhatIsInWorkIsOneMail()
    {
        open();
        m_worker->start();
        QCOMPARE(send(u"E-1"_s).error, QString());
        waitForTheEnd(1);
        arm(rule(FaultPoint::QueueReceive, FaultEffect::Duplicate));
        FaultRule slow = rule(FaultPoint::MailEnd, FaultEffect::Delay);
        slow.delay = 500ms;
        arm(slow);
        QCOMPARE(send(u"E-2"_s).error, QString());
        waitForTheEnd(2);
        QCOMPARE(outcomes().count(u"sent"_s), 2);
        QCOMPARE(outcomes().count(u"skipped"_s), m_delivered.size() - 2);
        QCOMPARE(mails(u"E-2"_s), 1);
        QCOMPARE(complaints(), QStringList());
        QTRY_COMPARE(m_armed, FaultRules());
    }

    void outOfOrderEveryOneIsMailed()
    {
        open();
        for (const QString &event : {u"E-1"_s, u"E-2"_s, u"E-3"_s})
            QCOMPARE(send(event).error, QString());
        arm(rule(FaultPoint::QueueReceive, FaultEffect::Disorder));
        m_worker->start();
        waitForTheEnd(3);
        QCOMPARE(outcomes(), QStringList(3, u"sent"_s));
        QCOMPARE(m_delivered[0].eventId, u"E-3"_s);
    }

    void anEmptyAnswerIsAskedAgain()
    {
        open();
        QCOMPARE(send(u"E"_s).error, QString());
        arm(rule(FaultPoint::QueueReceive, FaultEffect::Empty, 3));
        m_worker->start();
        waitForTheEnd(1);
        QCOMPARE(outcomes(), QStringList{u"sent"_s});
        QCOMPARE(m_delivered[0].receiveCount, 1);
        QTRY_COMPARE(m_armed, FaultRules());
    }

    void whatCannotBeDeletedIsMailedOnce_data()
    {
        QTest::addColumn<FaultEffect>("effect");
        QTest::addColumn<int>("times");
        QTest::addColumn<bool>("comesAgain");
        QTest::newRow("the entry, once") << FaultEffect::FailEntry << 1 << false;
        QTest::newRow("the entry, at every attempt") << FaultEffect::FailEntry << 3 << true;
        QTest::newRow("the request, twice") << FaultEffect::Fail << 2 << false;
        QTest::newRow("throttled, twice") << FaultEffect::Throttle << 2 << false;
        QTest::newRow("the handle is expired") << FaultEffect::ExpiredHandle << 1 << true;
    }
    void whatCannotBeDeletedIsMailedOnce()
    {
        QFETCH(FaultEffect, effect);
        QFETCH(int, times);
        QFETCH(bool, comesAgain);
        open();
        arm(rule(FaultPoint::QueueDelete, effect, times));
        m_worker->start();
        QCOMPARE(send(u"E"_s).error, QString());
        waitForTheEnd(comesAgain ? 2 : 1);
        QCOMPARE(outcomes(), comesAgain ? QStringList({u"sent"_s, u"skipped"_s}) : QStringList{u"sent"_s});
        QCOMPARE(m_delivered.last().receiveCount, comesAgain ? 2 : 1);
        QCOMPARE(mails(u"E"_s), 1);
        QCOMPARE(complaints().size(), comesAgain ? 1 : 0);
        QCOMPARE(logged(u"is handled but could not be deleted; it will come again and be skipped"_s), comesAgain);
        QTRY_COMPARE(m_armed, FaultRules());
    }

    void theVisibilityRunsOutInMidWork_data()
    {
        QTest::addColumn<bool>("heartbeat");
        QTest::newRow("with heartbeat") << true;
        QTest::newRow("without") << false;
    }
    void theVisibilityRunsOutInMidWork()
    {
        QFETCH(bool, heartbeat);
        open(heartbeat ? QMap<QString, QString>() : QMap<QString, QString>{{u"no-heartbeat"_s, u"true"_s}});
        // The heart beats at half of the visibility timeout, and is heard well before the message comes back.
        FaultRule early = rule(FaultPoint::QueueReceive, FaultEffect::ShortVisibility);
        early.delay = Visibility - 500ms;
        arm(early);
        FaultRule slow = rule(FaultPoint::MailEnd, FaultEffect::Delay);
        slow.delay = Visibility + 300ms;
        arm(slow);
        m_worker->start();
        QCOMPARE(send(u"E"_s).error, QString());
        waitForTheEnd(heartbeat ? 1 : 2);
        QCOMPARE(outcomes(), heartbeat ? QStringList{u"sent"_s} : QStringList({u"sent"_s, u"skipped"_s}));
        QCOMPARE(m_delivered.last().receiveCount, heartbeat ? 1 : 2);
        QCOMPARE(mails(u"E"_s), 1);
        QCOMPARE(complaints(), QStringList());
        QTRY_COMPARE(m_armed, FaultRules());
    }

    void throttledReceivesAreTriedWithGrowingPauses()
    {
        open();
        QCOMPARE(send(u"E"_s).error, QString());
        arm(rule(FaultPoint::QueueReceive, FaultEffect::Throttle, 2));
        QElapsedTimer timer;
        timer.start();
        m_worker->start();
        waitForTheEnd(1);
        QVERIFY2(timer.elapsed() >= 500 + 1000,
                 qPrintable(QString::number(timer.elapsed()))); // at least half of 1 + 2 s
        QCOMPARE(outcomes(), QStringList{u"sent"_s});
        QCOMPARE(m_delivered[0].receiveCount, 1);
        QCOMPARE(mails(u"E"_s), 1);
        QCOMPARE(complaints().size(), 1);
        QCOMPARE(logged(u"Receiving from the queue fails, trying again with growing pauses"_s), 1);
        QCOMPARE(logged(u"Receiving from the queue works again"_s), 1);
        QTRY_COMPARE(m_armed, FaultRules());
    }

    void throttledSendsAreTriedAgain()
    {
        open();
        arm(rule(FaultPoint::QueueSend, FaultEffect::Throttle, 2));
        m_worker->start();
        QCOMPARE(send(u"E"_s).error, QString());
        waitForTheEnd(1);
        QCOMPARE(outcomes(), QStringList{u"sent"_s});
        QCOMPARE(mails(u"E"_s), 1);
        QTRY_COMPARE(m_armed, FaultRules());
    }

    void theEndpointIsDownForTwoSeconds()
    {
        open();
        FaultRule slow = rule(FaultPoint::MailEnd, FaultEffect::Delay);
        slow.delay = 500ms;
        arm(slow);
        const QStringList events{u"E-1"_s, u"E-2"_s, u"E-3"_s};
        for (const QString &event : events)
            QCOMPARE(send(event).error, QString());
        QSignalSpy started(m_worker.get(), &Worker::deliveryStarted);
        m_worker->start();
        QTRY_COMPARE(started.size(), 1);
        // One message is in work, two are waiting; then nothing is answered any more.
        FaultRule down = rule(FaultPoint::QueueRequest, FaultEffect::Close, 0);
        down.lasts = 2s;
        QElapsedTimer timer;
        timer.start();
        arm(down);
        QTRY_VERIFY(logged(u"Receiving from the queue fails"_s) == 1);
        QTRY_COMPARE(m_armed, FaultRules());
        QVERIFY(timer.elapsed() >= 2000);
        waitForTheEnd(3);
        QCOMPARE(logged(u"Receiving from the queue works again"_s), 1);
        QCOMPARE(outcomes().count(u"sent"_s), 3);
        // What was mailed when the queue was away is deleted when it is back, or comes again and is skipped.
        QCOMPARE(outcomes().count(u"skipped"_s), m_delivered.size() - 3);
        for (const QString &event : events)
            QCOMPARE(mails(event), 1);
        const qsizetype before = m_delivered.size();
        QCOMPARE(send(u"E-4"_s).error, QString());
        waitForTheEnd(before + 1);
        QCOMPARE(mails(u"E-4"_s), 1);
    }
};

QTEST_GUILESS_MAIN(QueueFaultsWorker)
#include "tst_queuefaultsworker.moc"
