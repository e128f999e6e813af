#include "worker/local/mailfaults.h"

using namespace Qt::StringLiterals;

namespace sendonce {

MailFaults::MailFaults(QObject *parent) : QObject(parent) { }

void MailFaults::failNext(int times, int replyCode, const QString &text)
{
    Q_ASSERT(times >= 1 && times <= MaxTimes);
    Q_ASSERT(replyCode >= MinReplyCode && replyCode <= MaxReplyCode);
    // Class and basic code agree: x.3.0 is "other mail system status" (RFC 3463, 3.4).
    const QString standard =
        replyCode < 500 ? u"4.3.0 mail server down (armed fault)"_s : u"5.3.0 mail refused (armed fault)"_s;
    m_fault = {u"mail"_s, times, replyCode, text.isEmpty() ? standard : text};
    Q_EMIT changed();
}

void MailFaults::disarm()
{
    if (m_fault.remaining == 0)
        return;
    m_fault = {};
    Q_EMIT changed();
}

ArmedFaults MailFaults::armed() const
{
    return m_fault.remaining > 0 ? ArmedFaults{m_fault} : ArmedFaults{};
}

std::optional<ArmedFault> MailFaults::takeFault()
{
    if (m_fault.remaining == 0)
        return std::nullopt;
    --m_fault.remaining;
    const ArmedFault taken = m_fault;
    if (m_fault.remaining == 0)
        m_fault = {};
    Q_EMIT changed();
    return taken;
}

} // namespace sendonce
