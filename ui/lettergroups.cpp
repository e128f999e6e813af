#include "ui/lettergroups.h"

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {

bool LetterGroups::Test::operator()(const Membership &membership) const
{
    const auto in = [](const QList<bool> &wanted, int number) {
        return wanted.isEmpty() || (number < wanted.size() && wanted.at(number));
    };
    return m_verdicts[size_t(membership.verdict)] && in(m_reasons, membership.reason) && in(m_types, membership.type);
}

int LetterGroups::Names::numberOf(const QString &name)
{
    const auto known = numbers.constFind(name);
    if (known != numbers.cend())
        return *known;
    const int number = int(names.size());
    numbers.insert(name, number);
    names.append(name);
    counts.append(0);
    return number;
}

LetterGroups::Membership LetterGroups::add(const DeadLetter &letter)
{
    Membership membership;
    membership.verdict = letter.verdict;
    membership.type = m_types.numberOf(letter.eventType);
    const auto known = m_known.constFind(letter.reason);
    membership.reason = known == m_known.cend() ? m_reasons.numberOf(reasonGroup(letter.reason)) : *known;
    if (known == m_known.cend())
        m_known.insert(letter.reason, membership.reason);
    ++m_verdicts[size_t(membership.verdict)];
    ++m_reasons.counts[membership.reason];
    ++m_types.counts[membership.type];
    return membership;
}

void LetterGroups::remove(const Membership &membership)
{
    --m_verdicts[size_t(membership.verdict)];
    --m_reasons.counts[membership.reason];
    --m_types.counts[membership.type];
}

void LetterGroups::clear()
{
    *this = LetterGroups();
}

QList<LetterGroups::Group> LetterGroups::groups(Kind kind, const LetterFilter &also) const
{
    QList<Group> groups;
    if (kind == Kind::Verdict) {
        for (const Verdict verdict :
             {Verdict::NotHandled, Verdict::Handled, Verdict::InDoubt, Verdict::Unknown, Verdict::Invalid}) {
            const qsizetype count = m_verdicts[size_t(verdict)];
            if (count > 0 || also.verdicts.contains(verdict))
                groups.append({kind, verdict, {}, count});
        }
        return groups;
    }
    const Names &names = kind == Kind::Reason ? m_reasons : m_types;
    const QStringList &wanted = kind == Kind::Reason ? also.reasons : also.types;
    for (qsizetype i = 0; i < names.names.size(); ++i) {
        if (names.counts.at(i) > 0)
            groups.append({kind, {}, names.names.at(i), names.counts.at(i)});
    }
    for (const QString &name : wanted) {
        const auto known = names.numbers.constFind(name);
        if (known == names.numbers.cend() || names.counts.at(*known) == 0)
            groups.append({kind, {}, name, 0});
    }
    std::sort(groups.begin(), groups.end(),
              [](const Group &a, const Group &b) { return a.count != b.count ? a.count > b.count : a.name < b.name; });
    return groups;
}

LetterGroups::Test LetterGroups::test(const LetterFilter &filter) const
{
    Test test;
    if (!filter.verdicts.isEmpty()) {
        test.m_verdicts.fill(false);
        for (const Verdict verdict : filter.verdicts)
            test.m_verdicts[size_t(verdict)] = true;
    }
    const auto resolve = [](const QStringList &wanted, const Names &names) {
        if (wanted.isEmpty())
            return QList<bool>();
        QList<bool> among(std::max<qsizetype>(1, names.names.size()), false);
        for (const QString &name : wanted) {
            if (const auto known = names.numbers.constFind(name); known != names.numbers.cend())
                among[*known] = true;
        }
        return among;
    };
    test.m_reasons = resolve(filter.reasons, m_reasons);
    test.m_types = resolve(filter.types, m_types);
    return test;
}

} // namespace sendonce
