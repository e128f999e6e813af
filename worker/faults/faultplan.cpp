#include "worker/faults/faultplan.h"

#include <QCryptographicHash>
#include <QRegularExpression>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qsizetype MaxKeys = 10'000; ///< events whose attempts are remembered by a rule

bool matchesGlob(const QString &glob, const QString &text)
{
    if (glob.isEmpty())
        return true;
    if (text.isEmpty())
        return false;
    // Not wildcardToRegularExpression(): to it a slash is more than a letter.
    const QString pattern = QRegularExpression::escape(glob).replace("\\*"_L1, ".*"_L1).replace("\\?"_L1, "."_L1);
    return QRegularExpression(QRegularExpression::anchoredPattern(pattern),
                              QRegularExpression::DotMatchesEverythingOption)
        .match(text)
        .hasMatch();
}

} // namespace

Result<int> FaultPlan::arm(FaultRule rule, Moment now)
{
    expire(now);
    if (m_armed.size() >= size_t(MaxRules))
        return Error{ErrorKind::Refused, u"%1 faults are armed already, and more are not taken"_s.arg(MaxRules), {}};
    rule.struck = 0;
    rule.left = {};
    auto checked = faultRule(toJson(rule)); // one place knows what is accepted
    if (!checked)
        return checked.error();
    rule = checked.take();
    rule.id = ++m_lastId;
    const auto ends = rule.lasts.count() > 0 ? std::optional(now + rule.lasts) : std::nullopt;
    m_armed.push_back({std::move(rule), ends, {}, {}});
    return m_lastId;
}

bool FaultPlan::disarm(int id)
{
    return std::erase_if(m_armed, [id](const Armed &armed) { return armed.rule.id == id; }) > 0;
}

bool FaultPlan::disarmAll()
{
    const bool any = !m_armed.empty();
    m_armed.clear();
    return any;
}

std::optional<Fault> FaultPlan::ask(FaultPoint point, const FaultSubject &subject, Moment now,
                                    const QList<FaultEffect> &only)
{
    expire(now);
    for (Armed &armed : m_armed) {
        FaultRule &rule = armed.rule;
        if (rule.where != point || (!only.isEmpty() && !only.contains(rule.what)) || !matches(rule, subject)
            || !drawn(armed, point, subject))
            continue;
        if (rule.what == FaultEffect::RateLimit && isWithinRate(armed, now))
            continue;
        ++rule.struck;
        Fault fault{rule.what, rule.code, rule.text, rule.delay};
        if (rule.what == FaultEffect::RateLimit) {
            fault = {
                FaultEffect::Reply,
                450,
                u"4.7.1 too many mails: %1 in %2 ms are taken (armed fault)"_s.arg(rule.count).arg(rule.window.count()),
                {}};
        }
        expire(now);
        return fault;
    }
    return std::nullopt;
}

bool FaultPlan::isArmedAt(FaultPoint point) const
{
    return std::any_of(m_armed.cbegin(), m_armed.cend(),
                       [point](const Armed &armed) { return armed.rule.where == point; });
}

FaultRules FaultPlan::armed(Moment now) const
{
    FaultRules rules;
    for (const Armed &armed : m_armed) {
        if (armed.ends && *armed.ends <= now)
            continue;
        rules.append(armed.rule);
        if (armed.ends)
            rules.last().left = *armed.ends - now;
    }
    return rules;
}

bool FaultPlan::expire(Moment now)
{
    return std::erase_if(
               m_armed,
               [now](const Armed &armed) { return armed.rule.remaining() == 0 || (armed.ends && *armed.ends <= now); })
        > 0;
}

std::optional<FaultPlan::Moment> FaultPlan::nextEnd() const
{
    std::optional<Moment> next;
    for (const Armed &armed : m_armed) {
        if (armed.ends && (!next || *armed.ends < *next))
            next = armed.ends;
    }
    return next;
}

bool FaultPlan::matches(const FaultRule &rule, const FaultSubject &subject)
{
    return matchesGlob(rule.event, subject.event) && matchesGlob(rule.recipient, subject.recipient)
        && matchesGlob(rule.type, subject.type);
}

/// The same seed draws the same attempts of the same events, in whatever order they come.
bool FaultPlan::drawn(Armed &armed, FaultPoint point, const FaultSubject &subject)
{
    if (armed.rule.oneIn <= 1)
        return true;
    const QString key = subject.event.isEmpty() ? subject.key : subject.event;
    if (armed.asked.size() >= MaxKeys)
        armed.asked.clear();
    const int attempt = ++armed.asked[key];
    const QString what =
        u"%1|%2|%3|%4"_s.arg(QString::number(armed.rule.seed), faultPointName(point), QString::number(attempt), key);
    const QByteArray hash = QCryptographicHash::hash(what.toUtf8(), QCryptographicHash::Sha256);
    quint32 number = 0;
    for (int i = 0; i < 4; ++i)
        number = (number << 8) | quint8(hash[i]);
    return number % quint32(armed.rule.oneIn) == 0;
}

bool FaultPlan::isWithinRate(Armed &armed, Moment now)
{
    std::erase_if(armed.passed, [&](Moment at) { return at + armed.rule.window <= now; });
    if (armed.passed.size() >= size_t(armed.rule.count))
        return false;
    armed.passed.push_back(now);
    return true;
}

} // namespace sendonce
