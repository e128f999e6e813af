#pragma once

#include "worker/types.h"

#include <QByteArray>
#include <QFile>
#include <QObject>
#include <QTimer>

namespace sendonce {

/// `<dataDir>/logs/sendonce.log`, one line per entry, UTC; at 8 MiB it becomes sendonce.log.1 … .4. Lives where the
/// lines come from. Lines of one turn of the event loop are written together; a warning or an error at once, with what
/// came before it.
class LogFile : public QObject
{
    Q_OBJECT
public:
    enum class Echo { No, Stderr };
    explicit LogFile(const QString &dataDir, Echo echo = Echo::No, QObject *parent = nullptr);
    ~LogFile() override;

    QString path() const { return m_file.fileName(); }
    /// "2026-12-01T14:05:41.123Z INFO text", without a line end.
    static QString format(const LogLine &line);

public Q_SLOTS:
    void write(const sendonce::LogLine &line);

private:
    void flush();
    void rotate();

    QFile m_file;
    const Echo m_echo;
    qint64 m_size = 0; ///< of the file
    QByteArray m_pending;
    QTimer m_soon;
};

} // namespace sendonce
