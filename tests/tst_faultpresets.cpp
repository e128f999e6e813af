#include "app/config/embedded.h"
#include "app/config/settings.h"
#include "ui/faultpresets.h"
#include "worker/worker.h"

#include <QtTest>

#include <QDir>
#include <QElapsedTimer>
#include <QRegularExpression>
#include <QTemporaryDir>

#include <functional>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto TimeOut = 1s; ///< of the worker that a late answer is to beat

/// What the words of a preset say, for a person who arms it and sends.
struct Promise
{
    int events = 1; ///< sent after it is armed
    QString outcomes; ///< a pattern, of all deliveries in their order
    int mails = 1;
    int deadLetters = 0;
    int crashes = 0;
    QString logged = {}; ///< a line that must be there
    std::function<void(FaultRule &)> quicker = {}; ///< what takes a person's time need not take a test's
};

const QHash<QString, Promise> &promises()
{
    static const QHash<QString, Promise> all = {
        {u"mailRefused"_s, {1, u"failed sent"_s}},
        {u"mailboxFull"_s, {1, u"failed failed failed"_s, 0, 1}},
        {u"mailSlow"_s, {.outcomes = u"sent"_s, .quicker = [](FaultRule &rule) { rule.delay = 300ms; }}},
        {u"mailRateLimit"_s,
         {.events = 2,
          .outcomes = u"sent (failed )+sent"_s,
          .mails = 2,
          .quicker =
              [](FaultRule &rule) {
                  rule.count = 1;
                  rule.window = 900ms;
              }}},
        {u"replyLost"_s, {1, u"in-doubt sent"_s, 2, 0, 0, u"may have been mailed"_s}},
        {u"timeoutAfterDot"_s,
         {.outcomes = u"in-doubt sent"_s,
          .mails = 2,
          .logged = u"may have been mailed"_s,
          .quicker = [](FaultRule &rule) { rule.delay = TimeOut + 200ms; }}},
        // What is in hand when it comes again is not taken twice; what is handled is skipped.
        {u"duplicate"_s, {1, u"sent( skipped)?"_s}},
        {u"queueDown"_s, {.outcomes = u"sent"_s, .quicker = [](FaultRule &rule) { rule.lasts = 600ms; }}},
        {u"deleteFails"_s, {1, u"sent skipped"_s}},
        {u"databaseLocked"_s, {1, u"given-back sent"_s}},
        {u"commitFails"_s, {1, u"sent"_s}},
        {u"crashBeforeDot"_s, {1, u"sent"_s, 1, 0, 1}},
        {u"crashBeforeCommit"_s, {1, u"sent"_s, 2, 0, 1, u"possibly mailed twice"_s}},
        {u"crashBeforeDelete"_s, {1, u"skipped"_s, 1, 0, 1}},
    };
    return all;
}

QString nameOf(Outcome outcome)
{
    switch (outcome) {
    case Outcome::Sent:
        return u"sent"_s;
    case Outcome::Duplicate:
        return u"skipped"_s;
    case Outcome::Gone:
        return u"gone"_s;
    case Outcome::Failed:
        return u"failed"_s;
    case Outcome::InDoubt:
        return u"in-doubt"_s;
    case Outcome::GivenBack:
        return u"given-back"_s;
    }
    return {};
}

} // namespace

/// Each preset of the panel Faults is armed on a true worker with true embedded services, as the console has them, and
/// shows what its words say.
class FaultPresetsTest : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<LocalServices> m_services;
    std::unique_ptr<Worker> m_worker;
    QList<DeliveryReport> m_delivered;
    QStringList m_lines;
    FaultRules m_armed;
    int m_struck = 0;
    int m_crashes = 0;
    int m_inHand = 0;
    std::pair<int, int> m_left; ///< messages in the queue and in its dead letter queue

    bool trySend(const QString &event)
    {
        SendRequest request;
        request.eventId = event;
        QSignalSpy sent(m_worker.get(), &Worker::sendFinished);
        m_worker->send(request);
        return sent.wait(20'000) && sent[0].at(0).value<SendReport>().error.isEmpty();
    }
    /// As a person does while the queue is down: once more.
    void send(const QString &event)
    {
        bool isSent = false;
        for (int attempt = 0; attempt < 20 && !isSent; ++attempt)
            isSent = trySend(event);
        QVERIFY(isSent);
    }
    QString outcomes() const
    {
        QStringList names;
        for (const DeliveryReport &report : m_delivered)
            names.append(nameOf(report.outcome));
        return names.join(u' ');
    }
    bool isOver(const QString &pattern, int deadLetters)
    {
        m_services->count();
        return m_inHand == 0 && m_left == std::pair(0, deadLetters)
            && QRegularExpression(QRegularExpression::anchoredPattern(pattern)).match(outcomes()).hasMatch();
    }
    qsizetype mails() const { return QDir(m_dir->path() + u"/mailbox/new"_s).entryList(QDir::Files).size(); }

private Q_SLOTS:
    void initTestCase()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_services = std::make_unique<LocalServices>();
        LocalSettings settings;
        settings.dataDir = m_dir->path();
        settings.sqsPort = settings.smtpPort = 0;
        settings.visibilityTimeoutSeconds = 1;
        auto started = startEmbedded(*m_services, settings);
        QVERIFY2(started, started ? "" : qPrintable(started.error().text));
        connect(m_services.get(), &LocalServices::counted, this, [this](int queue, int deadLetters) {
            m_left = {queue, deadLetters};
        });
        auto config = resolve({}, {}, m_dir->path(), started.value());
        QVERIFY2(config, config ? "" : qPrintable(config.error().text));
        config->crashEndsLane = true; // as the console has it
        config->mailFinalTimeout = TimeOut;
        m_worker = std::make_unique<Worker>(config.take());
        connect(m_worker.get(), &Worker::delivered, this,
                [this](const DeliveryReport &report) { m_delivered.append(report); });
        connect(m_worker.get(), &Worker::logged, this, [this](const LogLine &line) { m_lines.append(line.text); });
        connect(m_worker.get(), &Worker::crashed, this, [this] { ++m_crashes; });
        connect(m_worker.get(), &Worker::inHandChanged, this, [this](int messages) { m_inHand = messages; });
        connect(m_worker.get(), &Worker::armedChanged, this, [this](const FaultRules &rules) {
            m_armed = rules;
            for (const FaultRule &each : rules)
                m_struck = std::max(m_struck, each.struck);
        });
        QSignalSpy opened(m_worker.get(), &Worker::opened);
        m_worker->open();
        QTRY_COMPARE(opened.size(), 1);
        // A worker that has worked: it knows its pace, and receives ahead.
        m_worker->start();
        send(u"warm-up"_s);
        QTRY_VERIFY2(isOver(u"sent"_s, 0), qPrintable(outcomes()));
    }

    void init()
    {
        m_delivered.clear();
        m_lines.clear();
        m_struck = m_crashes = 0;
    }

    /// One after the other, as a person tries them.
    void cleanup()
    {
        m_worker->disarmAll();
        QTRY_VERIFY(m_armed.isEmpty() && m_inHand == 0);
    }

    void cleanupTestCase()
    {
        QSignalSpy closed(m_worker.get(), &Worker::closed);
        m_worker->close();
        QTRY_COMPARE_WITH_TIMEOUT(closed.size(), 1, 15'000);
        m_worker.reset();
        m_services.reset();
    }

    void eachShowsWhatItsWordsSay_data()
    {
        QTest::addColumn<FaultRule>("rule");
        for (const FaultPreset &preset : faultPresets())
            QTest::newRow(qPrintable(preset.name)) << preset.rule;
    }
    void eachShowsWhatItsWordsSay()
    {
        QFETCH(FaultRule, rule);
        const QString name = QString::fromLatin1(QTest::currentDataTag());
        QVERIFY2(promises().contains(name), "a new preset: say above what its words promise");
        const Promise promise = promises()[name];
        const int times = rule.times;
        if (promise.quicker)
            promise.quicker(rule);
        const qsizetype mailsBefore = mails();
        const int deadBefore = m_left.second;

        QElapsedTimer timer;
        timer.start();
        m_worker->arm(rule);
        QTRY_COMPARE(m_armed.size(), 1);
        for (int i = 1; i <= promise.events; ++i)
            send(u"%1-%2"_s.arg(name).arg(i));
        m_left = {-1, -1}; // as it was before these
        QTRY_VERIFY2_WITH_TIMEOUT(isOver(promise.outcomes, deadBefore + promise.deadLetters),
                                  qPrintable(outcomes() + u'\n' + m_lines.join(u'\n')), 10'000);
        QCOMPARE(mails() - mailsBefore, promise.mails);
        QTRY_COMPARE(m_crashes, promise.crashes);
        if (times > 0) // used up: it struck so often
            QTRY_VERIFY(m_armed.isEmpty());
        else
            QTRY_VERIFY(m_struck > 0);
        if (rule.what == FaultEffect::Delay)
            QVERIFY(timer.elapsed() >= std::min<std::chrono::milliseconds>(rule.delay, TimeOut).count());
        if (!promise.logged.isEmpty()) {
            QTRY_VERIFY2(!m_lines.filter(promise.logged).isEmpty(), qPrintable(m_lines.join(u'\n')));
        }
    }

    /// The words name figures; shortened above.
    void figuresAreThoseOfTheRules()
    {
        for (const FaultPreset &preset : faultPresets()) {
            if (preset.name == "timeoutAfterDot"_L1)
                QVERIFY(preset.rule.delay > Config().mailFinalTimeout);
            if (preset.name == "mailboxFull"_L1)
                QCOMPARE(preset.rule.times, LocalSettings().maxReceiveCount);
        }
    }
};

QTEST_GUILESS_MAIN(FaultPresetsTest)
#include "tst_faultpresets.moc"
