#include "worker/consume/doubtjournal.h"

#include "worker/store/doubtlog.h"

#include <chrono>
#include <mutex>
#include <utility>

namespace sendonce {

using namespace std::chrono_literals;

namespace {

constexpr auto Patience = 2s; ///< for the server's answer: a lane holds its message meanwhile
constexpr size_t KeptOpen = 2;

} // namespace

DoubtJournal::DoubtJournal(QString dataDir, QString databaseUrl)
    : m_dataDir(std::move(dataDir))
    , m_databaseUrl(std::move(databaseUrl))
{ }

Result<Journal> DoubtJournal::take()
{
    {
        const std::lock_guard locked(m_mutex);
        if (!m_idle.empty()) {
            Journal journal = std::move(m_idle.back());
            m_idle.pop_back();
            return journal;
        }
    }
    return Journal::open(m_dataDir, m_databaseUrl, Patience);
}

void DoubtJournal::giveBack(Journal journal)
{
    if (!journal.database().isPostgres())
        return; // Qt's connections to a file belong to the thread that opened them
    const std::lock_guard locked(m_mutex);
    if (m_idle.size() < KeptOpen)
        m_idle.push_back(std::move(journal));
}

Result<void> DoubtJournal::record(const DeliveryReport &doubt)
{
    {
        const std::lock_guard locked(m_mutex);
        m_kept.append(doubt);
    }
    auto journal = take();
    if (!journal)
        return journal.error();
    const auto recorded = writeKept(journal.value());
    giveBack(journal.take());
    return recorded;
}

Result<void> DoubtJournal::writeKept(Journal &journal)
{
    QList<DeliveryReport> doubts;
    {
        const std::lock_guard locked(m_mutex);
        doubts = m_kept;
    }
    for (const DeliveryReport &doubt : std::as_const(doubts)) {
        if (const auto written = journal.recordDoubt(doubt); !written) // twice does no harm: it is one delivery
            return written;
        const std::lock_guard locked(m_mutex);
        m_kept.removeOne(doubt);
    }
    return {};
}

Result<bool> DoubtJournal::isOpen(const QString &eventId)
{
    auto journal = take();
    if (!journal)
        return journal.error();
    const auto written = writeKept(journal.value());
    auto open = written ? DoubtLog(journal->database()).isOpen(eventId) : Result<bool>(written.error());
    giveBack(journal.take());
    return open;
}

} // namespace sendonce
