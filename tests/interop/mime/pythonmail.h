#pragma once

#include "tests/world/mailcases.h"
#include "worker/mail/mimemessage.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>

namespace sendonce::world {

/// Python's email package as a reader of mails (parse.py). Needs SENDONCE_PYTHON and SENDONCE_SOURCE_DIR.
class PythonMail
{
public:
    bool start()
    {
        m_python.start(QStringLiteral(SENDONCE_PYTHON),
                       {QStringLiteral(SENDONCE_SOURCE_DIR "/tests/interop/mime/parse.py")});
        return m_python.waitForStarted();
    }

    /// What it reads in a mail; empty when it failed, which error() explains.
    QJsonObject read(const QByteArray &bytes)
    {
        m_python.write(bytes.toBase64() + '\n');
        while (!m_python.canReadLine()) {
            if (!m_python.waitForReadyRead(10'000))
                return {};
        }
        return QJsonDocument::fromJson(m_python.readLine()).object();
    }

    bool end()
    {
        m_python.closeWriteChannel();
        return m_python.waitForFinished() && m_python.exitCode() == 0;
    }

    QByteArray error() { return m_python.readAllStandardError(); }

private:
    QProcess m_python;
};

/// Where what was read is not what was meant, one line each.
inline QStringList differences(const QJsonObject &read, const MailContent &content, const MimeMessage &message)
{
    using namespace Qt::StringLiterals;
    QStringList found;
    const auto compare = [&](const QString &name, const QJsonValue &expected) {
        if (read.value(name) != expected)
            found.append(u"%1: %2, not %3"_s.arg(name, read.value(name).toVariant().toString(),
                                                 expected.toVariant().toString()));
    };
    if (read.value(u"defects"_s) != QJsonArray())
        found.append(u"defects"_s);
    compare(u"fromName"_s, content.from.name);
    compare(u"fromAddress"_s, message.sender);
    compare(u"toName"_s, content.to.name);
    compare(u"toAddress"_s, message.recipient);
    compare(u"recipients"_s, 1);
    compare(u"subject"_s, content.subject);
    compare(u"event"_s, content.eventId);
    compare(u"messageId"_s, u'<' + message.messageId + u'>');
    compare(u"date"_s, content.date.toSecsSinceEpoch());
    compare(u"type"_s, content.html.isEmpty() ? u"text/plain"_s : u"multipart/alternative"_s);
    compare(u"text"_s, asRead(content.text));
    if (!content.html.isEmpty())
        compare(u"html"_s, asRead(content.html));
    return found;
}

} // namespace sendonce::world
