#pragma once

#include "worker/types.h"

#include <QObject>
#include <QTimer>

#include <chrono>

namespace sendonce {

/// While the queue refuses our keys, nothing is asked of it but one try at a time: by itself after a minute, sooner
/// when one of AWS's files has changed or when somebody says so. Says when; knows no queue. Lives in the worker thread.
class KeyPause : public QObject
{
    Q_OBJECT
public:
    struct Pace
    {
        std::chrono::milliseconds between{60'000}; ///< two tries that nobody asked for
        std::chrono::milliseconds look{2'000}; ///< at the files
    };

    /// \param files whose change makes a try worth while; none of them has to be there
    explicit KeyPause(QStringList files, QObject *parent = nullptr);
    KeyPause(QStringList files, Pace pace, QObject *parent = nullptr);

    /// The keys are refused: for the first time, or again in a try.
    void refused();
    void end(); ///< they are accepted, or nobody is interested any more
    /// Now. Nothing when not paused, or while a try is under way.
    void tryNow();

    bool isPaused() const { return m_paused; }
    bool isTrying() const { return m_trying; }
    QDateTime nextTry() const { return m_nextTry; } ///< UTC; invalid: not paused, or trying

Q_SIGNALS:
    void due(); ///< try now, then call refused() or end()

private:
    QString look() const;
    void lookAgain();

    const QStringList m_files;
    const Pace m_pace;
    QTimer m_again;
    QTimer m_look;
    QString m_seen;
    QDateTime m_nextTry;
    bool m_paused = false;
    bool m_trying = false;
};

} // namespace sendonce
