#include "ui/stepwiseorder.h"

#include <QElapsedTimer>

#include <algorithm>

namespace sendonce {
namespace {

constexpr int RowsPerStep = 256;

}

StepwiseOrder::StepwiseOrder(int count, Keeps keeps, Before before)
    : m_count(count)
    , m_keeps(std::move(keeps))
    , m_before(std::move(before))
{ }

bool StepwiseOrder::goOn(std::chrono::microseconds budget)
{
    QElapsedTimer clock;
    clock.start();
    while (step()) {
        if (clock.nsecsElapsed() >= std::chrono::nanoseconds(budget).count())
            return false;
    }
    return true;
}

QList<int> StepwiseOrder::take()
{
    if (m_runs.empty())
        return {};
    return QList<int>(m_runs.front().cbegin(), m_runs.front().cend());
}

/// False when nothing is left to do.
bool StepwiseOrder::step()
{
    if (m_merging) {
        for (int n = 0; n < RowsPerStep && m_merge.i < m_merge.a.size() && m_merge.j < m_merge.b.size(); ++n) {
            // Equal ones keep their order: those of a came before those of b.
            const bool second = m_before(m_merge.b[m_merge.j], m_merge.a[m_merge.i]);
            m_merge.out.push_back(second ? m_merge.b[m_merge.j++] : m_merge.a[m_merge.i++]);
        }
        if (m_merge.i == m_merge.a.size() || m_merge.j == m_merge.b.size()) {
            m_merge.out.insert(m_merge.out.end(), m_merge.a.cbegin() + qsizetype(m_merge.i), m_merge.a.cend());
            m_merge.out.insert(m_merge.out.end(), m_merge.b.cbegin() + qsizetype(m_merge.j), m_merge.b.cend());
            m_runs.push_back(std::move(m_merge.out));
            m_merging = false;
        }
        return true;
    }
    const size_t runs = m_runs.size();
    const bool all = m_next == m_count;
    if (runs > 1 && (all || m_runs[runs - 2].size() < 2 * m_runs[runs - 1].size())) {
        beginMerge();
        return true;
    }
    if (all)
        return false;
    const int end = std::min(m_count, m_next + RowsPerStep);
    Run run;
    for (; m_next < end; ++m_next) {
        if (m_keeps(m_next))
            run.push_back(m_next);
    }
    if (run.empty())
        return true;
    if (m_before)
        std::stable_sort(run.begin(), run.end(), m_before);
    if (m_before || m_runs.empty())
        m_runs.push_back(std::move(run));
    else
        m_runs.front().insert(m_runs.front().end(), run.cbegin(), run.cend());
    return true;
}

void StepwiseOrder::beginMerge()
{
    m_merge = {};
    m_merge.b = std::move(m_runs.back());
    m_runs.pop_back();
    m_merge.a = std::move(m_runs.back());
    m_runs.pop_back();
    m_merge.out.reserve(m_merge.a.size() + m_merge.b.size());
    m_merging = true;
}

} // namespace sendonce
