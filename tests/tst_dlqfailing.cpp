#include "tests/world/world.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTcpServer>
#include <QTcpSocket>
#include <QtTest>
#include <QUrl>

#include <functional>

using namespace sendonce::world;
using namespace Qt::StringLiterals;

namespace {

/// Stands between sendoncectl and the embedded queue, passes calls and answers on as they are but for the Host header,
/// and does to single calls what the test says. In the test's own thread.
class FailingProxy : public QObject
{
public:
    enum class Act {
        Pass,
        Fail, ///< answers 500 itself
        Refuse, ///< answers 403 AccessDenied itself
        Cut, ///< the call does not arrive
        LoseAnswer, ///< the call arrives and is carried out; its answer does not come back
    };

    explicit FailingProxy(const QUrl &queue) : m_queue(queue)
    {
        connect(&m_server, &QTcpServer::newConnection, this, &FailingProxy::accept);
        if (!m_server.listen(QHostAddress::LocalHost))
            qFatal("no port for the proxy: %s", qPrintable(m_server.errorString()));
    }

    QString url() const { return u"http://127.0.0.1:%1"_s.arg(m_server.serverPort()); }
    /// From now on: the calls of this operation, `nth` from 1; all others pass.
    void onCall(const QByteArray &operation, std::function<Act(int nth)> act)
    {
        m_operation = operation;
        m_act = std::move(act);
        m_seen.clear();
    }
    void alsoRefuse(const QByteArray &operation) { m_refused = operation; } ///< every call of it
    int seen(const QByteArray &operation) const { return m_seen.value(operation); }

private:
    void accept()
    {
        while (QTcpSocket *client = m_server.nextPendingConnection()) {
            auto *queue = new QTcpSocket(client);
            queue->connectToHost(m_queue.host(), quint16(m_queue.port()));
            connect(client, &QTcpSocket::readyRead, this, [this, client, queue] { read(client, queue); });
            connect(client, &QTcpSocket::disconnected, client, &QObject::deleteLater);
            connect(queue, &QTcpSocket::readyRead, this, [this, client, queue] {
                if (m_loses.remove(queue))
                    client->abort();
                else
                    client->write(queue->readAll());
            });
            connect(queue, &QTcpSocket::disconnected, client, &QTcpSocket::disconnectFromHost);
            connect(queue, &QObject::destroyed, this, [this, queue] {
                m_pending.remove(queue);
                m_loses.remove(queue);
            });
        }
    }

    void read(QTcpSocket *client, QTcpSocket *queue)
    {
        QByteArray &pending = m_pending[queue];
        pending += client->readAll();
        const qsizetype end = pending.indexOf("\r\n\r\n");
        if (end < 0)
            return;
        const QByteArray head = pending.left(end + 2);
        const qsizetype size = end + 4 + header(head, "content-length").toLongLong();
        if (pending.size() < size)
            return; // one call at a time on a connection
        QByteArray request = std::exchange(pending, pending.mid(size)).left(size);
        // The embedded queue refuses calls for another host (a page in a browser), and does not check the signature.
        request.replace(request.indexOf("Host: ") + 6, header(head, "host").size(), m_queue.authority().toUtf8());
        const QByteArray operation = header(head, "x-amz-target").split('.').last();
        const int nth = ++m_seen[operation];
        const Act act = operation == m_refused  ? Act::Refuse
            : m_act && operation == m_operation ? m_act(nth)
                                                : Act::Pass;
        switch (act) {
        case Act::Pass:
            queue->write(request);
            break;
        case Act::Fail:
            client->write(answer("500 Internal Server Error", R"({"__type":"com.amazonaws.sqs#InternalFailure"})"));
            break;
        case Act::Refuse:
            client->write(answer("403 Forbidden",
                                 R"({"__type":"com.amazonaws.sqs#AccessDeniedException",)"
                                 R"("message":"not allowed"})"));
            break;
        case Act::Cut:
            client->abort();
            break;
        case Act::LoseAnswer:
            m_loses.insert(queue);
            queue->write(request);
            break;
        }
    }

    static QByteArray header(const QByteArray &head, const QByteArray &name)
    {
        for (const QByteArray &line : head.split('\n')) {
            if (line.left(line.indexOf(':')).compare(name, Qt::CaseInsensitive) == 0)
                return line.mid(line.indexOf(':') + 1).trimmed();
        }
        return {};
    }
    static QByteArray answer(const QByteArray &status, const QByteArray &body)
    {
        return "HTTP/1.1 " + status + "\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: "
            + QByteArray::number(body.size()) + "\r\n\r\n" + body;
    }

    const QUrl m_queue;
    QByteArray m_operation, m_refused;
    std::function<Act(int)> m_act;
    QHash<QByteArray, int> m_seen;
    QHash<QTcpSocket *, QByteArray>
        m_pending; ///< by the connection to the queue: bytes of a call that is not whole yet
    QSet<QTcpSocket *> m_loses; ///< connections whose next answer is lost
    QTcpServer m_server; ///< the last: its connections end first, and tell so
};

} // namespace

using Act = FailingProxy::Act;

/// The queue fails while `sendoncectl dlq` is at work: it says so, nothing is lost, and the next try mails each event
/// once.
class DlqFailingTest : public QObject
{
    Q_OBJECT

    static constexpr int Count = 45;
    std::unique_ptr<World> m_world;
    std::unique_ptr<FailingProxy> m_proxy;

    static QString event(int number) { return u"event-%1"_s.arg(number, 4, 10, QChar(u'0')); }

    /// A subcommand of dlq through the proxy.
    Ended dlq(const QStringList &words) const
    {
        const auto process = m_world->spawn(QStringList{u"dlq"_s} + words
                                            + QStringList{u"--endpoint-url"_s, m_proxy->url(), u"--yes"_s});
        if (!QTest::qWaitFor([&process] { return process->state() == QProcess::NotRunning; }, 60'000))
            return World::wait(*process, 1000);
        return {process->exitCode(), process->exitStatus() == QProcess::CrashExit,
                QString::fromUtf8(process->readAllStandardOutput()),
                QString::fromUtf8(process->readAllStandardError())};
    }

    /// Messages in this queue, hidden ones too.
    qint64 messagesIn(const QString &urlVariable) const
    {
        const QUrl url(m_world->variable(urlVariable));
        const QByteArray body =
            QJsonDocument(QJsonObject{{u"QueueUrl"_s, url.toString()}, {u"AttributeNames"_s, QJsonArray{u"All"_s}}})
                .toJson(QJsonDocument::Compact);
        QTcpSocket socket;
        socket.connectToHost(url.host(), quint16(url.port()));
        socket.write("POST / HTTP/1.1\r\nHost: " + url.authority().toUtf8()
                     + "\r\nConnection: close\r\nContent-Type: application/x-amz-json-1.0\r\n"
                       "X-Amz-Target: AmazonSQS.GetQueueAttributes\r\nAuthorization: AWS4-HMAC-SHA256 "
                       "Credential=test/20250901/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=00\r\n"
                       "Content-Length: "
                     + QByteArray::number(body.size()) + "\r\n\r\n" + body);
        QByteArray reply;
        while (socket.waitForReadyRead(10'000))
            reply += socket.readAll();
        const QJsonObject attributes = QJsonDocument::fromJson(reply.mid(reply.indexOf("\r\n\r\n") + 4))
                                           .object()
                                           .value("Attributes"_L1)
                                           .toObject();
        qint64 sum = attributes.isEmpty() ? -1 : 0;
        for (const QString &kind : {u""_s, u"NotVisible"_s, u"Delayed"_s})
            sum += attributes.value(u"ApproximateNumberOfMessages"_s + kind).toString().toLongLong();
        return sum;
    }
    qint64 dead() const { return messagesIn(u"SENDONCE_DLQ_URL"_s); }
    qint64 sent() const { return messagesIn(u"SENDONCE_QUEUE_URL"_s); }

    static qsizetype outcomes(const Ended &ended, const QString &outcome)
    {
        qsizetype count = 0;
        for (const QString &line : ended.out.split(u'\n', Qt::SkipEmptyParts)) {
            if (QJsonDocument::fromJson(line.toUtf8()).object().value("outcome"_L1).toString() == outcome)
                ++count;
        }
        return count;
    }

    /// Each event has exactly one mail; nothing is left in either queue but copies that are hidden for a while.
    void verifyEachIsMailedOnce(qint64 copies = 0) const
    {
        const Ended worker = m_world->ctl({u"worker"_s, u"--until-empty"_s}, 120'000);
        QVERIFY2(worker.exitCode == 0, qPrintable(worker.err.right(500)));
        QHash<QString, int> mails;
        for (const QJsonObject &mail : m_world->mails())
            ++mails[mail.value("eventId"_L1).toString()];
        for (int i = 0; i < Count; ++i)
            QVERIFY2(mails.value(event(i)) == 1,
                     qPrintable(u"%1 was mailed %2 times"_s.arg(event(i), QString::number(mails.value(event(i))))));
        QCOMPARE(mails.size(), Count);
        QCOMPARE(dead(), copies);
        QCOMPARE(sent(), 0);
    }

private Q_SLOTS:
    void init()
    {
        m_world = std::make_unique<World>();
        QVERIFY2(m_world->start(5), qPrintable(m_world->why()));
        QFile file(m_world->dataDir() + u"/letters.jsonl"_s);
        QVERIFY(file.open(QIODevice::WriteOnly));
        for (int i = 0; i < Count; ++i) {
            const QJsonObject body{{u"type"_s, u"application.status_changed"_s},
                                   {u"event_id"_s, event(i)},
                                   {u"application_id"_s, 3},
                                   {u"old_status"_s, u"reviewing"_s},
                                   {u"new_status"_s, u"interview"_s}};
            const QJsonObject line{{u"body"_s, QString::fromUtf8(QJsonDocument(body).toJson(QJsonDocument::Compact))}};
            file.write(QJsonDocument(line).toJson(QJsonDocument::Compact) + '\n');
        }
        file.close();
        const Ended imported = m_world->ctl({u"dlq"_s, u"import"_s, u"--from"_s, file.fileName()});
        QVERIFY2(imported.exitCode == 0, qPrintable(imported.err));
        m_proxy = std::make_unique<FailingProxy>(QUrl(m_world->variable(u"SENDONCE_QUEUE_URL"_s)));
    }

    void oneFailedReceiveIsMadeUpFor_data()
    {
        QTest::addColumn<Act>("act");
        QTest::addColumn<int>("which");
        QTest::newRow("the first, 500") << Act::Fail << 1;
        QTest::newRow("in the middle, cut") << Act::Cut << 4;
        QTest::newRow("the last, 500") << Act::Fail << 7;
    }
    void oneFailedReceiveIsMadeUpFor()
    {
        QFETCH(const Act, act);
        QFETCH(const int, which);
        m_proxy->onCall("ReceiveMessage"_ba, [act, which](int nth) { return nth == which ? act : Act::Pass; });
        const Ended listed = dlq({u"list"_s, u"--json"_s});
        QVERIFY(m_proxy->seen("ReceiveMessage"_ba) >= which);
        QVERIFY2(listed.exitCode == 0, qPrintable(listed.err));
        QCOMPARE(listed.out.count(u'\n'), Count);
        QVERIFY2(listed.err.contains(u"1 answers were lost"_s), qPrintable(listed.err));
        m_proxy->onCall("ReceiveMessage"_ba, [act, which](int nth) { return nth == which ? act : Act::Pass; });
        const Ended replayed = dlq({u"replay"_s, u"--all"_s});
        QVERIFY2(replayed.exitCode == 0, qPrintable(replayed.err));
        verifyEachIsMailedOnce();
    }

    void aQueueThatStopsAnsweringEndsTheBrowse_data()
    {
        QTest::addColumn<Act>("act");
        QTest::addColumn<int>("from");
        QTest::newRow("500 at once") << Act::Fail << 1;
        QTest::newRow("500 midway") << Act::Fail << 4;
        QTest::newRow("cut midway") << Act::Cut << 4;
        QTest::newRow("refused midway") << Act::Refuse << 4;
    }
    void aQueueThatStopsAnsweringEndsTheBrowse()
    {
        QFETCH(const Act, act);
        QFETCH(const int, from);
        for (const QStringList &words : {QStringList{u"list"_s}, QStringList{u"replay"_s, u"--all"_s}}) {
            m_proxy->onCall("ReceiveMessage"_ba, [act, from](int nth) { return nth >= from ? act : Act::Pass; });
            const Ended ended = dlq(words);
            QVERIFY2(ended.exitCode == 1 || ended.exitCode == 4, qPrintable(QString::number(ended.exitCode)));
            QVERIFY2(ended.err.contains(u"ReceiveMessage"_s), qPrintable(ended.err));
            QCOMPARE(ended.out, QString()); // no part of a list that looks like the whole
            QCOMPARE(m_proxy->seen("SendMessageBatch"_ba), 0);
            QCOMPARE(m_proxy->seen("DeleteMessageBatch"_ba), 0);
            QCOMPARE(m_world->deadLetters().size(), Count); // all there, none hidden
        }
        m_proxy->onCall({}, {});
        QVERIFY(dlq({u"replay"_s, u"--all"_s}).exitCode == 0);
        verifyEachIsMailedOnce();
    }

    void oneLostAnswerToASendIsMadeUpFor()
    {
        m_proxy->onCall("SendMessageBatch"_ba, [](int nth) { return nth == 2 ? Act::LoseAnswer : Act::Pass; });
        const Ended replayed = dlq({u"replay"_s, u"--all"_s});
        QVERIFY2(replayed.exitCode == 0, qPrintable(replayed.err));
        QCOMPARE(dead(), 0);
        QVERIFY(sent() > Count); // one batch twice: the claim absorbs it
        verifyEachIsMailedOnce();
    }

    void aSendWhoseAnswersAreLostHaltsTheReplay()
    {
        m_proxy->onCall("SendMessageBatch"_ba, [](int nth) { return nth >= 3 ? Act::LoseAnswer : Act::Pass; });
        const Ended halted = dlq({u"replay"_s, u"--all"_s, u"--json"_s});
        QCOMPARE(halted.exitCode, 1);
        QVERIFY2(halted.err.contains(u"SendMessageBatch"_s) && halted.err.contains(u"perhaps some were sent"_s)
                     && halted.err.contains(u"--resume --run "_s),
                 qPrintable(halted.err));
        QCOMPARE(halted.out.count(u'\n'), Count);
        const qsizetype left = outcomes(halted, u"not replayed"_s);
        QVERIFY2(left >= Count - 20 && left < Count, qPrintable(halted.out));
        QVERIFY(dead() >= left);

        m_proxy->onCall({}, {});
        const Ended done = dlq({u"replay"_s, u"--resume"_s});
        QVERIFY2(done.exitCode == 0, qPrintable(done.err));
        verifyEachIsMailedOnce();
    }

    /// What it had locked is there for whoever comes next, without a wait of 300 s.
    void aHaltedReplayHidesNothing()
    {
        m_proxy->onCall("DeleteMessageBatch"_ba, [](int) { return Act::Refuse; });
        const Ended halted = dlq({u"replay"_s, u"--all"_s, u"--stop-after"_s, u"1"_s, u"--json"_s});
        QCOMPARE(halted.exitCode, 1);
        QVERIFY2(halted.err.contains(u"halted: stopped after "_s), qPrintable(halted.err));
        QCOMPARE(halted.err.count(u"halted"_s), 1);
        QCOMPARE(dead(), Count);
        QCOMPARE(m_world->deadLetters().size(), Count);
        // What was on its way at the halt is told as it ended.
        QCOMPARE(outcomes(halted, u"copy left"_s), sent());

        m_proxy->onCall({}, {});
        const Ended rest = dlq({u"replay"_s, u"--all"_s});
        QVERIFY2(rest.exitCode == 0, qPrintable(rest.err));
        verifyEachIsMailedOnce();
    }

    void whatAHaltedReplayCannotShowAgainIsSaid()
    {
        m_proxy->onCall("ChangeMessageVisibilityBatch"_ba,
                        [this](int) { return m_proxy->seen("SendMessageBatch"_ba) > 0 ? Act::Refuse : Act::Pass; });
        m_proxy->alsoRefuse("DeleteMessageBatch"_ba);
        const Ended ended = dlq({u"replay"_s, u"--all"_s, u"--stop-after"_s, u"1"_s});
        QCOMPARE(ended.exitCode, 1);
        QVERIFY2(ended.err.contains(u"letters may stay hidden for at most "_s), qPrintable(ended.err));
    }

    void aDeleteThatFailsOnceIsMadeUpFor_data()
    {
        QTest::addColumn<Act>("act");
        QTest::newRow("500") << Act::Fail;
        QTest::newRow("cut") << Act::Cut;
        QTest::newRow("answer lost") << Act::LoseAnswer;
    }
    void aDeleteThatFailsOnceIsMadeUpFor()
    {
        QFETCH(const Act, act);
        m_proxy->onCall("DeleteMessageBatch"_ba, [act](int nth) { return nth == 2 ? act : Act::Pass; });
        const Ended replayed = dlq({u"replay"_s, u"--all"_s});
        QVERIFY2(replayed.exitCode == 0, qPrintable(replayed.err));
        verifyEachIsMailedOnce();
    }

    void aRefusedDeleteLeavesCopies()
    {
        m_proxy->onCall("DeleteMessageBatch"_ba, [](int nth) { return nth == 2 ? Act::Refuse : Act::Pass; });
        const Ended refused = dlq({u"replay"_s, u"--all"_s, u"--json"_s});
        QCOMPARE(refused.exitCode, 1);
        QCOMPARE(outcomes(refused, u"copy left"_s), dead());
        QVERIFY(dead() > 0);
        verifyEachIsMailedOnce(dead());
    }
};

QTEST_GUILESS_MAIN(DlqFailingTest)
#include "tst_dlqfailing.moc"
