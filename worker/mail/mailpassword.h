#pragma once

#include "worker/result.h"

#include <QDeadlineTimer>
#include <QString>

#include <chrono>
#include <functional>
#include <mutex>

namespace sendonce {

/// A mail server's password (or OAuth token), as whatever keeps it gives it: a setting, a command of the user's, a
/// keychain. Asked for before the first log-in and again after the server refused it, so that a token that ran out is
/// replaced. One for all lanes of a worker, so that one command runs and not thirty-two: thread-safe.
class MailPassword
{
public:
    /// Blocks; ends soon, with an error of kind Aborted, once `goOn` says false. No error's text holds the secret.
    using Source = std::function<Result<QString>(const std::function<bool()> &goOn)>;

    /// \param quietTime how long one that was refused is not tried again: servers lock an account that tries too often
    explicit MailPassword(Source source, std::chrono::milliseconds quietTime = std::chrono::seconds(30));
    explicit MailPassword(const QString &fixed);

    /// Whose it is ("user@host"), where the source is the last resort and a person may be asked in its place; empty: no
    /// need. Set before any lane knows this.
    void setAskable(const QString &account) { m_askable = account; }
    const QString &askable() const { return m_askable; }

    /// The password; blocks while its source is asked, here or for another lane, as long as `goOn` says true. Refused
    /// while the source still gives one that the server has just refused.
    Result<QString> get(const std::function<bool()> &goOn);

    /// The server took it for wrong: the source is asked anew, unless another lane has done so already.
    void refused(const QString &password);

private:
    const Source m_source;
    const std::chrono::milliseconds m_quietTime;
    QString m_askable;
    std::timed_mutex m_mutex;
    QString m_password;
    bool m_known = false;
    QString m_refused; ///< the last one
    QDeadlineTimer m_quiet = QDeadlineTimer(0); ///< until it may be tried again
};

} // namespace sendonce
