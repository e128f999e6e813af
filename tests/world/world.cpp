#include "tests/world/world.h"

#include <QFile>
#include <QJsonDocument>
#include <QRegularExpression>

#include <algorithm>

namespace sendonce::world {

using namespace Qt::StringLiterals;

namespace {

const QString Ctl = QStringLiteral(SENDONCE_BIN_DIR) + u"/sendoncectl"_s;

} // namespace

QJsonObject Ended::json(int line) const
{
    return QJsonDocument::fromJson(lines().value(line).toUtf8()).object();
}

QString Ended::lastLine() const
{
    return out.trimmed().section(u'\n', -1);
}

bool Ended::logged(const QString &level, const QString &text) const
{
    const QStringList lines = err.split(u'\n');
    return std::any_of(lines.cbegin(), lines.cend(), [&](const QString &line) {
        return line.section(u' ', 1, 1) == level && line.section(u' ', 2).contains(text);
    });
}

World::World()
{
    // Nothing of the person who runs the tests: no home, no AWS files, no settings.
    const QProcessEnvironment own = QProcessEnvironment::systemEnvironment();
    for (const QString &name :
         {u"PATH"_s, u"LC_ALL"_s, u"TZ"_s, u"ASAN_OPTIONS"_s, u"UBSAN_OPTIONS"_s, u"LSAN_OPTIONS"_s}) {
        if (own.contains(name))
            m_environment.insert(name, own.value(name));
    }
    m_environment.insert(u"HOME"_s, m_dir.path());
    m_environment.insert(u"XDG_RUNTIME_DIR"_s, m_dir.path());
    m_environment.insert(u"SENDONCE_DATA_DIR"_s, dataDir());
}

World::~World()
{
    killServices();
}

bool World::start(int visibilitySeconds, int maxReceiveCount)
{
    m_services =
        spawn({u"local"_s, u"--sqs-port"_s, u"0"_s, u"--smtp-port"_s, u"0"_s, u"--visibility-timeout"_s,
               QString::number(visibilitySeconds), u"--max-receive-count"_s, QString::number(maxReceiveCount)});
    QString said;
    while (!said.endsWith("\nready\n"_L1)) {
        if (!m_services->waitForReadyRead(30'000)) {
            m_why = said + QString::fromUtf8(m_services->readAllStandardError());
            return false;
        }
        said += QString::fromUtf8(m_services->readAllStandardOutput());
    }
    static const QRegularExpression Export(u"^export ([A-Z_]+)='(.*)'$"_s, QRegularExpression::MultilineOption);
    auto matches = Export.globalMatch(said);
    while (matches.hasNext()) {
        const auto match = matches.next();
        m_environment.insert(match.captured(1), match.captured(2));
    }
    return true;
}

void World::killServices()
{
    if (!m_services)
        return;
    m_services->kill();
    m_services->waitForFinished();
    m_services.reset();
}

void World::stopServices()
{
    if (!m_services)
        return;
    m_services->terminate();
    m_services->waitForFinished();
    m_services.reset();
}

std::unique_ptr<QProcess> World::spawn(const QStringList &words) const
{
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(m_environment);
    process->setWorkingDirectory(m_dir.path());
    process->start(Ctl, words);
    return process;
}

Ended World::wait(QProcess &process, int timeoutMsec)
{
    Ended ended;
    if (!process.waitForFinished(timeoutMsec)) {
        process.kill();
        process.waitForFinished();
        ended.err = u"did not end in time; "_s;
    }
    ended.killed = process.exitStatus() == QProcess::CrashExit;
    ended.exitCode = process.exitCode();
    ended.out = QString::fromUtf8(process.readAllStandardOutput());
    ended.err += QString::fromUtf8(process.readAllStandardError());
    return ended;
}

Ended World::ctl(const QStringList &words, int timeoutMsec) const
{
    const auto process = spawn(words);
    return wait(*process, timeoutMsec);
}

QList<QJsonObject> World::list(const QStringList &words) const
{
    const Ended ended = ctl(words + QStringList{u"--json"_s});
    QList<QJsonObject> rows;
    for (const QString &line : ended.out.split(u'\n', Qt::SkipEmptyParts))
        rows.append(QJsonDocument::fromJson(line.toUtf8()).object());
    return rows;
}

QList<QJsonObject> World::mails() const
{
    return list({u"mail"_s, u"list"_s, u"--limit"_s, u"10000"_s});
}

QList<QJsonObject> World::events() const
{
    return list({u"events"_s, u"list"_s, u"--limit"_s, u"10000"_s});
}

QList<QJsonObject> World::deadLetters() const
{
    return list({u"dlq"_s, u"list"_s});
}

qsizetype World::mailsOf(const QString &eventId) const
{
    const auto all = mails();
    return std::count_if(all.cbegin(), all.cend(), [&eventId](const QJsonObject &mail) {
        return mail.value("eventId"_L1).toString() == eventId;
    });
}

QString World::controlSocket() const
{
    QFile file(dataDir() + u"/local.json"_s);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return QJsonDocument::fromJson(file.readAll()).object().value("controlSocket"_L1).toString();
}

} // namespace sendonce::world
