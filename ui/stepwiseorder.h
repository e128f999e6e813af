#pragma once

#include <QList>

#include <chrono>
#include <functional>
#include <vector>

namespace sendonce {

/// Filters and sorts the rows 0 … count - 1 in small steps, so that a hundred thousand of them never hold up the
/// window: a merge sort whose merges can be left and gone on with. What the two functions look at may change
/// between steps; then the order is that of somewhere in between. Pure but for the clock.
class StepwiseOrder
{
public:
    using Keeps = std::function<bool(int row)>;
    using Before = std::function<bool(int a, int b)>; ///< a strict weak order; empty: as they are

    StepwiseOrder(int count, Keeps keeps, Before before);

    /// Works for about that long; true when nothing is left to do.
    bool goOn(std::chrono::microseconds budget);
    int count() const { return m_count; } ///< rows it looks at
    QList<int> take(); ///< once it is done

private:
    using Run = std::vector<int>;
    struct Merge
    {
        Run a, b, out;
        size_t i = 0, j = 0;
    };
    bool step();
    void beginMerge();

    const int m_count;
    const Keeps m_keeps;
    const Before m_before;
    int m_next = 0;
    std::vector<Run> m_runs; ///< each sorted, each at least twice as long as the next while rows come
    Merge m_merge;
    bool m_merging = false;
};

} // namespace sendonce
