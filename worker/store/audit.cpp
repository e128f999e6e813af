#include "worker/store/audit.h"

#include "worker/store/processedevents.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QSysInfo>

#include <pwd.h>
#include <unistd.h>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

/// By the process's own id: an environment variable could name anybody.
QString userName()
{
    const passwd *const entry = getpwuid(getuid());
    return entry ? QString::fromLocal8Bit(entry->pw_name) : u"uid %1"_s.arg(getuid());
}

QString filled(const QString &text)
{
    return text.isNull() ? u""_s : text;
}

} // namespace

Audit::Audit(Database &database, QString profile)
    : m_database(database)
    , m_who(userName())
    , m_host(QSysInfo::machineHostName())
    , m_profile(std::move(profile))
{ }

Result<void> Audit::note(const QString &act, const QStringList &ids, const QString &text, const QString &outcome)
{
    const auto written = m_database.rows(
        u"INSERT INTO sendonce_audit (noted_at, who, host, profile, act, ids, text, outcome) "
        "VALUES (?,?,?,?,?,?,?,?)"_s,
        {nowUsecs(), m_who, filled(m_host), filled(m_profile), act,
         QString::fromUtf8(QJsonDocument(QJsonArray::fromStringList(ids)).toJson(QJsonDocument::Compact)), filled(text),
         filled(outcome)},
        u"the audit cannot be written"_s);
    if (!written)
        return written.error();
    return {};
}

Result<AuditPage> Audit::page(qint64 beforeId, int limit)
{
    AuditPage page;
    page.beforeId = beforeId;
    const auto read = m_database.rows(
        u"SELECT id, noted_at, who, host, profile, act, ids, text, outcome FROM sendonce_audit WHERE id < ? "
        "ORDER BY id DESC LIMIT ?"_s,
        {beforeId > 0 ? beforeId : std::numeric_limits<qint64>::max(), limit + 1}, u"the audit cannot be read"_s);
    if (!read)
        return read.error();
    for (const QVariantList &line : read.value()) {
        if (page.entries.size() == limit) {
            page.more = true;
            break;
        }
        AuditEntry entry;
        entry.id = line[0].toLongLong();
        entry.at = QDateTime::fromMSecsSinceEpoch(line[1].toLongLong() / 1000, Qt::UTC);
        entry.who = line[2].toString();
        entry.host = line[3].toString();
        entry.profile = line[4].toString();
        entry.act = line[5].toString();
        for (const QJsonValue &id : QJsonDocument::fromJson(line[6].toString().toUtf8()).array())
            entry.ids.append(id.toString());
        entry.text = line[7].toString();
        entry.outcome = line[8].toString();
        page.entries.append(entry);
    }
    return page;
}

} // namespace sendonce
