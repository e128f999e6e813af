#pragma once

#include "worker/result.h"

#include <QByteArray>
#include <QByteArrayList>
#include <QString>

namespace sendonce {

/// One mail as the SMTP dialogue delivered it.
struct ReceivedMail
{
    QByteArray sender; ///< envelope, without brackets; empty for <>
    QByteArrayList recipients; ///< envelope, without brackets, at least one
    QByteArray bytes; ///< as received, dot-stuffing taken off

    bool operator==(const ReceivedMail &) const = default;
};

/// A Maildir that only grows: mails never leave new/. Blocking; one writer (local.lock sees to that).
/// A name is `<seconds>.M<microseconds, 6 digits>P<pid>.sendonce`; names sort by arrival, whatever the clock does.
class Maildir
{
public:
    explicit Maildir(const QString &path);

    /// Makes the folders that are missing (0700), empties tmp/. Io when that fails.
    Result<void> open();

    /// Stores durably: tmp/, fsync, rename to new/, fsync of new/. Returns the name. On an error nothing is left in
    /// new/. The file is a `Return-Path: <sender>` line, one `Delivered-To: recipient` line for each, then the bytes;
    /// 0600.
    Result<QString> store(const ReceivedMail &mail);

    QString path() const { return m_path; }

private:
    QString nextName();

    QString m_path;
    qint64 m_lastUsec = 0; ///< of the newest name, since the epoch
};

} // namespace sendonce
