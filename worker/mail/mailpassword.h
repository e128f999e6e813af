#pragma once

#include "worker/result.h"

#include <QString>

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

    explicit MailPassword(Source source);
    explicit MailPassword(const QString &fixed);

    /// The password; blocks while its source is asked, here or for another lane, as long as `goOn` says true.
    Result<QString> get(const std::function<bool()> &goOn);

    /// The server took it for wrong: the source is asked anew, unless another lane has done so already.
    void refused(const QString &password);

private:
    const Source m_source;
    std::timed_mutex m_mutex;
    QString m_password;
    bool m_known = false;
};

} // namespace sendonce
