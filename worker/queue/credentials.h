#pragma once

#include "worker/config.h"
#include "worker/queue/keyfetch.h"
#include "worker/result.h"

#include <QDateTime>
#include <QObject>

#include <chrono>
#include <memory>
#include <optional>

namespace sendonce {

class HttpClient;

/// The keys of one client and their renewal; lives in its thread, is its child. Each client has its own, so that
/// nothing is locked: a worker's two or three clients each run a credential_process once an hour, which is what AWS's
/// own tools do at every call.
///
/// Keys that came from AWS's settings are renewed from there: the files are read anew (a tool may have written new keys
/// into them), the program is run again, the roles are assumed again. Keys without an origin stay as they are.
class Credentials final : public QObject
{
    Q_OBJECT
public:
    /// \param http for STS; must outlive this
    Credentials(AwsCredentials configured, HttpClient *http, QObject *parent);
    ~Credentials() override;

    const AwsCredentials &keys() const { return m_keys; }
    /// There are some, and they have not expired.
    bool areUsable(const QDateTime &now) const;
    /// Usable, and not within 5 min of their end (unless renewing them was tried in the last 30 s).
    bool areFresh(const QDateTime &now) const;
    bool canBeRenewed() const { return m_configured.origin != nullptr; }
    /// Whatever they are, they are renewed before the next use: a person says that they have put it right.
    void distrust() { m_distrusted = canBeRenewed(); }
    /// Starts a renewal unless one is under way already; renewalEnded() comes in any case, later.
    void renew();
    /// Why the last renewal got no keys.
    const std::optional<Error> &problem() const { return m_problem; }
    const QString &remedy() const { return m_remedy; } ///< for keys that the service does not accept

Q_SIGNALS:
    void renewalEnded();

private:
    void look();
    void take(const awskeys::TimedKeys &found);
    void end(const std::optional<Error> &problem);

    const AwsCredentials m_configured;
    HttpClient *m_http;
    AwsCredentials m_keys;
    QDateTime m_expiration; ///< invalid: none is known
    QDateTime m_quietUntil; ///< no renewal of usable keys before
    QString m_remedy;
    std::optional<Error> m_problem;
    bool m_renewing = false;
    bool m_distrusted = false;
    std::unique_ptr<KeyFetch> m_fetch;
};

} // namespace sendonce
