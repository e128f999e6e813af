#include "worker/store/deliveryledger.h"

#include "worker/store/pgdeliveryledger.h"
#include "worker/store/pgpool.h"
#include "worker/store/sqlitedeliveryledger.h"

namespace sendonce {

std::unique_ptr<DeliveryLedger> DeliveryLedger::make(Settings settings)
{
    if (settings.url.isPostgres())
        return std::make_unique<PgDeliveryLedger>(std::move(settings));
    return std::make_unique<SqliteDeliveryLedger>(std::move(settings));
}

std::shared_ptr<PgPool> DeliveryLedger::makePool(const DatabaseUrl &url, int connections,
                                                 std::chrono::milliseconds lockWait)
{
    if (!url.isPostgres())
        return nullptr;
    return std::make_shared<PgPool>(
        url, connections,
        QList<QByteArray>{"SET lock_timeout = " + QByteArray::number(qint64(lockWait.count())),
                          "SET plan_cache_mode = force_generic_plan"}); // planned once for each connection
}

} // namespace sendonce
