#include "tests/world/scriptedsmtp.h"
#include "worker/mail/smtpclient.h"

#include <QElapsedTimer>
#include <QTest>

#include <atomic>
#include <future>
#include <thread>

using namespace sendonce;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;
using world::ScriptedSmtp;
using world::SmtpScript;
using Status = SendResult::Status;

Q_DECLARE_METATYPE(sendonce::world::SmtpScript)
Q_DECLARE_METATYPE(sendonce::SendResult::Status)

namespace {

constexpr auto Patient = 10s; ///< where the outcome must not hang on the speed of the machine
constexpr auto Short = 120ms; ///< where a time-out is what is tested
const QByteArray Queued = "250 2.0.0 Ok: queued as 4F3\r\n";

MimeMessage mail(const QByteArray &bytes = "Subject: hello\r\n\r\nfirst\r\n.dotted\r\nlast\r\n")
{
    return {u"no-reply@jobboard.example"_s, u"dana@example.org"_s, u"id@jobboard.example"_s, bytes, false};
}

SmtpSettings settings(const ScriptedSmtp &server, std::chrono::milliseconds timeout = Patient,
                      std::chrono::milliseconds finalTimeout = Patient)
{
    return {u"127.0.0.1"_s, server.port(), u"sendonce.local"_s, timeout, finalTimeout};
}

/// One mail over a new connection; says whether it was asked before the dot.
SendResult sendOne(const SmtpSettings &where, int *asked = nullptr, const MimeMessage &message = mail())
{
    SmtpClient client(where);
    const std::atomic_bool stop = false;
    return client.send(message, {[&] { return asked ? ++*asked > 0 : true; }, {}}, stop);
}

/// The dialogue as far as `stage`, whose command is read but not answered.
SmtpScript before(const QByteArray &stage, bool pipelining)
{
    SmtpScript script;
    if (stage == "greeting")
        return script;
    script.send("220 scripted.example ESMTP\r\n").expect("EHLO sendonce.local");
    if (stage == "EHLO")
        return script;
    script.send(pipelining ? "250-scripted.example\r\n250 PIPELINING\r\n" : "250 scripted.example\r\n")
        .expect("MAIL FROM:<no-reply@jobboard.example>");
    if (pipelining)
        script.expect("RCPT TO:<dana@example.org>").expect("DATA");
    if (stage == "MAIL")
        return script;
    script.send("250 2.1.0 Ok\r\n");
    if (!pipelining)
        script.expect("RCPT TO:<dana@example.org>");
    if (stage == "RCPT")
        return script;
    script.send("250 2.1.5 Ok\r\n");
    if (!pipelining)
        script.expect("DATA");
    if (stage == "DATA")
        return script;
    script.send("354 go on\r\n");
    return script;
}

} // namespace

class TestSmtpClient : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void sendsAMailAndKeepsTheServersLine()
    {
        const ScriptedSmtp server({SmtpScript::hello().upTo354().readMail().send(Queued).hold()});
        int asked = 0;
        const SendResult result = sendOne(settings(server), &asked);
        QCOMPARE(result.status, Status::Sent);
        QCOMPARE(result.reply, u"250 2.0.0 Ok: queued as 4F3"_s);
        QCOMPARE(asked, 1);
        QCOMPARE(server.mails(), QByteArrayList{"Subject: hello\r\n\r\nfirst\r\n..dotted\r\nlast\r\n"});
        QCOMPARE(server.problem(), QString());
    }

    // before 354: not sent, whatever happens

    void whatFailsBefore354IsNotSent_data()
    {
        QTest::addColumn<SmtpScript>("script");
        QTest::addColumn<QString>("reply");
        QTest::addColumn<bool>("permanent");
        QTest::addColumn<bool>("silent");

        const auto row = [](const QByteArray &name, const SmtpScript &script, const QByteArray &reply,
                            bool silent = false) {
            QTest::newRow(name.constData()) << script << QString::fromLatin1(reply) << reply.startsWith('5') << silent;
        };
        // Section 1's table: what matters at each stage.
        const QList<QPair<QByteArray, QByteArrayList>> refusals = {
            {"greeting", {"554 5.3.2 no service here", "421 4.3.2 closing"}},
            {"EHLO", {"550 5.7.1 no", "554 5.0.0 no", "421 4.3.2 closing"}},
            {"MAIL",
             {"451 4.3.0 no", "452 4.3.1 no", "455 4.5.1 no", "550 5.7.1 no", "552 5.3.4 no", "553 5.1.8 no",
              "555 5.5.4 no", "530 5.7.0 no", "421 4.3.2 closing", "454 4.7.0 Throttling failure"}},
            {"RCPT",
             {"450 4.2.0 no", "451 4.7.1 greylisted", "452 4.2.2 no", "550 5.1.1 no such user", "551 5.1.6 no",
              "552 5.2.2 no", "553 5.1.3 no", "421 4.3.2 closing"}},
            {"DATA", {"451 4.3.0 no", "554 5.5.1 no valid recipients", "503 5.5.1 no", "421 4.3.2 closing"}},
        };
        for (const auto &[stage, replies] : refusals) {
            for (const bool pipelining : {false, true}) {
                if (pipelining && (stage == "greeting" || stage == "EHLO"))
                    continue;
                const QByteArray name = stage + (pipelining ? " (pipelined): " : ": ");
                const SmtpScript asked = before(stage, pipelining);
                for (const QByteArray &reply : replies) {
                    SmtpScript script = asked;
                    script.send(reply + "\r\n");
                    if (pipelining && stage == "MAIL")
                        script.send("503 5.5.1 sequence\r\n503 5.5.1 sequence\r\n");
                    if (pipelining && stage == "RCPT")
                        script.send("554 5.5.1 no valid recipients\r\n");
                    row(name + reply, script.hold(), reply);
                }
                row(name + "multi-line 550, then closed",
                    SmtpScript(asked).send("550-5.1.0 one\r\n550 5.1.0 two\r\n").close(), "550 5.1.0 two");
                row(name + "closed", SmtpScript(asked).close(), {});
                row(name + "reset", SmtpScript(asked).reset(), {});
                row(name + "no answer", SmtpScript(asked).hold(), {}, true);
                row(name + "half an answer, closed", SmtpScript(asked).send("250 2.").close(), {});
                row(name + "half an answer, no more", SmtpScript(asked).send("250 2.").hold(), {}, true);
                row(name + "garbage", SmtpScript(asked).send("SSH-2.0-x\r\n").hold(), {});
                row(name + "an endless answer",
                    SmtpScript(asked).sendSlowly(QByteArray("250-more\r\n").repeated(90), 1, 5ms).hold(), {}, true);
            }
        }
        row("DATA answered with 250", before("DATA", false).send("250 2.0.0 Ok\r\n").hold(), "250 2.0.0 Ok");
        row("RCPT answered with 354", before("RCPT", false).send("354 go on\r\n").hold(), "354 go on");
        const SmtpScript refused = before("RCPT", true).send("550 5.1.1 no\r\n354 go on\r\n").expect(".");
        row("RCPT refused, DATA accepted (pipelined)",
            SmtpScript(refused).send("554 5.5.1 no valid recipients\r\n").hold(), "550 5.1.1 no");
        row("RCPT refused, the empty mail even accepted (pipelined)", SmtpScript(refused).send(Queued).hold(),
            "550 5.1.1 no");
        row("RCPT refused, lost behind the empty mail (pipelined)", SmtpScript(refused).reset(), "550 5.1.1 no");
    }

    void whatFailsBefore354IsNotSent()
    {
        QFETCH(const SmtpScript, script);
        QFETCH(const QString, reply);
        QFETCH(const bool, permanent);
        QFETCH(const bool, silent);
        const ScriptedSmtp server({script});
        int asked = 0;
        QElapsedTimer time;
        time.start();
        const SendResult result = sendOne(settings(server, silent ? Short : Patient), &asked);
        QVERIFY2(!silent || std::chrono::milliseconds(time.elapsed()) < Short + 1s,
                 qPrintable(QString::number(time.elapsed())));
        QCOMPARE(result.status, Status::NotSent);
        QCOMPARE(result.reply, reply);
        QCOMPARE(result.permanent, permanent);
        QVERIFY(!result.aborted);
        QVERIFY(!result.text.isEmpty());
        QCOMPARE(asked, 0);
        QCOMPARE(server.connections(), 1);
        QCOMPARE(server.problem(), QString());
    }

    void noServerIsNotSent()
    {
        quint16 port = 0;
        {
            const ScriptedSmtp gone({});
            port = gone.port();
        }
        SmtpClient client({u"127.0.0.1"_s, port, u"sendonce.local"_s, Patient, Patient});
        const std::atomic_bool stop = false;
        const SendResult result = client.send(mail(), {}, stop);
        QCOMPARE(result.status, Status::NotSent);
        QVERIFY2(result.text.contains(u"Connection refused"_s), qPrintable(result.text));
        QVERIFY(!result.permanent);
    }

    // between 354 and the dot

    void whatFailsBeforeTheDotIsNotSent_data()
    {
        QTest::addColumn<SmtpScript>("script");
        QTest::addColumn<QString>("reply");
        const auto start = [] { return SmtpScript::hello().upTo354(); };
        QTest::newRow("closed after 354") << start().close() << QString();
        QTest::newRow("reset after 354") << start().reset() << QString();
        QTest::newRow("closed in mid-data") << start().readBytes(100'000).close() << QString();
        QTest::newRow("reset in mid-data") << start().readBytes(100'000).reset() << QString();
        QTest::newRow("reads nothing any more") << start().readBytes(100'000).hold() << QString();
        QTest::newRow("552 in mid-data") << start().readBytes(100'000).send("552 5.3.4 too big\r\n").hold()
                                         << u"552 5.3.4 too big"_s;
        QTest::newRow("421 in mid-data") << start().readBytes(100'000).send("421 4.3.2 closing\r\n").hold()
                                         << u"421 4.3.2 closing"_s;
        QTest::newRow("250 in mid-data, which means nothing")
            << start().readBytes(100'000).send(Queued).hold() << u"250 2.0.0 Ok: queued as 4F3"_s;
        QTest::newRow("250 together with 354")
            << SmtpScript::hello().envelope().expect("DATA").send("354 go on\r\n" + Queued).hold()
            << u"250 2.0.0 Ok: queued as 4F3"_s;
    }

    void whatFailsBeforeTheDotIsNotSent()
    {
        QFETCH(const SmtpScript, script);
        QFETCH(const QString, reply);
        const ScriptedSmtp server({script});
        int asked = 0;
        const bool silent = QByteArrayView(QTest::currentDataTag()) == "reads nothing any more";
        // More than the buffers of both sides hold.
        const SendResult result = sendOne(settings(server, silent ? Short : Patient), &asked,
                                          mail(QByteArray("line of a long mail\r\n").repeated(250'000)));
        QCOMPARE(result.status, Status::NotSent);
        QCOMPARE(result.reply, reply);
        QCOMPARE(asked, 0);
        QCOMPARE(server.problem(), QString());
    }

    void aLossWhileTheHookRunsIsNotSent()
    {
        std::promise<void> asked;
        std::future<void> isAsked = asked.get_future();
        std::promise<void> closed;
        std::future<void> isClosed = closed.get_future();
        // The second connection is accepted only after the first is closed.
        const ScriptedSmtp server(
            {SmtpScript::hello().upTo354().readBytes(41).call([&] { isAsked.wait_for(5s); }).close(),
             SmtpScript().call([&] { closed.set_value(); })});
        bool lost = false;
        const auto beforeDot = [&] {
            asked.set_value();
            SmtpClient other(settings(server));
            const std::atomic_bool stop = false;
            (void)other.send(mail(), {}, stop);
            lost = isClosed.wait_for(5s) == std::future_status::ready;
            return true;
        };
        SmtpClient client(settings(server));
        const std::atomic_bool stop = false;
        const SendResult result = client.send(mail(), {beforeDot, {}}, stop);
        QVERIFY(lost);
        QCOMPARE(result.status, Status::NotSent);
    }

    void whoeverSaysNoBeforeTheDotGetsNoMail()
    {
        const ScriptedSmtp server({SmtpScript::hello().upTo354().readMail().send(Queued)});
        SmtpClient client(settings(server));
        const std::atomic_bool stop = false;
        const SendResult result = client.send(mail(), {[] { return false; }, {}}, stop);
        QCOMPARE(result.status, Status::NotSent);
        QVERIFY(!result.aborted);
        QCOMPARE(server.mails(), QByteArrayList());
    }

    void everythingButTheDotIsWrittenWhenItIsAsked()
    {
        const QByteArray wire = "Subject: hello\r\n\r\nfirst\r\n..dotted\r\nlast\r\n";
        std::promise<void> read;
        std::future<void> isRead = read.get_future();
        const ScriptedSmtp server({SmtpScript::hello()
                                       .upTo354()
                                       .readBytes(wire.size())
                                       .call([&] { read.set_value(); })
                                       .expect(".")
                                       .send(Queued)});
        SmtpClient client(settings(server));
        const std::atomic_bool stop = false;
        bool all = false;
        const SendResult result =
            client.send(mail(), {[&] { return all = isRead.wait_for(5s) == std::future_status::ready; }, {}}, stop);
        QVERIFY(all);
        QCOMPARE(result.status, Status::Sent);
        QCOMPARE(server.problem(), QString());
    }
    void theHookBehindTheDotComesWhenTheServerHasItAndHasNotAnswered()
    {
        std::promise<void> read;
        std::future<void> isRead = read.get_future();
        std::promise<void> called;
        std::future<void> isCalled = called.get_future();
        bool answered = false;
        const ScriptedSmtp server({SmtpScript::hello()
                                       .upTo354()
                                       .readMail()
                                       .call([&] {
                                           read.set_value();
                                           answered = isCalled.wait_for(5s) == std::future_status::ready;
                                       })
                                       .send(Queued)
                                       .hold()});
        SmtpClient client(settings(server));
        const std::atomic_bool stop = false;
        bool had = false;
        const auto afterDot = [&] {
            had = isRead.wait_for(5s) == std::future_status::ready;
            called.set_value();
        };
        QCOMPARE(client.send(mail(), {{}, afterDot}, stop).status, Status::Sent);
        QVERIFY(had);
        QVERIFY(answered);
    }

    // after the dot

    void whatHappensAfterTheDotDecides_data()
    {
        QTest::addColumn<SmtpScript>("script");
        QTest::addColumn<Status>("status");
        QTest::addColumn<QString>("reply");
        QTest::addColumn<bool>("permanent");
        const auto start = [] { return SmtpScript::hello().upTo354().readMail(); };
        const auto row = [](const char *name, const SmtpScript &script, Status status, const QString &reply,
                            bool permanent) { QTest::newRow(name) << script << status << reply << permanent; };
        row("250", start().send(Queued).hold(), Status::Sent, u"250 2.0.0 Ok: queued as 4F3"_s, false);
        row("250 without text", start().send("250\r\n").hold(), Status::Sent, u"250"_s, false);
        row("251", start().send("251 2.1.5 forwarded\r\n").hold(), Status::Sent, u"251 2.1.5 forwarded"_s, false);
        row("multi-line 250", start().send("250-2.0.0 Ok\r\n250 2.0.0 queued\r\n").hold(), Status::Sent,
            u"250 2.0.0 queued"_s, false);
        row("250, then closed", start().send(Queued).close(), Status::Sent, u"250 2.0.0 Ok: queued as 4F3"_s, false);
        row("250, then reset", start().send(Queued).reset(), Status::Sent, u"250 2.0.0 Ok: queued as 4F3"_s, false);
        row("250, then 421", start().send(Queued + "421 4.3.2 closing\r\n").close(), Status::Sent,
            u"250 2.0.0 Ok: queued as 4F3"_s, false);

        row("451", start().send("451 4.3.0 busy\r\n").hold(), Status::NotSent, u"451 4.3.0 busy"_s, false);
        row("452", start().send("452 4.3.1 full\r\n").hold(), Status::NotSent, u"452 4.3.1 full"_s, false);
        row("454 of SES", start().send("454 Throttling failure: Maximum sending rate exceeded\r\n").hold(),
            Status::NotSent, u"454 Throttling failure: Maximum sending rate exceeded"_s, false);
        row("421", start().send("421 4.3.2 closing\r\n").close(), Status::NotSent, u"421 4.3.2 closing"_s, false);
        row("550", start().send("550 5.7.1 no\r\n").hold(), Status::NotSent, u"550 5.7.1 no"_s, true);
        row("552", start().send("552 5.3.4 too big\r\n").hold(), Status::NotSent, u"552 5.3.4 too big"_s, true);
        row("554", start().send("554 5.6.0 rejected\r\n").hold(), Status::NotSent, u"554 5.6.0 rejected"_s, true);
        row("554, then reset", start().send("554 5.6.0 rejected\r\n").reset(), Status::NotSent, u"554 5.6.0 rejected"_s,
            true);
        row("a code nobody knows, 499", start().send("499 ?\r\n").hold(), Status::NotSent, u"499 ?"_s, false);
        row("a code nobody knows, 599", start().send("599 ?\r\n").hold(), Status::NotSent, u"599 ?"_s, true);

        row("closed", start().close(), Status::InDoubt, {}, false);
        row("reset", start().reset(), Status::InDoubt, {}, false);
        row("no answer", start().hold(), Status::InDoubt, {}, false);
        row("half a 250, closed", start().send("250 2.0").close(), Status::InDoubt, {}, false);
        row("half a 250, reset", start().send("250 2.0").reset(), Status::InDoubt, {}, false);
        row("half a 250, no more", start().send("250 2.0").hold(), Status::InDoubt, {}, false);
        row("half a 554, closed", start().send("554 5.6.0 reje").close(), Status::InDoubt, {}, false);
        row("250 without its LF", start().send("250 2.0.0 Ok\r").close(), Status::InDoubt, {}, false);
        row("250 with a bare LF", start().send("250 2.0.0 Ok\n").hold(), Status::InDoubt, {}, false);
        row("the first line of two", start().send("250-2.0.0 Ok\r\n").close(), Status::InDoubt, {}, false);
        row("garbage", start().send("Segmentation fault\r\n").hold(), Status::InDoubt, {}, false);
        row("354 once more", start().send("354 go on\r\n").hold(), Status::InDoubt, u"354 go on"_s, false);
        row("150", start().send("150 wait\r\n").hold(), Status::InDoubt, {}, false);
    }

    void whatHappensAfterTheDotDecides()
    {
        QFETCH(const SmtpScript, script);
        QFETCH(const Status, status);
        QFETCH(const QString, reply);
        QFETCH(const bool, permanent);
        const ScriptedSmtp server({script});
        int asked = 0;
        const QByteArrayView name = QTest::currentDataTag();
        const bool silent = name == "no answer" || name.endsWith("no more");
        QElapsedTimer time;
        const auto start = [&time] {
            time.start();
            return true;
        };
        SmtpClient client(settings(server, Patient, silent ? Short : Patient));
        const std::atomic_bool stop = false;
        const SendResult result = client.send(mail(), {[&] { return ++asked > 0 && start(); }, {}}, stop);
        QVERIFY2(!silent
                     || (std::chrono::milliseconds(time.elapsed()) >= Short
                         && std::chrono::milliseconds(time.elapsed()) < Short + 1s),
                 qPrintable(QString::number(time.elapsed())));
        QCOMPARE(result.status, status);
        QCOMPARE(result.reply, reply);
        QCOMPARE(result.permanent, permanent);
        QVERIFY(!result.text.isEmpty());
        QCOMPARE(asked, 1);
        QCOMPARE(server.mails().size(), 1);
        QCOMPARE(server.connections(), 1);
        QCOMPARE(server.problem(), QString());
    }

    void aReplyCutAnywhereIsTheSameWhenTheRestComes_data()
    {
        QTest::addColumn<QByteArray>("reply");
        QTest::newRow("one line") << Queued;
        QTest::newRow("two lines") << QByteArray("250-2.0.0 Ok\r\n250 2.0.0 queued\r\n");
    }

    void aReplyCutAnywhereIsTheSameWhenTheRestComes()
    {
        QFETCH(const QByteArray, reply);
        for (qsizetype cut = 1; cut < reply.size(); ++cut) {
            const ScriptedSmtp server({SmtpScript::hello()
                                           .upTo354()
                                           .readMail()
                                           .send(reply.first(cut))
                                           .pause(2ms)
                                           .send(reply.sliced(cut))
                                           .reset()});
            QCOMPARE(sendOne(settings(server)).status, Status::Sent);
            const ScriptedSmtp cutting({SmtpScript::hello().upTo354().readMail().send(reply.first(cut)).close()});
            const SendResult cutResult = sendOne(settings(cutting));
            QCOMPARE(cutResult.status, Status::InDoubt);
        }
    }

    void everyReplyMayComeByteByByte()
    {
        SmtpScript script;
        script.sendSlowly("220-two\r\n220 lines\r\n", 1, 1ms)
            .expect("EHLO")
            .sendSlowly("250-scripted.example\r\n250-SIZE 1000\r\n250 8BITMIME\r\n", 1, 1ms)
            .expect("MAIL FROM:<no-reply@jobboard.example> SIZE=40")
            .sendSlowly("250 2.1.0 Ok\r\n", 1, 1ms)
            .expect("RCPT")
            .sendSlowly("251 2.1.5 will forward\r\n", 1, 1ms)
            .expect("DATA")
            .sendSlowly("354 go\r\n", 1, 1ms)
            .readMail()
            .sendSlowly(Queued, 1, 1ms);
        const ScriptedSmtp server({script});
        SmtpClient client(settings(server));
        const std::atomic_bool stop = false;
        QCOMPARE(client.send(mail(), {}, stop).status, Status::Sent);
        QCOMPARE(server.problem(), QString());
    }

    void theDeadlineIsForTheWholeDialogue()
    {
        // Each answer comes in time, all together do not.
        SmtpScript script;
        script.pause(40ms)
            .send("220 x\r\n")
            .expect("EHLO")
            .pause(40ms)
            .send("250 x\r\n")
            .expect("MAIL")
            .pause(40ms)
            .send("250 x\r\n")
            .expect("RCPT")
            .pause(40ms)
            .send("250 x\r\n")
            .expect("DATA")
            .pause(40ms)
            .send("354 x\r\n")
            .readMail()
            .send(Queued);
        const ScriptedSmtp server({script});
        QElapsedTimer time;
        time.start();
        const SendResult result = sendOne(settings(server, Short));
        QCOMPARE(result.status, Status::NotSent);
        QVERIFY(std::chrono::milliseconds(time.elapsed()) >= Short
                && std::chrono::milliseconds(time.elapsed()) < Short + 1s);
        QCOMPARE(server.mails(), QByteArrayList());
    }

    void theFinalReplyHasATimeOfItsOwn()
    {
        const ScriptedSmtp server({SmtpScript::hello().upTo354().readMail().pause(600ms).send(Queued).hold()});
        SmtpClient client(settings(server, 500ms));
        const std::atomic_bool stop = false;
        QCOMPARE(client.send(mail(), {}, stop).status, Status::Sent);
    }

    // stop

    void aStopBeforeTheDotAbandons_data()
    {
        QTest::addColumn<SmtpScript>("script");
        for (const QByteArray stage : {"greeting", "EHLO", "MAIL", "RCPT", "DATA"})
            QTest::newRow(stage.constData()) << before(stage, false);
        QTest::newRow("body") << SmtpScript::hello().upTo354().readBytes(100'000);
    }

    void aStopBeforeTheDotAbandons()
    {
        QFETCH(SmtpScript, script);
        std::atomic_bool stop = false;
        QElapsedTimer since;
        const ScriptedSmtp server({script
                                       .call([&] {
                                           since.start();
                                           stop = true;
                                       })
                                       .hold()});
        SmtpClient client(settings(server));
        const SendResult result = client.send(mail(QByteArray("line of a long mail\r\n").repeated(250'000)), {}, stop);
        QVERIFY2(since.elapsed() < 200, qPrintable(QString::number(since.elapsed())));
        QCOMPARE(result.status, Status::NotSent);
        QVERIFY(result.aborted);
        QVERIFY(!result.permanent);
    }

    void aStopBeforeTheStartConnectsNowhere()
    {
        const ScriptedSmtp server({});
        SmtpClient client(settings(server));
        const std::atomic_bool stop = true;
        QVERIFY(client.send(mail(), {}, stop).aborted);
        QCOMPARE(server.connections(), 0);
    }

    void aStopBehindTheDotIsIgnored()
    {
        std::atomic_bool stop = false;
        const ScriptedSmtp server(
            {SmtpScript::hello().upTo354().readMail().call([&] { stop = true; }).pause(80ms).send(Queued)});
        SmtpClient client(settings(server));
        const SendResult result = client.send(mail(), {}, stop);
        QCOMPARE(result.status, Status::Sent);
        QVERIFY(!result.aborted);
    }

    // one connection, several mails

    void oneConnectionCarriesSeveralMails()
    {
        SmtpScript script = SmtpScript::hello({"PIPELINING"});
        for (int i = 0; i < 3; ++i)
            script.expect("MAIL")
                .expect("RCPT")
                .expect("DATA")
                .send("250 a\r\n250 b\r\n354 c\r\n")
                .readMail()
                .send(Queued);
        const ScriptedSmtp server({script.expect("QUIT").send("221 2.0.0 bye\r\n")});
        SmtpClient client(settings(server));
        const std::atomic_bool stop = false;
        for (int i = 0; i < 3; ++i)
            QCOMPARE(client.send(mail(), {}, stop).status, Status::Sent);
        client.close();
        QCOMPARE(server.lines().last(), QByteArray("QUIT"));
        QCOMPARE(server.connections(), 1);
        QCOMPARE(server.problem(), QString());
    }

    void aRefusedMailIsResetBeforeTheNext_data()
    {
        QTest::addColumn<QByteArray>("refused");
        QTest::newRow("RCPT") << QByteArray("RCPT");
        QTest::newRow("DATA") << QByteArray("DATA");
        QTest::newRow("end") << QByteArray("end");
    }

    void aRefusedMailIsResetBeforeTheNext()
    {
        QFETCH(const QByteArray, refused);
        SmtpScript script = before(refused, false);
        if (refused == "end")
            script.readMail();
        const ScriptedSmtp server({script.send("451 4.3.0 later\r\n")
                                       .expect("RSET")
                                       .send("250 2.0.0 Ok\r\n")
                                       .upTo354()
                                       .readMail()
                                       .send(Queued)});
        SmtpClient client(settings(server));
        const std::atomic_bool stop = false;
        QCOMPARE(client.send(mail(), {}, stop).status, Status::NotSent);
        QCOMPARE(client.send(mail(), {}, stop).status, Status::Sent);
        QCOMPARE(server.connections(), 1);
        QCOMPARE(server.problem(), QString());
    }

    void aConnectionClosedBetweenMailsIsOpenedAnewOnce_data()
    {
        QTest::addColumn<SmtpScript>("first");
        QTest::addColumn<SmtpScript>("second");
        QTest::addColumn<Status>("status");
        QTest::addColumn<int>("connections");
        const auto sent = [](const QByteArrayList &extensions = {}) {
            SmtpScript script = SmtpScript::hello(extensions);
            if (extensions.isEmpty())
                script.upTo354();
            else
                script.expect("MAIL").expect("RCPT").expect("DATA").send("250 a\r\n250 b\r\n354 c\r\n");
            return script.readMail().send(Queued);
        };
        QTest::newRow("FIN") << sent().close() << sent() << Status::Sent << 2;
        QTest::newRow("RST") << sent().reset() << sent() << Status::Sent << 2;
        QTest::newRow("421 and FIN") << sent().send("421 4.4.2 idle\r\n").close() << sent() << Status::Sent << 2;
        QTest::newRow("FIN in place of MAIL's reply") << sent().expect("MAIL").close() << sent() << Status::Sent << 2;
        QTest::newRow("RST in place of MAIL's reply") << sent().expect("MAIL").reset() << sent() << Status::Sent << 2;
        QTest::newRow("421 in place of MAIL's reply")
            << sent().expect("MAIL").send("421 4.4.2 idle\r\n").close() << sent() << Status::Sent << 2;
        QTest::newRow("FIN in place of MAIL's reply (pipelined)")
            << sent({"PIPELINING"}).expect("MAIL").expect("RCPT").expect("DATA").close() << sent() << Status::Sent << 2;
        QTest::newRow("421 in place of MAIL's reply (pipelined)")
            << sent({"PIPELINING"}).expect("MAIL").expect("RCPT").expect("DATA").send("421 4.4.2 idle\r\n").close()
            << sent() << Status::Sent << 2;

        QTest::newRow("a reply that nobody asked for")
            << SmtpScript::hello().upTo354().readMail().send(Queued + "250 2.0.0 again\r\n").hold() << sent()
            << Status::Sent << 2;

        QTest::newRow("the new one is closed as well")
            << sent().close() << SmtpScript::hello().expect("MAIL").close() << Status::NotSent << 2;
        QTest::newRow("the new one says 421 to MAIL")
            << sent().close() << SmtpScript::hello().expect("MAIL").send("421 4.3.2 no\r\n") << Status::NotSent << 2;
        QTest::newRow("MAIL was accepted: no second try")
            << sent().expect("MAIL").send("250 2.1.0 Ok\r\n").expect("RCPT").close() << sent() << Status::NotSent << 1;
        QTest::newRow("a 451 to MAIL is an answer")
            << sent().expect("MAIL").send("451 4.3.0 no\r\n").hold() << sent() << Status::NotSent << 1;
        QTest::newRow("behind the dot: in doubt, no second try")
            << sent().upTo354().readMail().close() << sent() << Status::InDoubt << 1;
    }

    void aConnectionClosedBetweenMailsIsOpenedAnewOnce()
    {
        QFETCH(const SmtpScript, first);
        QFETCH(const SmtpScript, second);
        QFETCH(const Status, status);
        QFETCH(const int, connections);
        const ScriptedSmtp server({first, second, SmtpScript::hello().hold()});
        SmtpClient client(settings(server));
        const std::atomic_bool stop = false;
        QCOMPARE(client.send(mail(), {}, stop).status, Status::Sent);
        const SendResult result = client.send(mail(), {}, stop);
        QVERIFY2(result.status == status, qPrintable(result.text));
        QCOMPARE(server.connections(), connections);
        QCOMPARE(server.problem(), QString());
    }

    void afterDoubtTheNextMailHasANewConnection()
    {
        const ScriptedSmtp server({SmtpScript::hello().upTo354().readMail().send("nonsense\r\n").hold(),
                                   SmtpScript::hello().upTo354().readMail().send(Queued)});
        SmtpClient client(settings(server));
        const std::atomic_bool stop = false;
        QCOMPARE(client.send(mail(), {}, stop).status, Status::InDoubt);
        QCOMPARE(client.send(mail(), {}, stop).status, Status::Sent);
        QCOMPARE(server.connections(), 2);
    }

    void closeDoesNotWaitForASilentServer()
    {
        const ScriptedSmtp server({SmtpScript::hello().upTo354().readMail().send(Queued).expect("QUIT").hold()});
        SmtpClient client(settings(server));
        const std::atomic_bool stop = false;
        QCOMPARE(client.send(mail(), {}, stop).status, Status::Sent);
        QElapsedTimer time;
        time.start();
        client.close();
        QVERIFY(time.elapsed() < 600);
        client.close();
    }

    // extensions

    void helloFallsBackToHelo()
    {
        const ScriptedSmtp server({SmtpScript()
                                       .send("220 x\r\n")
                                       .expect("EHLO")
                                       .send("502 5.5.1 what?\r\n")
                                       .expect("HELO sendonce.local")
                                       .send("250 x\r\n")
                                       .expect("MAIL FROM:<no-reply@jobboard.example>")
                                       .send("250 x\r\n")
                                       .expect("RCPT")
                                       .send("250 x\r\n")
                                       .expect("DATA")
                                       .send("354 x\r\n")
                                       .readMail()
                                       .send(Queued)});
        QCOMPARE(sendOne(settings(server)).status, Status::Sent);
        QVERIFY(server.lines().contains("MAIL FROM:<no-reply@jobboard.example>"));
    }

    void aMailThatIsTooBigIsNotOffered()
    {
        const ScriptedSmtp server({SmtpScript::hello({"SIZE 39"}).hold()});
        const SendResult result = sendOne(settings(server));
        QCOMPARE(result.status, Status::NotSent);
        QVERIFY(result.permanent);
        QVERIFY2(result.text.contains(u"39"_s) && result.text.contains(u"40"_s), qPrintable(result.text));
        QCOMPARE(server.lines().size(), 1);
    }

    void aForeignAddressNeedsSmtpUtf8()
    {
        MimeMessage message = mail();
        message.recipient = u"jürgen@example.org"_s;
        message.needsSmtpUtf8 = true;

        const ScriptedSmtp without({SmtpScript::hello().hold()});
        const SendResult refused = sendOne(settings(without), nullptr, message);
        QCOMPARE(refused.status, Status::NotSent);
        QVERIFY2(refused.text.contains(u"SMTPUTF8"_s) && refused.text.contains(u"jürgen@example.org"_s),
                 qPrintable(refused.text));

        const ScriptedSmtp with({SmtpScript::hello({"SMTPUTF8", "8BITMIME"}).upTo354().readMail().send(Queued)});
        QCOMPARE(sendOne(settings(with), nullptr, message).status, Status::Sent);
        QVERIFY(with.lines().contains("MAIL FROM:<no-reply@jobboard.example> SMTPUTF8"));
        QVERIFY(with.lines().contains(u"RCPT TO:<jürgen@example.org>"_s.toUtf8()));
    }

    // what must not be sent

    void whatWouldBreakOutOfACommandIsRefusedBeforeConnecting_data()
    {
        QTest::addColumn<QString>("evil");
        QTest::newRow("CR") << u"\r"_s;
        QTest::newRow("LF") << u"\n"_s;
        QTest::newRow("CRLF and a command") << u">\r\nRCPT TO:<eve@example.org"_s;
        QTest::newRow("NUL") << QString(QChar::Null);
        QTest::newRow("U+2028") << u"\u2028"_s;
        QTest::newRow("bracket") << u"> NOTIFY=NEVER"_s;
        QTest::newRow("blank") << u" "_s;
    }

    void whatWouldBreakOutOfACommandIsRefusedBeforeConnecting()
    {
        QFETCH(const QString, evil);
        const ScriptedSmtp server({});
        const std::atomic_bool stop = false;
        const auto refused = [&](const MimeMessage &message, const QString &helo) {
            SmtpSettings evilSettings = settings(server);
            evilSettings.heloName = helo;
            SmtpClient client(evilSettings);
            const SendResult result = client.send(message, {}, stop);
            return result.status == Status::NotSent && result.permanent && !result.text.isEmpty();
        };
        for (const QString &address :
             {u"dana"_s + evil + u"@example.org"_s, u"dana@example.org"_s + evil, evil + u"dana@example.org"_s}) {
            MimeMessage message = mail();
            message.recipient = address;
            QVERIFY(refused(message, u"sendonce.local"_s));
            message = mail();
            message.sender = address;
            QVERIFY(refused(message, u"sendonce.local"_s));
        }
        if (!evil.startsWith(u'>'))
            QVERIFY(refused(mail(), u"sendonce"_s + evil + u"local"_s));
        QCOMPARE(server.connections(), 0);
    }

    void bytesThatSmuggleAreRefused_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("bare LF") << QByteArray("a\r\n\n.\r\nb\r\n");
        QTest::newRow("bare CR") << QByteArray("a\r\n\r.\r\nb\r\n");
        QTest::newRow("bare LF in the middle of a line") << QByteArray("a\r\nb\nc\r\n");
        QTest::newRow("CR before CRLF") << QByteArray("a\r\r\nb\r\n");
        QTest::newRow("LF at the end") << QByteArray("a\r\nb\n");
        QTest::newRow("CR at the end") << QByteArray("a\r\nb\r");
        QTest::newRow("NUL") << QByteArray("a\0b\r\n", 5);
        QTest::newRow("999 octets") << QByteArray("a\r\n" + QByteArray(999, 'x') + "\r\n");
        QTest::newRow("999 octets without a line end") << QByteArray(999, 'x');
    }

    void bytesThatSmuggleAreRefused()
    {
        QFETCH(const QByteArray, bytes);
        const ScriptedSmtp server({});
        const SendResult result = sendOne(settings(server), nullptr, mail(bytes));
        QCOMPARE(result.status, Status::NotSent);
        QVERIFY(result.permanent);
        QCOMPARE(server.connections(), 0);
    }

    void dotsAreStuffedAndALineEndIsAdded()
    {
        const ScriptedSmtp server({SmtpScript::hello().upTo354().readMail().send(Queued)});
        QCOMPARE(
            sendOne(settings(server), nullptr, mail(".\r\n.\r\n..\r\nx." + QByteArray(994, 'x') + "\r\n.y")).status,
            Status::Sent);
        QCOMPARE(server.mails(), QByteArrayList{"..\r\n..\r\n...\r\nx." + QByteArray(994, 'x') + "\r\n..y\r\n"});
    }

    void aHostNameIsLookedUp()
    {
        const ScriptedSmtp server({SmtpScript::hello().upTo354().readMail().send(Queued)});
        SmtpSettings named = settings(server);
        named.host = u"localhost"_s;
        SmtpClient client(named);
        const std::atomic_bool stop = false;
        const SendResult result = client.send(mail(), {}, stop);
        QVERIFY2(result.status == Status::Sent, qPrintable(result.text));
    }
};

QTEST_GUILESS_MAIN(TestSmtpClient)
#include "tst_smtpclient.moc"
