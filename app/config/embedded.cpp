#include "app/config/embedded.h"

#include "worker/store/database.h"
#include "worker/store/jobboard.h"

#include <QUrl>

namespace sendonce {

using namespace Qt::StringLiterals;

QString embeddedDatabaseUrl(const QString &dataDir)
{
    return u"sqlite:///"_s + QString::fromLatin1(QUrl::toPercentEncoding(dataDir, "/")) + u"/sendonce.db"_s;
}

Result<LocalAddresses> startEmbedded(LocalServices &services, const LocalSettings &settings)
{
    auto database = Database::open(embeddedDatabaseUrl(settings.dataDir));
    if (!database)
        return database.error();
    const auto board = createJobBoard(database.value());
    if (!board)
        return board.error();
    auto started = services.start(settings);
    if (!started && started.error().kind == ErrorKind::Refused) {
        auto running = LocalServices::find(settings.dataDir);
        if (running)
            return running;
    }
    return started;
}

} // namespace sendonce
