#include "worker/queue/retrypolicy.h"

#include <QStringList>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce::retrypolicy {

namespace {

constexpr int Cost = 5;
constexpr int TimeOutCost = 10;
constexpr int Reward = 1;
constexpr int LongestWaitInSteps = 20;

/// What botocore retries whatever status it comes with, and SQS's own for a throttled key service.
bool isRetryableCode(const QString &code)
{
    static const QStringList codes = {u"Throttling"_s,
                                      u"ThrottlingException"_s,
                                      u"ThrottledException"_s,
                                      u"RequestThrottled"_s,
                                      u"RequestThrottledException"_s,
                                      u"TooManyRequestsException"_s,
                                      u"RequestLimitExceeded"_s,
                                      u"SlowDown"_s,
                                      u"BandwidthLimitExceeded"_s,
                                      u"LimitExceededException"_s,
                                      u"PriorRequestNotComplete"_s,
                                      u"ProvisionedThroughputExceededException"_s,
                                      u"TransactionInProgressException"_s,
                                      u"EC2ThrottledException"_s,
                                      u"RequestTimeout"_s,
                                      u"RequestTimeoutException"_s,
                                      u"KmsThrottled"_s};
    return codes.contains(code);
}

} // namespace

bool Bucket::take(int tokens)
{
    if (tokens > m_tokens)
        return false;
    m_tokens -= tokens;
    return true;
}

void Bucket::giveBack(int tokens)
{
    m_tokens = std::min(Capacity, m_tokens + tokens);
}

bool isRetryable(const Failure &failure)
{
    if (isRetryableCode(failure.error.code))
        return true;
    if (failure.timedOut)
        return true;
    switch (failure.status) {
    case 500:
    case 502:
    case 503:
    case 504:
        return true;
    default:
        return failure.status == 0 && failure.error.kind == ErrorKind::Unreachable;
    }
}

std::optional<Retry> decide(int attempt, const Failure &failure, Bucket &bucket, double random, const Rules &rules)
{
    if (attempt >= rules.maxAttempts || !isRetryable(failure))
        return std::nullopt;
    const int tokens = failure.timedOut ? TimeOutCost : Cost;
    if (!bucket.take(tokens))
        return std::nullopt;
    const int steps = attempt > 5 ? LongestWaitInSteps : std::min(1 << (attempt - 1), LongestWaitInSteps);
    const double wait = std::clamp(random, 0.0, 1.0) * double(rules.step.count()) * steps;
    return Retry{std::chrono::milliseconds(qint64(wait)), tokens};
}

void succeeded(Bucket &bucket, int taken)
{
    bucket.giveBack(taken > 0 ? taken : Reward);
}

} // namespace sendonce::retrypolicy
