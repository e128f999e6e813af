#include "tests/world/mailcases.h"
#include "worker/mail/mimemessage.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

/// Python's email package reads our mails as we meant them.
class InteropMime : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QTest::failOnWarning(QRegularExpression(u".*"_s));
        m_python.start(QStringLiteral(SENDONCE_PYTHON),
                       {QStringLiteral(SENDONCE_SOURCE_DIR "/tests/interop/mime/parse.py")});
        QVERIFY(m_python.waitForStarted());
    }

    void cleanupTestCase()
    {
        m_python.closeWriteChannel();
        QVERIFY(m_python.waitForFinished());
        QCOMPARE(m_python.exitCode(), 0);
    }

    void pythonReadsTheSame_data()
    {
        QTest::addColumn<int>("index");
        const auto cases = world::mailCases();
        for (int i = 0; i < cases.size(); ++i)
            QTest::newRow(cases[i].first.constData()) << i;
    }

    void pythonReadsTheSame()
    {
        QFETCH(const int, index);
        const MailContent content = world::mailCases()[index].second;
        const MimeMessage message = renderMail(content).value();
        m_python.write(message.bytes.toBase64() + '\n');
        while (!m_python.canReadLine())
            QVERIFY2(m_python.waitForReadyRead(10'000), m_python.readAllStandardError().constData());
        const QJsonObject read = QJsonDocument::fromJson(m_python.readLine()).object();

        QCOMPARE(read.value(u"defects"_s).toArray(), QJsonArray());
        QCOMPARE(read.value(u"fromName"_s).toString(), content.from.name);
        QCOMPARE(read.value(u"fromAddress"_s).toString(), message.sender);
        QCOMPARE(read.value(u"toName"_s).toString(), content.to.name);
        QCOMPARE(read.value(u"toAddress"_s).toString(), message.recipient);
        QCOMPARE(read.value(u"recipients"_s).toInt(), 1);
        QCOMPARE(read.value(u"subject"_s).toString(), content.subject);
        QCOMPARE(read.value(u"event"_s).toString(), content.eventId);
        QCOMPARE(read.value(u"messageId"_s).toString(), u'<' + message.messageId + u'>');
        QCOMPARE(read.value(u"date"_s).toInteger(), content.date.toSecsSinceEpoch());
        QCOMPARE(read.value(u"type"_s).toString(),
                 content.html.isEmpty() ? u"text/plain"_s : u"multipart/alternative"_s);
        QCOMPARE(read.value(u"text"_s).toString(), world::asRead(content.text));
        if (!content.html.isEmpty())
            QCOMPARE(read.value(u"html"_s).toString(), world::asRead(content.html));
    }

private:
    QProcess m_python;
};

QTEST_GUILESS_MAIN(InteropMime)
#include "interop_mime.moc"
