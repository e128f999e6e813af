#include "worker/consume/journalwriter.h"

#include <chrono>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto BetweenWrites = 50ms;

} // namespace

JournalWriter::JournalWriter(QString dataDir) : m_dataDir(std::move(dataDir)), m_timer(this)
{
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &JournalWriter::flush);
}

JournalWriter::~JournalWriter()
{
    close();
}

void JournalWriter::record(const QList<DeliveryReport> &reports)
{
    m_waiting.append(reports);
    if (!m_timer.isActive())
        flush();
}

void JournalWriter::flush()
{
    if (m_waiting.isEmpty())
        return;
    const auto written = write();
    if (!written && !m_failing)
        Q_EMIT warned(u"The journal could not be written: "_s + written.error().text);
    m_failing = !written;
    Q_EMIT recorded(std::exchange(m_waiting, {}));
    m_timer.start(BetweenWrites);
}

Result<void> JournalWriter::write()
{
    if (!m_journal) {
        auto journal = Journal::open(m_dataDir);
        if (!journal)
            return journal.error();
        m_journal.emplace(journal.take());
    }
    const auto written = m_journal->record(m_waiting);
    if (!written)
        m_journal.reset(); // the connection itself may be what failed
    return written;
}

void JournalWriter::close()
{
    m_timer.stop();
    flush();
    m_timer.stop();
    m_journal.reset();
}

} // namespace sendonce
