#include "worker/mail/mailpassword.h"

#include <algorithm>
#include <chrono>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {

MailPassword::MailPassword(Source source, std::chrono::milliseconds quietTime)
    : m_source(std::move(source))
    , m_quietTime(quietTime)
{ }

MailPassword::MailPassword(const QString &fixed)
    : MailPassword([fixed](const std::function<bool()> &) -> Result<QString> { return fixed; })
{ }

Result<QString> MailPassword::get(const std::function<bool()> &goOn)
{
    std::unique_lock lock(m_mutex, std::defer_lock);
    while (!lock.try_lock_for(50ms)) {
        if (!goOn())
            return Error{ErrorKind::Aborted, u"another lane is still asking for it"_s, {}};
    }
    if (m_known)
        return m_password;
    const Result<QString> found = m_source(goOn);
    if (!found)
        return found;
    const QString &password = found.value();
    if (password.isEmpty())
        return Error{ErrorKind::Invalid, u"it is empty"_s, {}};
    if (std::any_of(password.cbegin(), password.cend(), [](QChar c) { return c.category() == QChar::Other_Control; }))
        return Error{ErrorKind::Invalid, u"it holds a control character"_s, {}};
    if (password == m_refused && !m_quiet.hasExpired())
        return Error{ErrorKind::Refused,
                     u"the mail server refused it just now, so it is not tried again for another %1 s"_s.arg(
                         m_quiet.remainingTime() / 1000 + 1),
                     {}};
    m_password = password;
    m_known = true;
    return m_password;
}

void MailPassword::refused(const QString &password)
{
    const std::lock_guard guard(m_mutex);
    m_refused = password;
    m_quiet.setRemainingTime(m_quietTime);
    if (m_password == password)
        m_known = false;
}

} // namespace sendonce
