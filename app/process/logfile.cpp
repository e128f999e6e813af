#include "app/process/logfile.h"

#include <QDir>

#include <cstdio>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qint64 MaxBytes = 8 * 1024 * 1024;
constexpr int Kept = 4;

QString levelName(LogLevel level)
{
    switch (level) {
    case LogLevel::Debug:
        return u"DEBUG"_s;
    case LogLevel::Info:
        return u"INFO"_s;
    case LogLevel::Warning:
        return u"WARNING"_s;
    case LogLevel::Error:
        return u"ERROR"_s;
    }
    return {};
}

/// "2026-12-01T14:05:41.123Z"; the seconds are written anew only when they change.
QString timeText(const QDateTime &at)
{
    thread_local qint64 second = -1;
    thread_local QString text;
    const qint64 msecs = at.toMSecsSinceEpoch();
    if (msecs / 1000 != second || text.isEmpty()) {
        second = msecs / 1000;
        text = at.toUTC().toString(u"yyyy-MM-ddTHH:mm:ss."_s);
    }
    const int rest = int(msecs % 1000);
    QString result = text;
    result += QChar(u'0' + rest / 100);
    result += QChar(u'0' + rest / 10 % 10);
    result += QChar(u'0' + rest % 10);
    result += u'Z';
    return result;
}

} // namespace

LogFile::LogFile(const QString &dataDir, Echo echo, QObject *parent)
    : QObject(parent)
    , m_file(dataDir + u"/logs/sendonce.log"_s)
    , m_echo(echo)
{
    QDir().mkpath(dataDir + u"/logs"_s);
    // Unwritable: the window and stderr still show every line, and the path says where it would have been.
    if (m_file.open(QIODevice::WriteOnly | QIODevice::Append | QIODevice::Unbuffered))
        m_size = m_file.size();
    m_soon.setSingleShot(true);
    m_soon.setInterval(0);
    connect(&m_soon, &QTimer::timeout, this, &LogFile::flush);
}

LogFile::~LogFile()
{
    flush();
}

QString LogFile::format(const LogLine &line)
{
    return timeText(line.at) + u' ' + levelName(line.level) + u' ' + line.text;
}

void LogFile::write(const LogLine &line)
{
    m_pending += format(line).toUtf8();
    m_pending += '\n';
    if (line.level == LogLevel::Warning || line.level == LogLevel::Error)
        flush();
    else if (!m_soon.isActive())
        m_soon.start();
}

void LogFile::flush()
{
    if (m_pending.isEmpty())
        return;
    if (m_echo == Echo::Stderr)
        std::fwrite(m_pending.constData(), 1, size_t(m_pending.size()), stderr);
    if (m_file.isOpen()) {
        m_file.write(m_pending);
        m_size += m_pending.size();
        if (m_size > MaxBytes)
            rotate();
    }
    m_pending.clear();
}

void LogFile::rotate()
{
    const QString name = m_file.fileName();
    m_file.close();
    QFile::remove(u"%1.%2"_s.arg(name, QString::number(Kept)));
    for (int i = Kept - 1; i >= 1; --i)
        QFile::rename(u"%1.%2"_s.arg(name, QString::number(i)), u"%1.%2"_s.arg(name, QString::number(i + 1)));
    QFile::rename(name, name + u".1"_s);
    m_file.setFileName(name);
    m_file.open(QIODevice::WriteOnly | QIODevice::Append | QIODevice::Unbuffered);
    m_size = 0;
}

} // namespace sendonce
