#include "worker/queue/credentials.h"

#include "worker/queue/awscredentials.h"

#include <QTimer>

using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr qint64 RenewBeforeSecs = 5 * 60; // as the JavaScript SDK
constexpr qint64 QuietSecs = 30;
constexpr auto StepLimit = 60s; // programs may have to reach a sign-on server themselves

} // namespace

Credentials::Credentials(AwsCredentials configured, HttpClient *http, QObject *parent)
    : QObject(parent)
    , m_configured(std::move(configured))
    , m_http(http)
    , m_keys(m_configured)
    , m_expiration(m_configured.origin ? m_configured.origin->expiration : QDateTime())
    , m_remedy(m_configured.origin ? m_configured.origin->remedy : u"check the access key"_s)
{ }

Credentials::~Credentials() = default;

bool Credentials::areUsable(const QDateTime &now) const
{
    if (!canBeRenewed())
        return true; // dummies too, and none at all: emulators take anything
    return !m_keys.accessKeyId.isEmpty() && (!m_expiration.isValid() || now < m_expiration);
}

bool Credentials::areFresh(const QDateTime &now) const
{
    if (m_distrusted || !areUsable(now))
        return false;
    return !m_expiration.isValid() || now < m_expiration.addSecs(-RenewBeforeSecs)
        || (m_quietUntil.isValid() && now < m_quietUntil);
}

void Credentials::renew()
{
    if (m_renewing)
        return;
    m_renewing = true;
    QTimer::singleShot(0, this, &Credentials::look);
}

void Credentials::look()
{
    if (!canBeRenewed()) {
        end(std::nullopt);
        return;
    }
    const AwsKeyOrigin &origin = *m_configured.origin;
    auto settings = resolveAws(origin.environment, origin.profile, readAwsFiles(origin.environment));
    if (!settings) {
        end(Error{ErrorKind::Refused, u"no AWS credentials: "_s + settings.error().text, {}});
        return;
    }
    if (!settings->plan) {
        QString text = u"there are no AWS credentials any more"_s;
        if (!settings->credentialsProblem.isEmpty())
            text = u"no AWS credentials: "_s + settings->credentialsProblem;
        end(Error{ErrorKind::Refused, text, {}});
        return;
    }
    const AwsKeyPlan &plan = *settings->plan;
    m_remedy = plan.remedy;
    if (plan.isFixed()) {
        take({plan.keys, plan.expiration});
        return;
    }
    m_fetch = std::make_unique<KeyFetch>(plan, m_http, StepLimit, nullptr);
    m_fetch->start([this](const Result<awskeys::TimedKeys> &result) {
        m_fetch.release()->deleteLater(); // it is still at work
        if (result)
            take(result.value());
        else
            end(result.error());
    });
}

void Credentials::take(const awskeys::TimedKeys &found)
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    if (found.expiration.isValid() && found.expiration <= now) {
        end(Error{ErrorKind::Refused,
                  u"the AWS credentials expired at %1; %2"_s.arg(found.expiration.toString(Qt::ISODate), m_remedy),
                  {}});
        return;
    }
    m_keys = found.keys;
    m_keys.origin = m_configured.origin;
    m_expiration = found.expiration;
    end(std::nullopt);
}

void Credentials::end(const std::optional<Error> &problem)
{
    m_problem = problem;
    m_distrusted = false;
    m_quietUntil = QDateTime::currentDateTimeUtc().addSecs(QuietSecs);
    m_renewing = false;
    Q_EMIT renewalEnded();
}

} // namespace sendonce
