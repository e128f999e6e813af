#pragma once

#include "worker/store/database.h"
#include "worker/store/pgconnection.h"

namespace sendonce {

/// A server's connection, opened again when it has ended.
struct Database::Server
{
    DatabaseUrl url;
    std::chrono::milliseconds patience;
    std::unique_ptr<PgConnection> connection;

    /// Runs in one round trip; all answers, or the first error.
    Result<std::vector<PgRows>> run(const std::vector<PgConnection::Statement> &statements, const QString &doing)
    {
        const PgPatience time{QDeadlineTimer(patience), nullptr};
        if (!connection || !connection->isUsable()) {
            connection.reset();
            auto opened = PgConnection::open(url, time);
            if (!opened)
                return opened.error();
            connection = opened.take();
        }
        auto answers = connection->run(statements, time, doing);
        std::vector<PgRows> rows;
        for (auto &answer : answers) {
            if (!answer) {
                connection.reset(); // whatever it was, the next one begins afresh
                return answer.error();
            }
            rows.push_back(answer.take());
        }
        return rows;
    }
};

} // namespace sendonce
