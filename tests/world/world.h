#pragma once

#include <QJsonObject>
#include <QList>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTemporaryDir>

#include <memory>

namespace sendonce::world {

/// How a program ended and what it said.
struct Ended
{
    int exitCode = -1;
    bool killed = false; ///< by a signal
    QString out, err;

    QStringList lines() const { return out.split(u'\n', Qt::SkipEmptyParts); } ///< on stdout
    /// Of a line on stdout; empty when there is none, or it is no object.
    QJsonObject json(int line) const;
    /// The last line on stdout: "sent 1, skipped 0, failed 0, in doubt 0".
    QString lastLine() const;
    bool logged(const QString &level, const QString &text) const;
};

/// The embedded services of a folder of their own, run by the true `sendoncectl local` in a process of its own, and the
/// other subcommands on them, or what needs no services without start(). Everything on 127.0.0.1, ports free ones,
/// files gone at the end.
class World
{
public:
    World();
    ~World();

    /// False when `local` does not come up; why() says what it printed.
    bool start(int visibilitySeconds = 1, int maxReceiveCount = 3);
    QString why() const { return m_why; }
    void killServices(); ///< kill -9; start() again uses the same folder
    void stopServices(); ///< SIGTERM
    qint64 servicesPid() const { return m_services ? m_services->processId() : 0; }

    /// Runs a subcommand to its end, with the services' environment, in folder().
    Ended ctl(const QStringList &words, int timeoutMsec = 60'000) const;
    std::unique_ptr<QProcess> spawn(const QStringList &words) const;
    static Ended wait(QProcess &process, int timeoutMsec = 60'000);

    QList<QJsonObject> mails() const; ///< sendoncectl mail list --json
    QList<QJsonObject> events() const;
    QList<QJsonObject> deadLetters() const;
    qsizetype mailsOf(const QString &eventId) const;

    QString folder() const { return m_dir.path(); } ///< the home of its processes
    QString path(const QString &name) const { return m_dir.filePath(name); }
    QString dataDir() const { return m_dir.path() + QStringLiteral("/data"); }
    QString variable(const QString &name) const { return m_environment.value(name); }
    void setVariable(const QString &name, const QString &value)
    {
        m_environment.insert(name, value);
    } ///< behind start()
    QString controlSocket() const; ///< from local.json

private:
    QList<QJsonObject> list(const QStringList &words) const;

    QTemporaryDir m_dir;
    QProcessEnvironment m_environment;
    std::unique_ptr<QProcess> m_services;
    QString m_why;
};

} // namespace sendonce::world
