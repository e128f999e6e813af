#pragma once

#include "worker/result.h"

#include <chrono>
#include <optional>

/// Whether a failed request is sent again and when: the mode that AWS's SDKs call "standard", pure. sqs.md, section 14.
namespace sendonce::retrypolicy {

/// What is left for retries of all calls of one client, so that an outage does not multiply the requests: every retry
/// takes tokens, every success gives some back.
class Bucket
{
public:
    static constexpr int Capacity = 500;

    bool take(int tokens); ///< all of them or none
    void giveBack(int tokens); ///< never fills beyond Capacity
    int tokens() const { return m_tokens; }

private:
    int m_tokens = Capacity;
};

/// One attempt that failed.
struct Failure
{
    Error error;
    int status = 0; ///< of HTTP; 0: no whole reply
    bool timedOut = false;
};

struct Rules
{
    int maxAttempts = 3; ///< with the first one
    std::chrono::milliseconds step{1'000}; ///< upper limit of the first wait; each further one doubles it, up to 20
};

struct Retry
{
    std::chrono::milliseconds wait;
    int tokens; ///< taken from the bucket, to give back when the call succeeds in the end
};

/// By the service's code first (throttling comes as 400 and 403), then no connection or no reply, then 500, 502, 503
/// and 504. What is wrong with the request, with the credentials or with the protocol stays wrong.
bool isRetryable(const Failure &failure);

/// Nothing: give up, because it is of no use, was tried often enough, or the bucket is too empty.
/// \param attempt that failed, 1 for the first
/// \param random from 0 to 1, full jitter
std::optional<Retry> decide(int attempt, const Failure &failure, Bucket &bucket, double random, const Rules &rules);

/// After a success. \param taken by the call's last retry; 0: there was none
void succeeded(Bucket &bucket, int taken);

} // namespace sendonce::retrypolicy
