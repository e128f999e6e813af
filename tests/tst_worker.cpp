#include "app/config/embedded.h"
#include "app/config/settings.h"
#include "tests/world/certificates.h"
#include "tests/world/scriptedsmtp.h"
#include "worker/worker.h"

#include <QtTest>

#include <QTemporaryDir>

using namespace sendonce;
using namespace sendonce::world;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

/// The face of the worker, in the test's own thread, on the true embedded services: what start, stop, close and the
/// operators' acts promise to the window.
class WorkerTest : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<LocalServices> m_services;
    std::unique_ptr<Worker> m_worker;
    LocalAddresses m_addresses;

    void startServices(int visibilityTimeoutSeconds)
    {
        m_services = std::make_unique<LocalServices>();
        m_dir = std::make_unique<QTemporaryDir>();
        LocalSettings settings;
        settings.dataDir = m_dir->path();
        settings.sqsPort = settings.smtpPort = 0;
        settings.visibilityTimeoutSeconds = visibilityTimeoutSeconds;
        auto started = startEmbedded(*m_services, settings);
        QVERIFY2(started, started ? "" : qPrintable(started.error().text));
        m_addresses = started.value();
    }

    /// A worker on fresh services; \param mailUrl another mail server than the embedded one
    void open(const QUrl &mailUrl = {}, const QString &eventTypesDir = {}, QMap<QString, QString> flags = {})
    {
        if (!mailUrl.isEmpty())
            flags.insert(u"mail-url"_s, mailUrl.toString());
        if (!eventTypesDir.isEmpty())
            flags.insert(u"event-types-dir"_s, eventTypesDir);
        auto config = resolve(gather(flags, {}), {}, m_dir->path(), m_addresses);
        QVERIFY2(config, config ? "" : qPrintable(config.error().text));
        m_worker = std::make_unique<Worker>(config.value());
        m_worker->open();
    }

    void openAndWait(const QUrl &mailUrl = {})
    {
        open(mailUrl);
        QSignalSpy opened(m_worker.get(), &Worker::opened);
        QVERIFY(opened.wait());
    }

    static WorkerState last(const QSignalSpy &states)
    {
        return states.isEmpty() ? WorkerState::Stopped : states.last().at(0).value<WorkerState>();
    }

private Q_SLOTS:
    void init() { startServices(1); }

    void cleanup()
    {
        if (m_worker) {
            QSignalSpy closed(m_worker.get(), &Worker::closed);
            m_worker->close();
            QTRY_COMPARE(closed.size(), 1);
        }
        m_worker.reset();
        m_services.reset();
    }

    void oneEventOneMailInOrder()
    {
        openAndWait();
        QSignalSpy delivered(m_worker.get(), &Worker::delivered);
        QSignalSpy deleted(m_worker.get(), &Worker::deleted);
        QSignalSpy sums(m_worker.get(), &Worker::countersChanged);
        m_worker->start();
        m_worker->injectDuplicate({});
        QTRY_COMPARE(delivered.size(), 2);
        const auto first = delivered[0].at(0).value<DeliveryReport>();
        const auto second = delivered[1].at(0).value<DeliveryReport>();
        QCOMPARE(first.outcome, Outcome::Sent);
        QCOMPARE(second.outcome, Outcome::Duplicate);
        QCOMPARE(first.eventId, second.eventId);
        QVERIFY(first.messageId != second.messageId);
        QVERIFY(!second.otherBody);
        qint64 before = -1;
        for (int stage = 0; stage < int(Stage::Deleted); ++stage) {
            QVERIFY(first.stageUsec[size_t(stage)] >= before);
            before = first.stageUsec[size_t(stage)];
        }
        QTRY_COMPARE(
            std::accumulate(deleted.cbegin(), deleted.cend(), qsizetype(0),
                            [](qsizetype sum, const auto &each) { return sum + each.at(0).toStringList().size(); }),
            2);
        QCOMPARE(sums.last().at(0).value<Counters>().sent, 1);
        QCOMPARE(sums.last().at(0).value<Counters>().skipped, 1);
    }

    void theQueueIsEmptyAfterwards()
    {
        openAndWait();
        QSignalSpy depth(m_worker.get(), &Worker::depthSampled);
        m_worker->injectDuplicate({});
        QTRY_VERIFY(!depth.isEmpty() && depth.last().at(0).value<QueueDepth>().visible == 2);
        m_worker->start();
        QTRY_VERIFY(depth.last().at(0).value<QueueDepth>().visible == 0
                    && depth.last().at(0).value<QueueDepth>().inFlight == 0);
    }

    void stopWhenIdleEndsTheLongPoll()
    {
        openAndWait();
        QSignalSpy states(m_worker.get(), &Worker::stateChanged);
        m_worker->start();
        QTRY_COMPARE(last(states), WorkerState::Running);
        m_worker->stop();
        QTRY_COMPARE(last(states), WorkerState::Stopped); // and not after the 20 s of the poll
    }

    void aStopSaysWhatTheQueueWasAsked()
    {
        openAndWait();
        QSignalSpy delivered(m_worker.get(), &Worker::delivered);
        QSignalSpy logged(m_worker.get(), &Worker::logged);
        SendRequest request;
        request.copies = 10;
        for (int i = 0; i < 3; ++i)
            m_worker->send(request);
        m_worker->start();
        QTRY_COMPARE(delivered.size(), 30);
        m_worker->stop();
        const auto lastLine = [&logged] { return logged.isEmpty() ? LogLine() : logged.last().at(0).value<LogLine>(); };
        QTRY_VERIFY2(lastLine().text.startsWith(u"Worker stopped"_s), qPrintable(lastLine().text));
        static const QRegularExpression Requests(
            u"^Worker stopped; requests to the queue: (?:.*, )?DeleteMessageBatch (\\d+), (?:.*, )?ReceiveMessage (\\d+)"_s);
        const auto match = Requests.match(lastLine().text);
        QVERIFY2(match.hasMatch(), qPrintable(lastLine().text));
        QVERIFY(match.captured(1).toInt() >= 3 && match.captured(1).toInt() <= 30); // batches
        QVERIFY(match.captured(2).toInt() >= 3);
    }

    void stopTwiceAndBeforeStartAndRestartAreFine()
    {
        openAndWait();
        QSignalSpy states(m_worker.get(), &Worker::stateChanged);
        QSignalSpy delivered(m_worker.get(), &Worker::delivered);
        m_worker->stop();
        m_worker->start();
        m_worker->stop();
        m_worker->stop();
        m_worker->start(); // while it stops
        QTRY_COMPARE(last(states), WorkerState::Running);
        m_worker->send({});
        QTRY_COMPARE(delivered.size(), 1);
    }

    void aSendBeforeTheDotIsAbandonedByStopAndTheMessageComesBack()
    {
        ScriptedSmtp slow({SmtpScript::hello().expect("MAIL").hold()});
        openAndWait(QUrl(u"smtp://127.0.0.1:%1"_s.arg(slow.port())));
        QSignalSpy states(m_worker.get(), &Worker::stateChanged);
        QSignalSpy delivered(m_worker.get(), &Worker::delivered);
        QSignalSpy depth(m_worker.get(), &Worker::depthSampled);
        m_worker->send({});
        m_worker->start();
        QTRY_VERIFY(!slow.lines().isEmpty() && slow.lines().last().startsWith("MAIL"));
        m_worker->stop();
        QTRY_COMPARE(last(states), WorkerState::Stopped);
        QCOMPARE(delivered.size(), 1);
        QCOMPARE(delivered[0].at(0).value<DeliveryReport>().outcome, Outcome::GivenBack);
        // Another mail server makes this profile one of somebody's: its queue is sampled every 5 s only.
        QTRY_VERIFY_WITH_TIMEOUT(!depth.isEmpty() && depth.last().at(0).value<QueueDepth>().visible == 1, 15'000);
    }

    void aSendBehindTheDotIsSettledBeforeStopEnds()
    {
        // The reply comes only after stop() was called: the worker must wait for it, and count it as sent.
        std::atomic_bool stopped = false;
        SmtpScript script = SmtpScript::hello();
        script.upTo354().readMail();
        ScriptedSmtp server({script.waitFor(stopped).send("250 2.0.0 Ok\r\n").hold()});
        openAndWait(QUrl(u"smtp://127.0.0.1:%1"_s.arg(server.port())));
        QSignalSpy states(m_worker.get(), &Worker::stateChanged);
        QSignalSpy delivered(m_worker.get(), &Worker::delivered);
        m_worker->send({});
        m_worker->start();
        QTRY_COMPARE(server.mails().size(), 1);
        m_worker->stop();
        QTRY_COMPARE(last(states), WorkerState::Stopping);
        stopped = true;
        QTRY_COMPARE(last(states), WorkerState::Stopped);
        QCOMPARE(delivered.size(), 1);
        QCOMPARE(delivered[0].at(0).value<DeliveryReport>().outcome, Outcome::Sent);
    }

    /// TLS blocks its lane's thread: a lane that goes on with the next message has told of the last one before.
    void whatIsMailedIsToldWhileItsLaneWaitsForTheNext()
    {
        // Only what its lanes will start within a quarter of this is received ahead, by the pace of the first delivery.
        startServices(43200);
        Certificates certificates;
        QVERIFY(certificates.make());
        std::atomic_bool secondEnds = false, thirdEnds = false;
        const QByteArray ok = "250 2.0.0 Ok\r\n";
        SmtpScript script;
        script.startTls(certificates.localhost()).send("220 x ESMTP\r\n").expect("EHLO ").send("250 x\r\n");
        script.upTo354().readMail().send(ok);
        script.upTo354().readMail().waitFor(secondEnds).send(ok);
        script.upTo354().readMail().waitFor(thirdEnds).send(ok).hold();
        ScriptedSmtp server({script});
        open(QUrl(u"smtps://127.0.0.1:%1"_s.arg(server.port())), {},
             {{u"mail-ca-file"_s, certificates.authority()}, {u"lanes"_s, u"1"_s}});
        QSignalSpy opened(m_worker.get(), &Worker::opened);
        QVERIFY(opened.wait());
        QSignalSpy delivered(m_worker.get(), &Worker::delivered);
        QSignalSpy inHand(m_worker.get(), &Worker::inHandChanged);
        m_worker->send({});
        m_worker->start();
        QTRY_COMPARE(delivered.size(), 1); // a pace is known: it receives ahead
        m_worker->send({});
        m_worker->send({});
        QTRY_COMPARE(inHand.last().at(0).toInt(), 2);
        secondEnds = true;
        QTRY_COMPARE(server.mails().size(), 3);
        QTRY_COMPARE(delivered.size(), 2);
        thirdEnds = true;
        QTRY_COMPARE(delivered.size(), 3);
        QCOMPARE(server.problem(), QString());
    }

    void aLostReplyIsInDoubtAndSentAgain()
    {
        SmtpScript lost = SmtpScript::hello();
        lost.upTo354().readMail().close();
        SmtpScript good = SmtpScript::hello();
        good.upTo354().readMail().send("250 2.0.0 Ok\r\n").hold();
        ScriptedSmtp server({lost, good});
        openAndWait(QUrl(u"smtp://127.0.0.1:%1"_s.arg(server.port())));
        QSignalSpy delivered(m_worker.get(), &Worker::delivered);
        QSignalSpy lines(m_worker.get(), &Worker::logged);
        m_worker->send({});
        m_worker->start();
        QTRY_COMPARE(delivered.size(), 2);
        const auto first = delivered[0].at(0).value<DeliveryReport>();
        QCOMPARE(first.outcome, Outcome::InDoubt);
        QCOMPARE(delivered[1].at(0).value<DeliveryReport>().outcome, Outcome::Sent);
        QCOMPARE(server.mails().size(), 2);
        QCOMPARE(server.mails()[0], server.mails()[1]); // the same bytes, so that a receiver can tell
        QVERIFY(std::any_of(lines.cbegin(), lines.cend(), [&first](const auto &line) {
            const auto entry = line.at(0).template value<LogLine>();
            return entry.level == LogLevel::Warning
                && entry.text.contains(u"Event %1 may have been mailed"_s.arg(first.eventId));
        }));
    }

    void failNextMailsCountsDownAndDisarms()
    {
        openAndWait();
        QSignalSpy armed(m_worker.get(), &Worker::armedChanged);
        const auto remaining = [&armed] {
            const auto rules = armed.isEmpty() ? FaultRules() : armed.last().at(0).value<FaultRules>();
            return rules.isEmpty() ? 0 : rules[0].remaining();
        };
        m_worker->failNextMails(3, 451);
        QTRY_COMPARE(remaining(), 3);
        m_worker->send({});
        m_worker->start();
        QTRY_COMPARE(remaining(), 2);
        m_worker->disarmAll();
        QTRY_COMPARE(remaining(), 0);
        QSignalSpy delivered(m_worker.get(), &Worker::delivered);
        QTRY_VERIFY(!delivered.isEmpty() && delivered.last().at(0).value<DeliveryReport>().outcome == Outcome::Sent);
    }

    void deadLettersAreBrowsedJudgedAndReplayedUntilTheyAreMailed()
    {
        openAndWait();
        m_worker->failNextMails(3, 451);
        QSignalSpy armed(m_worker.get(), &Worker::armedChanged);
        QTRY_VERIFY(!armed.isEmpty());
        QSignalSpy depth(m_worker.get(), &Worker::depthSampled);
        m_worker->send({});
        m_worker->start();
        QTRY_VERIFY_WITH_TIMEOUT(!depth.isEmpty() && depth.last().at(0).value<QueueDepth>().deadLetters == 1, 20'000);

        QSignalSpy lists(m_worker.get(), &Worker::deadLettersChanged);
        m_worker->browseDeadLetters();
        QTRY_VERIFY_WITH_TIMEOUT(!lists.isEmpty() && lists.last().at(0).value<DeadLetterList>().finished, 20'000);
        const auto list = lists.last().at(0).value<DeadLetterList>();
        QCOMPARE(list.letters.size(), 1);
        QCOMPARE(list.letters[0].verdict, Verdict::NotHandled);
        QVERIFY2(list.letters[0].reason.startsWith(u"451"_s), qPrintable(list.letters[0].reason));

        QSignalSpy items(m_worker.get(), &Worker::replayChanged);
        ReplayOrder order;
        order.messageIds = QStringList{list.letters[0].message.messageId};
        m_worker->replay(order);
        m_worker->replay(order); // a second click does nothing
        const auto seen = [&items] {
            QList<ReplayItem> all;
            for (const auto &each : items)
                all += each.at(0).value<QList<ReplayItem>>();
            return all;
        };
        QTRY_VERIFY(!seen().isEmpty() && seen().last().state == ReplayItem::State::Mailed);
        QList<ReplayItem::State> states;
        for (const ReplayItem &item : seen())
            states.append(item.state);
        QCOMPARE(states, (QList{ReplayItem::State::Sending, ReplayItem::State::Replayed, ReplayItem::State::Mailed}));
        QSignalSpy mails(m_worker.get(), &Worker::mailboxSnapshot);
        m_worker->queryMailbox({}, 10);
        QTRY_COMPARE(mails.size(), 1);
        QCOMPARE(mails[0].at(0).value<MailboxSnapshot>().total, 1);
    }

    void panelsAreAnswered()
    {
        openAndWait();
        QSignalSpy delivered(m_worker.get(), &Worker::delivered);
        m_worker->start();
        m_worker->send({});
        QTRY_COMPARE(delivered.size(), 1);
        const QString eventId = delivered[0].at(0).value<DeliveryReport>().eventId;

        QSignalSpy pages(m_worker.get(), &Worker::processedPage);
        ProcessedQuery query;
        query.ticket = 7;
        m_worker->queryProcessed(query);
        QTRY_COMPARE(pages.size(), 1);
        const auto page = pages[0].at(0).value<ProcessedPage>();
        QCOMPARE(page.query.ticket, 7u);
        QCOMPARE(page.rows.size(), 1);
        QCOMPARE(page.rows[0].eventId, eventId);
        QCOMPARE(page.rows[0].result, u"mailed"_s);
        QCOMPARE(page.rows[0].applicationId, u"3"_s);

        QSignalSpy stories(m_worker.get(), &Worker::story);
        m_worker->queryStory(eventId);
        QTRY_COMPARE(stories.size(), 1);
        QVERIFY(!stories[0].at(0).value<EventStory>().lines.isEmpty());

        QSignalSpy snapshots(m_worker.get(), &Worker::mailboxSnapshot);
        QSignalSpy mails(m_worker.get(), &Worker::mailOpened);
        m_worker->queryMailbox(eventId, 10);
        QTRY_COMPARE(snapshots.size(), 1);
        const auto row = snapshots[0].at(0).value<MailboxSnapshot>().rows.value(0);
        QCOMPARE(row.copies, 1);
        m_worker->openMail(row.id);
        QTRY_COMPARE(mails.size(), 1);
        const auto mail = mails[0].at(0).value<MailDetail>();
        QVERIFY2(mail.text.contains(u"is now: interview"_s), qPrintable(mail.text));
        QVERIFY(mail.html.contains(u"interview"_s));
    }

    void theSameEventWithAnotherBodyIsMarked()
    {
        openAndWait();
        QSignalSpy delivered(m_worker.get(), &Worker::delivered);
        QSignalSpy lines(m_worker.get(), &Worker::logged);
        SendRequest request;
        request.eventId = u"E"_s;
        m_worker->send(request);
        m_worker->start();
        QTRY_COMPARE(delivered.size(), 1);
        request.newStatus = u"offer"_s;
        m_worker->send(request);
        QTRY_COMPARE(delivered.size(), 2);
        const auto report = delivered[1].at(0).value<DeliveryReport>();
        QCOMPARE(report.outcome, Outcome::Duplicate);
        QVERIFY(report.otherBody);
        QVERIFY(std::any_of(lines.cbegin(), lines.cend(), [](const auto &line) {
            return line.at(0).template value<LogLine>().level == LogLevel::Warning;
        }));
    }

    void aMessageThatWasSentWithDelayIsCounted()
    {
        openAndWait();
        QSignalSpy depth(m_worker.get(), &Worker::depthSampled);
        SendRequest later;
        later.delaySeconds = 60;
        m_worker->send(later);
        QTRY_VERIFY(!depth.isEmpty() && depth.last().at(0).value<QueueDepth>().delayed == 1);
    }

    void tooManyCopiesAreRefusedInWords()
    {
        openAndWait();
        QSignalSpy sent(m_worker.get(), &Worker::sendFinished);
        SendRequest request;
        request.copies = 11;
        m_worker->send(request);
        QTRY_COMPARE(sent.size(), 1);
        QVERIFY(sent[0].at(0).value<SendReport>().error.contains(u"1 to 10"_s));
    }

    void aBadEventTypeOfTheUsersStopsTheStartAndNamesFileAndField()
    {
        QTemporaryDir types;
        QVERIFY(QFile::copy(u":/event-types/application.status_changed.json"_s, types.filePath(u"mine.json"_s)));
        QFile file(types.filePath(u"mine.json"_s));
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner);
        QVERIFY(file.open(QIODevice::ReadWrite));
        QByteArray text = file.readAll();
        text.replace("SELECT", "DELETE");
        file.resize(0);
        file.seek(0);
        file.write(text);
        file.close();
        auto config = resolve(gather({{u"event-types-dir"_s, types.path()}}, {}), {}, m_dir->path(), m_addresses);
        m_worker = std::make_unique<Worker>(config.value());
        QSignalSpy failed(m_worker.get(), &Worker::openFailed);
        m_worker->open();
        QTRY_COMPARE(failed.size(), 1);
        const auto error = failed[0].at(0).value<Error>();
        QVERIFY2(error.text.contains(u"mine.json"_s) && error.text.contains(u"lookup"_s), qPrintable(error.text));
    }

    void aQueueThatDoesNotExistIsSaid()
    {
        auto config =
            resolve(gather({{u"queue-url"_s, m_addresses.endpoint().toString() + u"/000000000000/none"_s}}, {}), {},
                    m_dir->path(), m_addresses);
        m_worker = std::make_unique<Worker>(config.value());
        QSignalSpy failed(m_worker.get(), &Worker::openFailed);
        m_worker->open();
        QTRY_COMPARE(failed.size(), 1);
        QVERIFY2(failed[0].at(0).value<Error>().text.contains(u"none"_s),
                 qPrintable(failed[0].at(0).value<Error>().text));
    }

    void anUnreachableQueueIsRetriedWithOneLine()
    {
        auto config = resolve(gather({{u"queue-url"_s, u"http://127.0.0.1:1/000000000000/q"_s}}, {}), {}, m_dir->path(),
                              m_addresses);
        m_worker = std::make_unique<Worker>(config.value());
        QSignalSpy lines(m_worker.get(), &Worker::logged);
        QSignalSpy services(m_worker.get(), &Worker::serviceChanged);
        m_worker->open();
        QTRY_VERIFY(!lines.isEmpty());
        QTRY_VERIFY(std::any_of(services.cbegin(), services.cend(), [](const auto &each) {
            const auto status = each.at(0).template value<ServiceStatus>();
            return status.service == ServiceStatus::Service::Queue && status.health == ServiceStatus::Health::Failing;
        }));
        QCOMPARE(lines.size(), 1);
    }

    void theWorkerRunsInAThreadOfItsOwn()
    {
        auto config = resolve(gather({}, {}), {}, m_dir->path(), m_addresses);
        QThread thread;
        auto *worker = new Worker(config.value());
        worker->moveToThread(&thread);
        connect(&thread, &QThread::finished, worker, &QObject::deleteLater);
        QSignalSpy delivered(worker, &Worker::delivered);
        QSignalSpy closed(worker, &Worker::closed);
        thread.start();
        QMetaObject::invokeMethod(worker, &Worker::open);
        QMetaObject::invokeMethod(worker, &Worker::start);
        QMetaObject::invokeMethod(worker, [worker] { worker->send({}); });
        QTRY_COMPARE(delivered.size(), 1);
        QMetaObject::invokeMethod(worker, &Worker::close);
        QTRY_COMPARE(closed.size(), 1);
        thread.quit();
        QVERIFY(thread.wait(5000));
    }
};

QTEST_GUILESS_MAIN(WorkerTest)
#include "tst_worker.moc"
