#include "tests/interop/mime/pythonmail.h"
#include "tests/world/mailcases.h"
#include "worker/mail/certificates.h"
#include "worker/mail/smtpclient.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QHash>
#include <QTest>

#include <algorithm>
#include <atomic>

using namespace sendonce;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;
using Status = SendResult::Status;

Q_DECLARE_METATYPE(sendonce::SmtpSettings)

namespace {

constexpr int MailCount = 200;
constexpr auto Patience = 20s; ///< for Postfix's queue

/// A mail as it came out, without the headers that the servers put in front of it.
QByteArray ours(const QByteArray &stored)
{
    const qsizetype begin = stored.indexOf("\nDate: ");
    return begin < 0 ? QByteArray() : stored.sliced(begin + 1);
}

QByteArray messageIdOf(const QByteArray &mail)
{
    const qsizetype begin = mail.indexOf("\nMessage-ID: <") + 14;
    return mail.sliced(begin, mail.indexOf('>', begin) - begin);
}

} // namespace

/// Our client and a real Postfix: TLS both ways, both log-ins; what comes out behind Dovecot's LMTP is what we meant.
/// The servers are started by the run script beside this file.
class InteropPostfix : public QObject
{
    Q_OBJECT

    QDir m_world{qEnvironmentVariable("SENDONCE_MAIL_WORLD")};

    SmtpSettings server(const char *scheme, const char *port, const QString &user = u"dana%40example.org"_s,
                        const QString &password = u"pass%20word%2F%C3%BC%25"_s, const QString &query = {}) const
    {
        Config config;
        config.mailUrl = QUrl(u"%1://%2:%3@127.0.0.1:%4%5"_s.arg(QString::fromLatin1(scheme), user, password,
                                                                 qEnvironmentVariable(port), query));
        config.mailCaFile = m_world.filePath(u"ca.pem"_s);
        return SmtpSettings::fromConfig(config).value();
    }
    SmtpSettings startTls() const { return server("smtp+starttls", "SENDONCE_STARTTLS_PORT"); }

    /// Everything delivered, by Message-ID; a mail that is there twice is in `copies` as well.
    QHash<QByteArray, QByteArray> delivered(QHash<QByteArray, int> *copies = nullptr) const
    {
        QHash<QByteArray, QByteArray> mails;
        const QDir folder(m_world.filePath(u"mail/Maildir/new"_s));
        for (const QString &name : folder.entryList(QDir::Files)) {
            QFile file(folder.filePath(name));
            if (!file.open(QIODevice::ReadOnly))
                continue;
            const QByteArray mail = ours(file.readAll());
            const QByteArray id = messageIdOf('\n' + mail);
            mails.insert(id, mail);
            if (copies)
                ++(*copies)[id];
        }
        return mails;
    }

    bool waitForDelivery(const QByteArrayList &ids) const
    {
        return QTest::qWaitFor(
            [&] {
                const auto mails = delivered();
                return std::all_of(ids.cbegin(), ids.cend(), [&](const QByteArray &id) { return mails.contains(id); });
            },
            QDeadlineTimer(Patience).remainingTime());
    }

    QByteArray dovecotLog() const
    {
        QFile file(m_world.filePath(u"dovecot.log"_s));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    SendResult send(const SmtpSettings &where, const MimeMessage &message) const
    {
        SmtpClient client(where);
        const std::atomic_bool stop = false;
        return client.send(message, {}, stop);
    }

    MimeMessage small(const QString &eventId) const
    {
        MailContent content = world::mailCases().first().second;
        content.eventId = eventId;
        return renderMail(content).value();
    }

private Q_SLOTS:
    void initTestCase()
    {
        QTest::failOnWarning(QRegularExpression(u".*"_s));
        QVERIFY2(qEnvironmentVariableIsSet("SENDONCE_MAIL_WORLD"), "start it by the run script beside it");
        // Both servers start on their own time.
        QVERIFY(QTest::qWaitFor([this] { return send(startTls(), small(u"first"_s)).status == Status::Sent; }, 10'000));
        QVERIFY2(waitForDelivery({small(u"first"_s).messageId.toLatin1()}), dovecotLog().constData());
    }

    void twoHundredMailsComeOutAsTheyWereMeant()
    {
        const auto cases = world::mailCases();
        QList<MailContent> contents;
        QList<MimeMessage> messages;
        QByteArrayList ids;
        for (int i = 0; i < MailCount; ++i) {
            MailContent content = cases[i % cases.size()].second;
            if (i >= cases.size() || content.eventId == cases.first().second.eventId)
                content.eventId = u"mail %1"_s.arg(i);
            contents.append(content);
            messages.append(renderMail(content).value());
            ids.append(messages.last().messageId.toLatin1());
        }

        QElapsedTimer time;
        time.start();
        SmtpClient client(startTls());
        const std::atomic_bool stop = false;
        for (int i = 0; i < MailCount; ++i) {
            const SendResult result = client.send(messages[i], {}, stop);
            QVERIFY2(result.status == Status::Sent && result.reply.startsWith(u"250 2.0.0 Ok: queued as"_s),
                     qPrintable(u"%1: %2"_s.arg(i).arg(result.text)));
        }
        client.close();
        qInfo("%d mails accepted after %lld ms", MailCount, time.elapsed());
        QVERIFY2(waitForDelivery(ids), dovecotLog().right(4000).constData());
        qInfo("and delivered after %lld ms", time.elapsed());

        world::PythonMail python;
        QVERIFY(python.start());
        const auto mails = delivered();
        for (int i = 0; i < MailCount; ++i) {
            const QJsonObject read = python.read(mails.value(ids[i]));
            QVERIFY2(!read.isEmpty(), python.error().constData());
            QCOMPARE(world::differences(read, contents[i], messages[i]), QStringList());
        }
        QVERIFY(python.end());
    }

    void hardBytesComeOutAsTheyAre_data()
    {
        QTest::addColumn<QByteArray>("body");
        QTest::newRow("998 octets") << QByteArray(998, 'x') + "\r\n" + QByteArray(998, 'y') + "\r\n";
        QTest::newRow("998 octets, a dot first") << "." + QByteArray(997, 'x') + "\r\n";
        QTest::newRow("dots") << QByteArray(".\r\n..\r\n...\r\n.x\r\n \r\n.\r\n");
        QTest::newRow("From") << QByteArray("From here\r\n>From there\r\n");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("empty lines") << QByteArray("\r\n\r\n\r\n");
        QTest::newRow("8 bit") << QByteArray("Gr\xc3\xbc\xc3\x9f"
                                             "e\r\n");
        QTest::newRow("blanks at the end") << QByteArray("a  \r\n\t\r\n");
    }

    void hardBytesComeOutAsTheyAre()
    {
        QFETCH(const QByteArray, body);
        MimeMessage message = small(u"bytes "_s + QString::fromLatin1(QTest::currentDataTag()));
        message.bytes = message.bytes.first(message.bytes.indexOf("\r\n\r\n") + 4) + body;
        message.bytes.replace("quoted-printable", body.contains('\xc3') ? "8bit" : "7bit");
        const SendResult result = send(startTls(), message);
        QVERIFY2(result.status == Status::Sent, qPrintable(result.text));
        const QByteArray id = message.messageId.toLatin1();
        QVERIFY2(waitForDelivery({id}), dovecotLog().right(4000).constData());
        QCOMPARE(delivered().value(id), QByteArray(message.bytes).replace("\r\n", "\n"));
    }

    void bothWaysToTlsAndBothLogInsWork_data()
    {
        QTest::addColumn<SmtpSettings>("where");
        for (const char *auth : {"plain", "login"}) {
            const QString query = u"?auth="_s + QString::fromLatin1(auth);
            QTest::addRow("STARTTLS, %s", auth) << server("smtp+starttls", "SENDONCE_STARTTLS_PORT",
                                                          u"dana%40example.org"_s, u"pass%20word%2F%C3%BC%25"_s, query);
            QTest::addRow("TLS, %s", auth)
                << server("smtps", "SENDONCE_TLS_PORT", u"dana%40example.org"_s, u"pass%20word%2F%C3%BC%25"_s, query);
        }
    }

    void bothWaysToTlsAndBothLogInsWork()
    {
        QFETCH(const SmtpSettings, where);
        const SendResult result = send(where, small(QString::fromLatin1(QTest::currentDataTag())));
        QVERIFY2(result.status == Status::Sent, qPrintable(result.text));
    }

    void whatPostfixRefusesIsNotSent()
    {
        const SendResult wrong =
            send(server("smtps", "SENDONCE_TLS_PORT", u"dana%40example.org"_s, u"hunter2hunter2"_s), small(u"wrong"_s));
        QCOMPARE(wrong.status, Status::NotSent);
        QVERIFY2(wrong.permanent && wrong.reply.startsWith(u"535 5.7.8"_s), qPrintable(wrong.text));
        QVERIFY(!wrong.text.contains(u"hunter2"_s));

        SmtpSettings nobody = server("smtps", "SENDONCE_TLS_PORT");
        nobody.user.clear();
        const SendResult stranger = send(nobody, small(u"stranger"_s));
        QCOMPARE(stranger.status, Status::NotSent);
        QVERIFY2(stranger.permanent && stranger.reply.startsWith(u"554 5.7.1"_s), qPrintable(stranger.text));

        SmtpSettings clear = startTls();
        clear.security = SmtpSecurity::Clear; // Postfix offers no AUTH before TLS
        const SendResult inClear = send(clear, small(u"clear"_s));
        QCOMPARE(inClear.status, Status::NotSent);
        QVERIFY2(inClear.text.contains(u"offers no log-in"_s), qPrintable(inClear.text));

        SmtpSettings stranger2 = server("smtps", "SENDONCE_TLS_PORT");
        stranger2.authorities.clear();
        const SendResult untrusted = send(stranger2, small(u"untrusted"_s));
        QCOMPARE(untrusted.status, Status::NotSent);
        QVERIFY2(untrusted.text.contains(u"nobody known here signed it"_s), qPrintable(untrusted.text));
    }

    /// What a deterministic Message-ID and the same bytes are for: a crash between the mail server's 250 and our COMMIT
    /// sends a mail again, and a receiver that suppresses duplicates shows it once.
    void theSameBytesTwiceAreOneMailForSieve()
    {
        const MimeMessage message = small(u"23e48c51-96a5-4fd4-8a1c-0b6f0f7b7d52 twice"_s);
        const MimeMessage other = small(u"another"_s);
        const QByteArray id = message.messageId.toLatin1();
        QCOMPARE(send(startTls(), message).status, Status::Sent);
        QVERIFY2(waitForDelivery({id}), dovecotLog().right(4000).constData());

        QCOMPARE(send(startTls(), message).status, Status::Sent);
        const auto dropped = [&] {
            const QByteArrayList lines = dovecotLog().split('\n');
            return std::any_of(lines.cbegin(), lines.cend(), [&](const QByteArray &line) {
                return line.contains("msgid=<" + id + '>') && line.contains("discard");
            });
        };
        QVERIFY2(QTest::qWaitFor(dropped, QDeadlineTimer(Patience).remainingTime()),
                 dovecotLog().right(4000).constData());
        QCOMPARE(send(startTls(), other).status, Status::Sent);
        QVERIFY(waitForDelivery({other.messageId.toLatin1()}));

        QHash<QByteArray, int> copies;
        (void)delivered(&copies);
        QCOMPARE(copies.value(id), 1);
        QCOMPARE(copies.value(other.messageId.toLatin1()), 1);
    }
};

QTEST_GUILESS_MAIN(InteropPostfix)
#include "interop_postfix.moc"
