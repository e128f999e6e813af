#pragma once

#include "worker/types.h"

#include <QFile>
#include <QObject>

namespace sendonce {

/// `<dataDir>/logs/sendonce.log`, one line per entry, UTC; at 8 MiB it becomes sendonce.log.1 … .4. Lives where the
/// lines come from.
class LogFile : public QObject
{
    Q_OBJECT
public:
    explicit LogFile(const QString &dataDir, QObject *parent = nullptr);

    QString path() const { return m_file.fileName(); }
    /// "2026-12-01T14:05:41.123Z INFO text", without a line end.
    static QString format(const LogLine &line);

public Q_SLOTS:
    void write(const sendonce::LogLine &line);

private:
    void rotate();

    QFile m_file;
};

} // namespace sendonce
