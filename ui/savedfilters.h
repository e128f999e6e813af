#pragma once

#include "ui/letterfilter.h"

#include <QList>
#include <QString>

class QSettings;

namespace sendonce {

/// Filters of dead letters under the names that people gave them, in their order. Each change is written at once.
class SavedFilters
{
public:
    struct Named
    {
        QString name;
        LetterFilter filter;

        bool operator==(const Named &) const = default;
    };

    /// Reads what is kept there, and keeps everything there from now on. Outlives this.
    void keepIn(QSettings *settings);

    const QList<Named> &all() const { return m_all; }
    void save(const QString &name, const LetterFilter &filter); ///< a name that is there: in its place
    void remove(const QString &name);

private:
    void write() const;

    QList<Named> m_all;
    QSettings *m_settings = nullptr; ///< null: they end with the window
};

} // namespace sendonce
