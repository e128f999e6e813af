#include "ui/savedfilters.h"

#include <QSettings>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

// Names are values, not keys: a settings file takes some characters of keys for its own.
const QString List = u"letterFilters"_s;
const QString Name = u"name"_s;
const QString Filter = u"filter"_s;
constexpr int Most = 100; ///< a menu, not an archive

} // namespace

void SavedFilters::keepIn(QSettings *settings)
{
    m_settings = settings;
    m_all.clear();
    const int count = std::min(m_settings->beginReadArray(List), Most);
    for (int i = 0; i < count; ++i) {
        m_settings->setArrayIndex(i);
        const QString name = m_settings->value(Name).toString();
        const auto filter = unpackedFilter(m_settings->value(Filter).toByteArray());
        if (!name.isEmpty() && filter)
            m_all.append({name, *filter});
    }
    m_settings->endArray();
}

void SavedFilters::save(const QString &name, const LetterFilter &filter)
{
    const auto known =
        std::find_if(m_all.begin(), m_all.end(), [&name](const Named &each) { return each.name == name; });
    if (known != m_all.end())
        known->filter = filter;
    else if (m_all.size() < Most)
        m_all.append({name, filter});
    write();
}

void SavedFilters::remove(const QString &name)
{
    m_all.removeIf([&name](const Named &each) { return each.name == name; });
    write();
}

void SavedFilters::write() const
{
    if (!m_settings)
        return;
    m_settings->remove(List);
    m_settings->beginWriteArray(List, int(m_all.size()));
    for (int i = 0; i < int(m_all.size()); ++i) {
        m_settings->setArrayIndex(i);
        m_settings->setValue(Name, m_all.at(i).name);
        m_settings->setValue(Filter, packed(m_all.at(i).filter));
    }
    m_settings->endArray();
    m_settings->sync();
}

} // namespace sendonce
