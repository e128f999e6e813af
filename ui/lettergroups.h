#pragma once

#include "ui/letterfilter.h"
#include "worker/types.h"

#include <QHash>
#include <QList>

#include <array>

namespace sendonce {

/// How many dead letters there are of each verdict, reason and type. Counts follow each letter that comes, changes or
/// goes, so nothing is counted anew.
class LetterGroups
{
public:
    enum class Kind { Verdict, Reason, Type };
    struct Group
    {
        Kind kind = Kind::Verdict;
        Verdict verdict = Verdict::NotHandled; ///< of kind Verdict
        QString name; ///< of the other kinds: as LetterFilter has it
        qsizetype count = 0;

        bool operator==(const Group &) const = default;
    };
    /// Where one letter belongs; numbers of this object.
    struct Membership
    {
        Verdict verdict = Verdict::NotHandled;
        int reason = -1;
        int type = -1;
    };
    /// A filter's groups as numbers, so that each letter costs two comparisons.
    class Test
    {
    public:
        bool operator()(const Membership &membership) const;

    private:
        friend LetterGroups;
        std::array<bool, 5> m_verdicts{true, true, true, true, true};
        QList<bool> m_reasons, m_types; ///< by number; empty: all
    };

    Membership add(const DeadLetter &letter);
    void remove(const Membership &membership);
    void clear();

    /// The `most` biggest, biggest first, verdicts in their own order; and those that `also` names, however small.
    QList<Group> groups(Kind kind, const LetterFilter &also = {}, int most = 100) const;
    qsizetype count(Kind kind) const; ///< of the groups that have letters
    Test test(const LetterFilter &filter) const;

private:
    struct Names
    {
        QHash<QString, int> numbers;
        QList<QString> names;
        QList<qsizetype> counts;

        int numberOf(const QString &name);
    };
    std::array<qsizetype, 5> m_verdicts{};
    Names m_reasons, m_types;
    QHash<QString, int> m_known; ///< reason as it is -> number
};

} // namespace sendonce
