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

QList<LetterGroups::Group> LetterGroups::groups(Kind kind, const LetterFilter &also, int most) const
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
    QList<int> numbers;
    for (int number = 0; number < int(names.names.size()); ++number) {
        if (names.counts.at(number) > 0)
            numbers.append(number);
    }
    const auto bigger = [&names](int a, int b) {
        return names.counts.at(a) != names.counts.at(b) ? names.counts.at(a) > names.counts.at(b)
                                                        : names.names.at(a) < names.names.at(b);
    };
    const qsizetype shown = std::min<qsizetype>(most, numbers.size());
    std::partial_sort(numbers.begin(), numbers.begin() + shown, numbers.end(), bigger);
    for (qsizetype i = 0; i < shown; ++i)
        groups.append({kind, {}, names.names.at(numbers.at(i)), names.counts.at(numbers.at(i))});
    for (const QString &name : kind == Kind::Reason ? also.reasons : also.types) {
        const auto here = [&name](const Group &group) { return group.name == name; };
        if (std::any_of(groups.cbegin(), groups.cend(), here))
            continue;
        const auto known = names.numbers.constFind(name);
        groups.append({kind, {}, name, known == names.numbers.cend() ? 0 : names.counts.at(*known)});
    }
    return groups;
}

qsizetype LetterGroups::count(Kind kind) const
{
    const auto some = [](qsizetype count) { return count > 0; };
    if (kind == Kind::Verdict)
        return std::count_if(m_verdicts.cbegin(), m_verdicts.cend(), some);
    const QList<qsizetype> &counts = (kind == Kind::Reason ? m_reasons : m_types).counts;
    return std::count_if(counts.cbegin(), counts.cend(), some);
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
