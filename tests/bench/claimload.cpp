#include "worker/store/claimsession.h"

#include <QUuid>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

using namespace sendonce;
using namespace Qt::StringLiterals;

/// claimload DATABASE_URL COUNT [ahead]: a lane's transaction on PostgreSQL, one after the other; prints its
/// milliseconds. `ahead`: each COMMIT together with the next claim, as a lane under load does it.
int main(int argc, char **argv)
{
    if (argc < 3 || argc > 4)
        return 2;
    const bool isAhead = argc == 4;
    const auto url = DatabaseUrl::parse(QString::fromLocal8Bit(argv[1]));
    const int count = std::atoi(argv[2]);
    if (!url || count < 1)
        return 2;
    const auto session = ClaimSession::make(
        {url.value(), std::chrono::seconds(24), std::chrono::seconds(70), std::make_shared<std::atomic_bool>(false)});
    const QString lookup =
        u"SELECT application.id AS application_id, auth_user.id AS user_id, auth_user.username AS username, "
        "auth_user.first_name AS first_name, auth_user.last_name AS last_name, auth_user.email AS email, "
        "job.title AS job_title, company.name AS company_name FROM jobs_application AS application "
        "JOIN jobs_job AS job ON job.id = application.job_id JOIN jobs_company AS company ON company.id = "
        "job.company_id "
        "JOIN jobs_candidate AS candidate ON candidate.id = application.candidate_id "
        "JOIN auth_user ON auth_user.id = candidate.user_id WHERE application.id = :application_id"_s;
    constexpr int WarmUp = 50;
    const auto requestOf = [&lookup](int i) {
        return ClaimRequest{QUuid::createUuid().toString(QUuid::WithoutBraces),
                            u"application.status_changed"_s,
                            djangoTime(nowUsecs()),
                            QByteArray(32, 'h'),
                            lookup,
                            {{u"application_id"_s, qint64(51 + (i + WarmUp) % 500)}}};
    };
    auto start = std::chrono::steady_clock::now();
    ClaimRequest next = requestOf(-WarmUp);
    for (int i = -WarmUp; i < count; ++i) {
        if (i == 0)
            start = std::chrono::steady_clock::now();
        const ClaimRequest request = std::exchange(next, requestOf(i + 1));
        const auto begun = session->begin();
        const auto claimed = begun ? session->claim(request) : Result<ProcessedEvents::Claim>(begun.error());
        const auto row = claimed ? session->lookUp(request) : Result<ClaimSession::Row>(claimed.error());
        const auto committed = !row    ? Result<void>(row.error())
            : isAhead && i + 1 < count ? session->commitAndClaim(next)
                                       : session->commit();
        if (!committed || !row->has_value()) {
            std::fprintf(stderr, "%s\n", committed ? "no such application" : qPrintable(committed.error().text));
            return 1;
        }
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    std::printf("%.3f\n", took.count() / count);
    return 0;
}
