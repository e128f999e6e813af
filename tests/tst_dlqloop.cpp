#include "app/config/embedded.h"
#include "tests/world/httpprobe.h"
#include "tests/world/postgres.h"
#include "worker/events/event.h"
#include "worker/operate/deadletters.h"
#include "worker/operate/letteracts.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

/// Dead letters on the true embedded endpoint: what was dead arrives in the source queue as it was, once, and nothing
/// that came later is touched. With SENDONCE_TEST_ON_POSTGRES claims and journal are PostgreSQL's.
class DeadLettersTest : public QObject
{
    Q_OBJECT

    using State = ReplayItem::State;

    const bool m_onPostgres = qEnvironmentVariableIsSet("SENDONCE_TEST_ON_POSTGRES");
    world::Postgres m_postgres;
    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<LocalServices> m_services;
    LocalAddresses m_addresses;
    Config m_config;
    EventTypes m_types;
    std::unique_ptr<SqsClient> m_client;
    std::unique_ptr<Database> m_database;
    std::unique_ptr<Journal> m_journal;
    std::unique_ptr<DeadLetters> m_letters;
    std::unique_ptr<LetterActs> m_acts;
    DeadLetterList m_list; ///< of the last browse
    QHash<QString, ReplayItem> m_items; ///< the last news of each
    ReplayProgress m_progress;
    QList<ActReport> m_reports;
    QStringList m_failures;
    QHash<QString, DeadLetter> m_updated;

    template <typename T, typename Call>
    T wait(Call call)
    {
        std::optional<Result<T>> answer;
        call([&](Result<T> result) { answer = std::move(result); });
        if (!HttpProbe::waitFor([&] { return answer.has_value(); }, 10'000) || !answer->ok()) {
            QTest::qFail(answer ? qPrintable(answer->error().text) : "no answer", __FILE__, __LINE__);
            return T{};
        }
        return answer->take();
    }

    QString send(const QUrl &queue, const QByteArray &body, const MessageAttributes &attributes = {})
    {
        const auto sent = wait<QList<BatchEntryResult>>([&](auto done) {
            m_client->sendBatch(queue, {{u"a"_s, body, attributes, {}, -1}}, this, done);
        });
        return sent.isEmpty() || !sent.first().ok ? QString() : sent.first().messageId;
    }
    QString sendDead(const QByteArray &body, const MessageAttributes &attributes = {})
    {
        return send(m_addresses.dlqUrl(), body, attributes);
    }
    static QByteArray body(const QString &eventId) { return composeStatusChanged(eventId, 3, u"a"_s, u"b"_s); }
    /// As another worker, on either database.
    bool claim(const QString &eventId, std::chrono::microseconds ago = 0us)
    {
        const QString at = djangoTime(nowUsecs() - ago.count()) + (m_onPostgres ? u"+00"_s : QString());
        const auto claimed =
            m_database->rows(u"INSERT INTO jobs_processedevent (event_id, event_type, processed_at) VALUES (?, ?, ?)"_s,
                             {eventId, u"t"_s, at}, u"test"_s);
        return claimed.ok();
    }
    QStringList sendDead(int count, const QString &prefix = u"E"_s)
    {
        QStringList ids;
        for (int i = 0; i < count; ++i)
            ids.append(sendDead(body(prefix + QString::number(i))));
        return ids;
    }
    /// Everything that is visible there, taken out.
    QList<Message> take(const QUrl &queue)
    {
        QList<Message> all;
        for (;;) {
            const auto messages = wait<QList<Message>>([&](auto done) {
                m_client->receive({queue, 10, 0s, 30s}, this, done);
            });
            if (messages.isEmpty())
                return all;
            QList<DeleteEntry> entries;
            for (const Message &message : messages)
                entries.append({QString::number(entries.size()), message.receiptHandle});
            wait<QList<BatchEntryResult>>([&](auto done) { m_client->deleteBatch(queue, entries, this, done); });
            all += messages;
        }
    }
    qint64 visible(const QUrl &queue)
    {
        return wait<QMap<QString, QString>>([&](auto done) {
                   m_client->getQueueAttributes(queue, {u"ApproximateNumberOfMessages"_s}, this, done);
               })
            .value(u"ApproximateNumberOfMessages"_s)
            .toLongLong();
    }

    void open()
    {
        m_acts.reset();
        m_letters = std::make_unique<DeadLetters>(*m_client, *m_database, *m_journal, &m_types, m_config);
        m_letters->setQueues(m_addresses.queueUrl(), m_addresses.dlqUrl(), 3);
        connect(m_letters.get(), &DeadLetters::listChanged, this,
                [this](const DeadLetterList &list) { m_list = list; });
        connect(m_letters.get(), &DeadLetters::itemsChanged, this, [this](const QList<ReplayItem> &items) {
            for (const ReplayItem &item : items)
                m_items.insert(item.messageId, item);
        });
        connect(m_letters.get(), &DeadLetters::progressChanged, this,
                [this](const ReplayProgress &progress) { m_progress = progress; });
        connect(m_letters.get(), &DeadLetters::updated, this, [this](const QList<DeadLetter> &letters) {
            for (const DeadLetter &letter : letters)
                m_updated.insert(letter.message.messageId, letter);
        });
        connect(m_letters.get(), &DeadLetters::failed, this,
                [this](const QString &act, const QString &text) { m_failures.append(act + u": "_s + text); });
        m_acts = std::make_unique<LetterActs>(*m_client, *m_database, *m_journal, *m_letters, m_config);
        connect(m_acts.get(), &LetterActs::done, this, [this](const ActReport &report) { m_reports.append(report); });
        connect(m_acts.get(), &LetterActs::lettersChanged, m_letters.get(), &DeadLetters::refresh);
    }
    void browse(bool yes = false)
    {
        m_list = {};
        m_letters->browse(yes);
        QTRY_VERIFY_WITH_TIMEOUT(m_list.finished, 20'000);
    }
    DeadLetterMatches find(const QString &text, quint64 ticket)
    {
        QSignalSpy found(m_letters.get(), &DeadLetters::found);
        m_letters->find(text, ticket);
        return found.isEmpty() && !found.wait() ? DeadLetterMatches() : found.last().first().value<DeadLetterMatches>();
    }
    void replay(const QStringList &messageIds)
    {
        m_progress = {};
        ReplayOrder order;
        order.messageIds = messageIds;
        m_letters->replay(order);
        QTRY_VERIFY_WITH_TIMEOUT(m_progress.isOver(), 20'000);
    }

private Q_SLOTS:
    void initTestCase()
    {
        auto types = EventTypes::load({});
        QVERIFY(types);
        m_types = types.take();
        QVERIFY2(!m_onPostgres || m_postgres.start(), qPrintable(m_postgres.why()));
    }

    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_services = std::make_unique<LocalServices>();
        LocalSettings settings;
        settings.dataDir = m_dir->path();
        settings.sqsPort = settings.smtpPort = 0;
        auto started = startEmbedded(*m_services, settings);
        QVERIFY2(started, started ? "" : qPrintable(started.error().text));
        m_addresses = started.value();
        m_config = {};
        m_config.dataDir = m_dir->path();
        m_config.embedded = true;
        m_client = std::make_unique<SqsClient>(
            SqsSettings{m_addresses.endpoint(), u"us-east-1"_s, {u"test"_s, u"test"_s, {}}});
        m_config.databaseUrl =
            m_onPostgres ? m_postgres.url(m_postgres.createJobBoard()) : embeddedDatabaseUrl(m_dir->path());
        auto database = Database::open(m_config.databaseUrl);
        QVERIFY2(database, database ? "" : qPrintable(database.error().text));
        m_database = std::make_unique<Database>(database.take());
        QVERIFY(!m_onPostgres || m_database->migrate(u"postgres"_s));
        auto journal = Journal::open(m_dir->path(), m_config.databaseUrl);
        QVERIFY2(journal, journal ? "" : qPrintable(journal.error().text));
        m_journal = std::make_unique<Journal>(journal.take());
        m_list = {};
        m_progress = {};
        m_items.clear();
        m_reports.clear();
        m_failures.clear();
        m_updated.clear();
        open();
    }

    void cleanup()
    {
        m_acts.reset();
        m_letters.reset();
        m_client.reset();
        m_journal.reset();
        m_database.reset();
        m_services.reset();
    }

    void traceHeaderAndGroupArriveToo()
    {
        SendEntry entry{u"a"_s, body(u"E"_s), {}, u"Root=1-5759e988-bd862e3fe1be46a994272793"_s, -1, u"tenant-7"_s};
        const auto sent = wait<QList<BatchEntryResult>>(
            [&](auto done) { m_client->sendBatch(m_addresses.dlqUrl(), {entry}, this, done); });
        QVERIFY(sent.first().ok);
        browse();
        replay({sent.first().messageId});
        const QList<Message> arrived = take(m_addresses.queueUrl());
        QCOMPARE(arrived.size(), 1);
        QCOMPARE(arrived[0].systemAttributes.value(u"AWSTraceHeader"_s), entry.traceHeader);
        QCOMPARE(arrived[0].systemAttributes.value(u"MessageGroupId"_s), entry.groupId);
    }

    void whatWasDeadArrivesByteForByte_data()
    {
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<MessageAttributes>("attributes");
        MessageAttributes ten;
        ten.insert(u"text"_s, {u"String"_s, u"h\u00e9llo \u6f22 \U0001F600"_s, {}});
        ten.insert(u"mark"_s, {u"String"_s, u"\uFEFFx"_s, {}});
        ten.insert(u"number"_s, {u"Number"_s, u"12345678901234567890123456789012345678"_s, {}});
        ten.insert(u"number.label"_s, {u"Number.int"_s, u"-1"_s, {}});
        ten.insert(u"blob"_s, {u"Binary"_s, {}, QByteArray("\0\xff\x80\n", 4)});
        ten.insert(u"blob.label"_s, {u"Binary.png"_s, {}, QByteArray(1000, '\0')});
        for (int i = 0; i < 4; ++i)
            ten.insert(u"more-%1"_s.arg(i), {u"String.my_own-label"_s, u"a\r\nb\tc"_s, {}});
        QTest::newRow("event without attributes") << body(u"E"_s) << MessageAttributes();
        QTest::newRow("ten attributes of all types") << body(u"E"_s) << ten;
        QTest::newRow("Unicode and line ends") << u"h\u00e9llo \u6f22 \U0001F600\r\n\t\"\\"_s.toUtf8() << ten;
        QTest::newRow("U+FEFF at the start") << u"\uFEFF{}\uFEFF"_s.toUtf8() << MessageAttributes();
        QTest::newRow("spaces, other key order") << "  { \"b\" : 1.0 , \"a\" : 1e0 } "_ba << MessageAttributes();
        QTest::newRow("1 MiB") << QByteArray(1'048'576, 'x') << MessageAttributes();
    }

    void whatWasDeadArrivesByteForByte()
    {
        QFETCH(QByteArray, body);
        QFETCH(MessageAttributes, attributes);
        const QString messageId = sendDead(body, attributes);
        QVERIFY(!messageId.isEmpty());
        browse();
        QCOMPARE(m_list.letters.size(), 1);
        QVERIFY(m_list.letters[0].message.body.isEmpty()); // on disk
        const DeadLetterDetail detail = m_letters->open(messageId);
        QCOMPARE(detail.letter.message.body, body);
        QCOMPARE(detail.letter.message.attributes, attributes);
        replay({messageId});
        const auto arrived = take(m_addresses.queueUrl());
        QCOMPARE(arrived.size(), 1);
        QCOMPARE(arrived[0].body, body);
        QCOMPARE(arrived[0].attributes, attributes);
        QVERIFY(arrived[0].messageId != messageId);
        QCOMPARE(m_items.value(messageId).state, State::Replayed);
        QVERIFY(take(m_addresses.dlqUrl()).isEmpty());
    }

    void theWholeQueueIsSeenOnceAndVisibleAfterwards()
    {
        QStringList ids = sendDead(57);
        QList<qint64> seen;
        qsizetype parts = 0;
        connect(m_letters.get(), &DeadLetters::listChanged, this, [&](const DeadLetterList &list) {
            seen.append(list.seen);
            if (!list.finished)
                parts += list.letters.size();
        });
        browse();
        QCOMPARE(m_list.seen, 57);
        QCOMPARE(m_list.about, 57);
        QVERIFY(m_list.error.isEmpty() && m_list.notice.isEmpty());
        QCOMPARE(parts, 57); // each once
        QVERIFY(std::is_sorted(seen.cbegin(), seen.cend()));
        QStringList found = m_letters->messageIds();
        found.sort();
        ids.sort();
        QCOMPARE(found, ids);
        QCOMPARE(visible(m_addresses.dlqUrl()), 57);
        for (const DeadLetter &letter : m_list.letters) {
            QVERIFY(letter.expiresAt > letter.sentAt);
            QVERIFY(letter.message.receiptHandle.isEmpty());
        }
        QVERIFY(QDir(m_dir->path()).entryList({u"dead-letters*"_s}).isEmpty()); // nothing is left by a killed process
    }

    void aCancelledBrowseKeepsWhatItSaw()
    {
        sendDead(40);
        m_list = {};
        m_letters->browse(false);
        m_letters->cancelBrowse();
        QTRY_VERIFY(m_list.finished);
        QVERIFY(m_list.cancelled);
        QTRY_COMPARE(visible(m_addresses.dlqUrl()), 40);
    }

    void bodiesAreSearched()
    {
        const QString messageId = sendDead("{\"long\":\"" + QByteArray(500, 'x') + "needle\"}");
        sendDead(3);
        browse();
        QCOMPARE(find(u"NEEDLE"_s, 7).messageIds, QStringList{messageId});
        QCOMPARE(find(u"\"e1\""_s, 8).messageIds.size(), 1); // quoted: no message id holds that
        QCOMPARE(find(u"nowhere"_s, 9).ticket, 9U);
    }

    void whatDiesDuringAReplayIsNotTouched()
    {
        const QStringList ids = sendDead(30);
        browse();
        const QString later = sendDead(body(u"later"_s));
        replay(ids);
        QCOMPARE(m_progress.total, 30);
        QCOMPARE(m_progress.done, 30);
        QCOMPARE(take(m_addresses.queueUrl()).size(), 30);
        const auto left = take(m_addresses.dlqUrl());
        QCOMPARE(left.size(), 1);
        QCOMPARE(left[0].messageId, later);
    }

    void handlesThatAreStaleAreLookedForAgain()
    {
        const QStringList ids = sendDead(12);
        browse();
        // Somebody else receives them all, and makes them visible again.
        int received = 0;
        for (int pass = 0; pass < 10 && received < 12; ++pass)
            received += int(wait<QList<Message>>([&](auto done) {
                                m_client->receive({m_addresses.dlqUrl(), 10, 0s, 1s}, this, done);
                            }).size());
        QCOMPARE(received, 12);
        replay(ids);
        QCOMPARE(m_progress.done, 12);
        QCOMPARE(take(m_addresses.queueUrl()).size(), 12);
        QVERIFY(take(m_addresses.dlqUrl()).isEmpty());
    }

    void whatSomebodyDeletedMeanwhileFailsAndNothingIsSent()
    {
        const QStringList ids = sendDead(3);
        browse();
        QCOMPARE(take(m_addresses.dlqUrl()).size(), 3);
        replay({ids[0]});
        QCOMPARE(m_items.value(ids[0]).state, State::Failed);
        QVERIFY(m_items.value(ids[0]).text.contains(u"nothing was sent"_s));
        QVERIFY(take(m_addresses.queueUrl()).isEmpty());
    }

    void withoutASourceQueueItHaltsAndTheLettersStay()
    {
        const QStringList ids = sendDead(25);
        browse();
        QUrl gone = m_addresses.queueUrl();
        gone.setPath(u"/000000000000/was-deleted"_s);
        m_letters->setQueues(gone, m_addresses.dlqUrl(), 3);
        ReplayOrder order;
        order.messageIds = ids;
        m_letters->replay(order);
        QTRY_COMPARE(m_progress.state, ReplayProgress::State::Halted);
        QVERIFY(m_progress.text.contains(u"source queue"_s));
        QTRY_COMPARE(visible(m_addresses.dlqUrl()), 25);
        m_letters->cancelRun(m_progress.run);
        QTRY_COMPARE(m_progress.state, ReplayProgress::State::Cancelled);
        QCOMPARE(m_progress.left, 25);
        QTRY_COMPARE(m_items.value(ids[24]).state, State::Left);
        m_letters->setQueues(m_addresses.queueUrl(), m_addresses.dlqUrl(), 3);
        replay(ids); // free again
        QCOMPARE(m_progress.done, 25);
    }

    void aSecondClickDoesNothing()
    {
        const QStringList ids = sendDead(5);
        browse();
        ReplayOrder order;
        order.messageIds = ids + ids;
        m_letters->replay(order);
        m_letters->replay(order);
        m_letters->remove(ids);
        QTRY_VERIFY(m_progress.isOver());
        QCOMPARE(take(m_addresses.queueUrl()).size(), 5);
        QCOMPARE(m_letters->runs().size(), 1);
    }

    void outcomesAreSeenInTheJournalAndTheVerdictFollows()
    {
        const QStringList ids = sendDead(4);
        browse();
        QCOMPARE(m_list.letters[0].verdict, Verdict::NotHandled);
        replay(ids);
        const auto arrived = take(m_addresses.queueUrl());
        QCOMPARE(arrived.size(), 4);
        const Outcome outcomes[] = {Outcome::Sent, Outcome::Duplicate, Outcome::Failed, Outcome::GivenBack};
        for (int i = 0; i < 4; ++i) {
            const auto message = std::find_if(arrived.cbegin(), arrived.cend(), [i](const Message &each) {
                return each.body.contains("\"E" + QByteArray::number(i) + "\"");
            });
            DeliveryReport report;
            report.messageId = message->messageId;
            report.eventId = u"E%1"_s.arg(i);
            report.outcome = outcomes[i];
            report.receiveCount = 3;
            report.reason = u"550 no"_s;
            QVERIFY(m_journal->record(report));
            if (i == 0)
                QVERIFY(claim(u"E0"_s));
        }
        QTRY_COMPARE(m_items.value(ids[0]).state, State::Mailed);
        QTRY_COMPARE(m_items.value(ids[1]).state, State::Skipped);
        QTRY_COMPARE(m_items.value(ids[2]).state, State::DeadAgain);
        QCOMPARE(m_items.value(ids[3]).state, State::Replayed);
        QTRY_COMPARE(m_updated.value(ids[0]).verdict, Verdict::Handled);
        const ReplayProgress told = m_letters->runs().first();
        QCOMPARE(told.mailed, 1);
        QCOMPARE(told.skipped, 1);
        QCOMPARE(told.deadAgain, 1);
        QCOMPARE(told.waiting, 1);
    }

    void aClaimThatAnotherWorkerMadeIsAnOutcome()
    {
        const QStringList ids = sendDead(1);
        browse();
        replay(ids);
        QVERIFY(claim(u"E0"_s));
        QTRY_COMPARE_WITH_TIMEOUT(m_items.value(ids[0]).state, State::Mailed, 15'000);
        QVERIFY(m_items.value(ids[0]).text.contains(u"another worker"_s));
    }

    void aCopyThatWasLeftIsMarked()
    {
        const QStringList ids = sendDead(2);
        ReplayLog log(m_journal->database());
        ReplayLog::Run run;
        run.run = 1;
        ReplayLog::Row row;
        row.messageId = ids[0];
        row.eventId = u"E0"_s;
        row.state = State::CopyLeft;
        row.replayedAs = u"new"_s;
        QVERIFY(log.begin(run, {row}));
        browse();
        for (const DeadLetter &letter : m_list.letters) {
            const bool isCopy = letter.message.messageId == ids[0];
            QCOMPARE(letter.replayedAs, isCopy ? u"new"_s : QString());
            QCOMPARE(letter.verdictText.startsWith(u"replayed, copy left"_s), isCopy);
            QCOMPARE(letter.timesBack, isCopy ? 1 : 0);
        }
    }

    void aReplayOfADeadProcessIsGoneOnWith()
    {
        const QStringList ids = sendDead(20);
        browse();
        ReplayOrder order;
        order.messageIds = ids;
        order.perSecond = 20; // it cannot be through when it ends
        m_letters->replay(order);
        QTRY_VERIFY(m_progress.done >= 1);
        m_acts.reset();
        m_letters.reset(); // with its requests
        ReplayLog log(m_journal->database());
        ReplayLog::Run dead = log.runs(1)->first();
        QVERIFY(log.rows(dead.run)->size() == 20);
        QVERIFY(log.setState(dead.run, ReplayProgress::State::Interrupted, {})); // what its silence would say
        m_items.clear();
        m_progress = {};
        open();
        QCOMPARE(m_letters->runs().first().state, ReplayProgress::State::Interrupted);
        m_letters->resumeRun(0);
        QTRY_VERIFY_WITH_TIMEOUT(m_progress.state == ReplayProgress::State::Finished, 20'000);
        QCOMPARE(m_progress.done, 20);
        QSet<QByteArray> bodies;
        const auto arrived = take(m_addresses.queueUrl());
        for (const Message &message : arrived)
            bodies.insert(message.body);
        QCOMPARE(bodies.size(), 20); // none is lost; one that was sent twice is one event
        QVERIFY2(arrived.size() <= 30, qPrintable(QString::number(arrived.size())));
        QVERIFY(take(m_addresses.dlqUrl()).isEmpty());
    }

    void twoReplaysOfOneSetAtOnceLoseNothing()
    {
        const QStringList ids = sendDead(60);
        browse();
        DeadLetters other(*m_client, *m_database, *m_journal, &m_types, m_config);
        other.setQueues(m_addresses.queueUrl(), m_addresses.dlqUrl(), 3);
        DeadLetterList otherList;
        ReplayProgress otherProgress;
        connect(&other, &DeadLetters::listChanged, this, [&](const DeadLetterList &list) { otherList = list; });
        connect(&other, &DeadLetters::progressChanged, this,
                [&](const ReplayProgress &progress) { otherProgress = progress; });
        other.browse(false);
        QTRY_VERIFY_WITH_TIMEOUT(otherList.finished, 20'000);
        ReplayOrder order;
        order.messageIds = ids;
        other.replay(order);
        m_letters->replay(order); // its handles are all stale
        QTRY_VERIFY_WITH_TIMEOUT(m_progress.isOver() && otherProgress.isOver(), 60'000);
        QCOMPARE(m_progress.failed, 0);
        QCOMPARE(otherProgress.failed, 0);
        QSet<QByteArray> bodies;
        for (const Message &message : take(m_addresses.queueUrl()))
            bodies.insert(message.body);
        QCOMPARE(bodies.size(), 60);
        QVERIFY(take(m_addresses.dlqUrl()).isEmpty());
    }

    void whatIsDeletedCanBePutBack()
    {
        MessageAttributes attributes;
        attributes.insert(u"blob"_s, {u"Binary"_s, {}, QByteArray("\0\xff", 2)});
        const QString messageId = sendDead(body(u"E"_s), attributes);
        browse();
        m_letters->remove({messageId});
        QTRY_COMPARE(m_items.value(messageId).state, State::Deleted);
        QVERIFY(take(m_addresses.queueUrl()).isEmpty());
        QVERIFY(take(m_addresses.dlqUrl()).isEmpty());
        const auto kept = m_letters->kept().newest(10);
        QVERIFY(kept);
        QCOMPARE(kept->size(), 1);
        QCOMPARE(kept->first().messageId, messageId);
        m_acts->putBack({kept->first().id});
        QTRY_COMPARE(m_reports.size(), 1);
        QCOMPARE(m_reports[0].done, 1);
        const auto back = take(m_addresses.dlqUrl());
        QCOMPARE(back.size(), 1);
        QCOMPARE(back[0].body, body(u"E"_s));
        QCOMPARE(back[0].attributes, attributes);
        m_acts->putBack({kept->first().id});
        QTRY_COMPARE(m_reports.size(), 2);
        QCOMPARE(m_reports[1].failed, 1); // once
    }

    void anExportIsImportedAgain()
    {
        sendDead(15);
        browse();
        const QString path = m_dir->filePath(u"letters.jsonl"_s);
        m_acts->exportLetters({}, path, false);
        QCOMPARE(m_reports.size(), 1);
        QCOMPARE(m_reports[0].done, 15);
        const auto before = take(m_addresses.dlqUrl());
        m_acts->importLetters(path, false);
        QTRY_COMPARE(m_reports.size(), 2);
        QCOMPARE(m_reports[1].done, 15);
        const auto after = take(m_addresses.dlqUrl());
        QSet<QByteArray> one, other;
        for (const Message &message : before)
            one.insert(message.body);
        for (const Message &message : after)
            other.insert(message.body);
        QCOMPARE(other, one);
        QVERIFY(QFile::link(path, m_dir->filePath(u"link"_s)));
        m_acts->exportLetters({}, m_dir->filePath(u"link"_s), true);
        QCOMPARE(m_reports.last().failed, 1);
        QVERIFY(m_reports.last().text.contains(u"link"_s));
    }

    void anEditedLetterGoesAsItWasEdited()
    {
        const QString messageId = sendDead("{\"type\":\"application.status_changed\",\"event_id\":\"E\"}");
        browse();
        QCOMPARE(m_list.letters[0].verdict, Verdict::Invalid);
        m_letters->editAndReplay({messageId, "{}", false});
        QVERIFY(m_failures.last().startsWith(u"edit: "_s));
        m_letters->editAndReplay({messageId, body(u"other"_s), false});
        QVERIFY(m_failures.last().contains(u"new event"_s));
        m_letters->editAndReplay({messageId, body(u"E"_s), true});
        QVERIFY(m_failures.last().contains(u"event_id of its own"_s));
        m_letters->editAndReplay({messageId, body(u"E"_s), false});
        QTRY_COMPARE(m_items.value(messageId).state, State::Replayed);
        const auto arrived = take(m_addresses.queueUrl());
        QCOMPARE(arrived.size(), 1);
        QCOMPARE(arrived[0].body, body(u"E"_s));
        QCOMPARE(m_letters->kept().newest(1)->size(), 1); // what was dead is kept
    }

    void anEventThatWasHandledIsNotCorrected()
    {
        const QString messageId = sendDead(body(u"E"_s));
        QVERIFY(claim(u"E"_s));
        browse();
        QCOMPARE(m_list.letters[0].verdict, Verdict::Handled);
        m_letters->editAndReplay({messageId, composeStatusChanged(u"E"_s, 4, u"a"_s, u"b"_s), false});
        QVERIFY(m_failures.last().contains(u"handled already"_s));
        m_letters->editAndReplay({messageId, body(u"F"_s), true});
        QTRY_COMPARE(m_items.value(messageId).state, State::Replayed);
        const auto story = m_journal->story(u"F"_s);
        QVERIFY(story);
        QVERIFY(std::any_of(story->lines.cbegin(), story->lines.cend(),
                            [](const StoryLine &line) { return line.text.contains(u"of event E"_s); }));
    }

    void aForgottenClaimChangesTheVerdictAndIsInTheAudit()
    {
        QVERIFY(claim(u"long ago"_s, 1h));
        const QString messageId = sendDead(body(u"E"_s));
        QVERIFY(claim(u"E"_s));
        browse();
        m_acts->forgetClaim(u"E"_s, u"the person asked"_s);
        QCOMPARE(m_reports.last().done, 1);
        QTRY_COMPARE(m_updated.value(messageId).verdict, Verdict::NotHandled);
        m_acts->forgetClaim(u"E"_s, u"again"_s);
        QCOMPARE(m_reports.last().failed, 1);
        const auto page = m_letters->audit().page(0, 10);
        QVERIFY(page);
        QCOMPARE(page->entries.size(), 4); // before and after, twice
        QCOMPARE(page->entries[3].act, u"forget"_s);
        QCOMPARE(page->entries[3].ids, QStringList{u"E"_s});
        QVERIFY(page->entries[3].text.contains(u"the person asked"_s));
        QVERIFY(page->entries[3].outcome.isEmpty() && !page->entries[2].outcome.isEmpty());
        QVERIFY(!page->entries[3].who.isEmpty() && !page->entries[3].host.isEmpty());
    }

    void theAuditCannotBeChanged()
    {
        Audit audit(m_journal->database(), u"Local"_s);
        QVERIFY(audit.note(u"replay"_s, {u"a"_s}, u"text"_s));
        Database &database = m_journal->database();
        QVERIFY(!database.rows(u"UPDATE sendonce_audit SET text = ''"_s, {}, u"test"_s));
        QVERIFY(!database.rows(u"DELETE FROM sendonce_audit"_s, {}, u"test"_s));
        QCOMPARE(audit.page(0, 10)->entries.size(), 1);
        // After 400 days it may go.
        QVERIFY(database.rows(u"INSERT INTO sendonce_audit (noted_at, who, host, profile, act, ids, text, outcome) "
                              "VALUES (1, '', '', '', '', '[]', '', '')"_s,
                              {}, u"test"_s));
        QVERIFY(database.rows(u"DELETE FROM sendonce_audit WHERE noted_at = 1"_s, {}, u"test"_s));
    }

    void aPurgeNeedsTheNameAndTheEmbeddedQueue()
    {
        sendDead(3);
        m_acts->purge(u"wrong"_s);
        QCOMPARE(m_reports.last().failed, 1);
        QCOMPARE(visible(m_addresses.dlqUrl()), 3);
        m_acts->purge(u"job-board-events-dlq"_s);
        QTRY_COMPARE(m_reports.last().done, 1);
        QTRY_COMPARE(visible(m_addresses.dlqUrl()), 0);
        m_config.embedded = false;
        m_acts->purge(u"job-board-events-dlq"_s);
        QVERIFY(m_reports.last().text.contains(u"only the embedded"_s));
    }

    void aQueueWhoseLettersDieFurtherNeedsAYes()
    {
        sendDead(2);
        HttpProbe probe(m_addresses.sqsPort);
        const auto ask = [&probe](const QByteArray &operation, const QByteArray &json) {
            probe.write(probe.request(operation, json));
            return probe.reply().status;
        };
        const QJsonObject policy{{u"deadLetterTargetArn"_s, u"arn:aws:sqs:us-east-1:000000000000:further"_s},
                                 {u"maxReceiveCount"_s, 5}};
        const QJsonObject further{{u"QueueName"_s, u"further"_s}};
        const QJsonObject attributes{
            {u"QueueUrl"_s, m_addresses.dlqUrl().toString()},
            {u"Attributes"_s,
             QJsonObject{
                 {u"RedrivePolicy"_s, QString::fromUtf8(QJsonDocument(policy).toJson(QJsonDocument::Compact))}}}};
        QCOMPARE(ask("CreateQueue", QJsonDocument(further).toJson()), 200);
        QCOMPARE(ask("SetQueueAttributes", QJsonDocument(attributes).toJson()), 200);
        browse();
        QVERIFY(m_list.needsYes);
        QCOMPARE(m_list.seen, 0);
        browse(true);
        QVERIFY(!m_list.needsYes);
        QCOMPARE(m_list.seen, 2);
    }

    void aBrowseOfManyIsQuick()
    {
        QList<SendEntry> entries;
        for (int i = 0; i < 10; ++i)
            entries.append({QString::number(i), body(u"E%1"_s.arg(i)), {}, {}, -1});
        for (int i = 0; i < 100; ++i)
            wait<QList<BatchEntryResult>>(
                [&](auto done) { m_client->sendBatch(m_addresses.dlqUrl(), entries, this, done); });
        QElapsedTimer timer;
        timer.start();
        browse();
        const qint64 browsed = timer.restart();
        QCOMPARE(m_list.seen, 1000);
        replay(m_letters->messageIds());
        QCOMPARE(m_progress.done, 1000);
        qInfo("1000 letters: browsed in %lld ms, replayed in %lld ms", browsed, timer.elapsed());
    }
};

QTEST_GUILESS_MAIN(DeadLettersTest)
#include "tst_dlqloop.moc"
