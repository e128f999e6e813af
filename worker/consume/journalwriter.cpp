#include "worker/consume/journalwriter.h"

#include <algorithm>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds BetweenWrites = 50ms;
constexpr std::chrono::milliseconds FirstPause = 250ms; ///< between two tries to write to a journal that is away
constexpr std::chrono::milliseconds LongestPause = 5s;
constexpr std::chrono::milliseconds Patience = 3s; ///< with a server; whatever is delivered is told behind it
constexpr qsizetype AtOnce = 1000; ///< rows in one transaction

/// SQLSTATE class 22: this row's text cannot be kept (a database that is not in UTF-8), however often it is tried.
bool isAboutData(const Error &error)
{
    return error.code.size() == 5 && error.code.startsWith("22"_L1);
}

} // namespace

JournalWriter::JournalWriter(QString dataDir, QString databaseUrl)
    : m_dataDir(std::move(dataDir))
    , m_databaseUrl(std::move(databaseUrl))
    , m_timer(this)
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
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.append(reports);
        if (std::exchange(m_willLook, true))
            return;
    }
    QMetaObject::invokeMethod(this, &JournalWriter::flush, Qt::QueuedConnection);
}

QList<DeliveryReport> JournalWriter::takeWaiting()
{
    const std::lock_guard lock(m_mutex);
    m_willLook = !m_waiting.isEmpty();
    return std::exchange(m_waiting, {});
}

void JournalWriter::flush()
{
    const QList<DeliveryReport> fresh = takeWaiting();
    keep(fresh);
    if (m_unwritten.isEmpty())
        return;
    // While it is away, what has come in is told at once, and written when a try is due.
    const bool isDue = m_pause == 0ms || !m_timer.isActive();
    while (isDue && !m_unwritten.isEmpty()) {
        const QList<DeliveryReport> part = m_unwritten.first(std::min(AtOnce, m_unwritten.size()));
        if (const auto written = write(part); !written) {
            if (m_pause == 0ms)
                Q_EMIT warned(u"The journal could not be written; deliveries go on, and it is tried again: "_s
                              + written.error().text);
            m_pause = m_pause == 0ms ? FirstPause : std::min(m_pause * 2, LongestPause);
            break;
        }
        m_unwritten.remove(0, part.size());
        if (m_pause > 0ms) {
            const qint64 lost = std::exchange(m_lost, 0);
            Q_EMIT warned(lost == 0 ? u"The journal can be written again; nothing is missing"_s
                                    : u"The journal can be written again; %1 deliveries are missing"_s.arg(lost));
            m_pause = 0ms;
        }
    }
    if (!fresh.isEmpty())
        Q_EMIT recorded(fresh);
    if (isDue)
        m_timer.start(m_pause == 0ms ? BetweenWrites : m_pause);
    else if (!m_timer.isActive())
        m_timer.start(m_pause);
    if (m_pause > 0ms)
        lookAgain();
}

/// What came in meanwhile is told at once.
void JournalWriter::lookAgain()
{
    const std::lock_guard lock(m_mutex);
    m_willLook = !m_waiting.isEmpty();
    if (m_willLook)
        QMetaObject::invokeMethod(this, &JournalWriter::flush, Qt::QueuedConnection);
}

void JournalWriter::keep(const QList<DeliveryReport> &reports)
{
    m_unwritten.append(reports);
    const qsizetype tooMany = m_unwritten.size() - MostKept;
    if (tooMany <= 0)
        return;
    m_unwritten.remove(0, tooMany);
    m_lost += tooMany;
}

Result<void> JournalWriter::write(const QList<DeliveryReport> &reports)
{
    if (!m_journal) {
        auto journal = Journal::open(m_dataDir, m_databaseUrl, Patience);
        if (!journal)
            return journal.error();
        m_journal.emplace(journal.take());
    }
    auto written = m_journal->record(reports);
    if (!written && isAboutData(written.error()))
        written = writeEach(reports);
    if (!written)
        m_journal.reset(); // the connection itself may be what failed
    return written;
}

/// One report that cannot be kept is no reason to lose the others.
Result<void> JournalWriter::writeEach(const QList<DeliveryReport> &reports)
{
    for (const DeliveryReport &report : reports) {
        const auto written = m_journal->record(QList{report});
        if (!written && !isAboutData(written.error()))
            return written;
        if (!written)
            Q_EMIT warned(u"The journal cannot keep the delivery of message %1: %2"_s.arg(report.messageId,
                                                                                          written.error().text));
    }
    return {};
}

void JournalWriter::close()
{
    m_timer.stop();
    flush();
    m_timer.stop();
    lookAgain();
    if (!m_unwritten.isEmpty())
        Q_EMIT warned(
            u"The journal could not be written; %1 deliveries are missing in it"_s.arg(m_unwritten.size() + m_lost));
    m_unwritten.clear();
    m_lost = 0;
    m_pause = 0ms;
    m_journal.reset();
}

} // namespace sendonce
