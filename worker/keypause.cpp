#include "worker/keypause.h"

#include <QFileInfo>

namespace sendonce {

using namespace Qt::StringLiterals;

KeyPause::KeyPause(QStringList files, QObject *parent) : KeyPause(std::move(files), Pace(), parent) { }

KeyPause::KeyPause(QStringList files, Pace pace, QObject *parent)
    : QObject(parent)
    , m_files(std::move(files))
    , m_pace(pace)
{
    m_again.setSingleShot(true);
    m_again.setInterval(m_pace.between);
    m_look.setInterval(m_pace.look);
    connect(&m_again, &QTimer::timeout, this, &KeyPause::tryNow);
    connect(&m_look, &QTimer::timeout, this, &KeyPause::lookAgain);
}

void KeyPause::refused()
{
    if (!m_paused)
        m_seen = look(); // what is in them by now has been tried
    m_paused = true;
    m_trying = false;
    m_nextTry = QDateTime::currentDateTimeUtc().addMSecs(m_pace.between.count());
    m_again.start();
    if (!m_files.isEmpty())
        m_look.start();
}

void KeyPause::end()
{
    m_paused = false;
    m_trying = false;
    m_nextTry = {};
    m_again.stop();
    m_look.stop();
}

void KeyPause::tryNow()
{
    if (!m_paused || m_trying)
        return;
    m_trying = true;
    m_nextTry = {};
    m_again.stop();
    m_look.stop();
    m_seen = look(); // before they are read: what is written from now on is another reason to try
    Q_EMIT due();
}

/// A look at the folder, not into the files: time and size tell a change, whoever makes it and however.
QString KeyPause::look() const
{
    QString seen;
    for (const QString &path : m_files) {
        const QFileInfo file(path);
        seen += u"%1 %2 "_s.arg(file.exists() ? file.lastModified().toMSecsSinceEpoch() : -1).arg(file.size());
    }
    return seen;
}

void KeyPause::lookAgain()
{
    if (look() != m_seen)
        tryNow();
}

} // namespace sendonce
