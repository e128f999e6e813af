#include "app/process/logfile.h"

#include <QDir>

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

} // namespace

LogFile::LogFile(const QString &dataDir, QObject *parent) : QObject(parent), m_file(dataDir + u"/logs/sendonce.log"_s)
{
    QDir().mkpath(dataDir + u"/logs"_s);
    // Unwritable: the window and stderr still show every line, and the path says where it would have been.
    m_file.open(QIODevice::WriteOnly | QIODevice::Append);
}

QString LogFile::format(const LogLine &line)
{
    return line.at.toString(u"yyyy-MM-ddTHH:mm:ss.zzzZ"_s) + u' ' + levelName(line.level) + u' ' + line.text;
}

void LogFile::write(const LogLine &line)
{
    if (!m_file.isOpen())
        return;
    m_file.write(format(line).toUtf8() + '\n');
    m_file.flush();
    if (m_file.size() > MaxBytes)
        rotate();
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
    m_file.open(QIODevice::WriteOnly | QIODevice::Append);
}

} // namespace sendonce
