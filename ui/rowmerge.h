#pragma once

#include <QHash>
#include <QList>
#include <QSet>

namespace sendonce {

/// Brings `rows` to `wanted` by removing and inserting, so that selection and scroll position survive, when the rows
/// that stay keep their order; says false when they do not, and the model has to be reset. \param key of a row, unique
/// in each list \param model with the hooks beginRemove(first, last), endRemove(), beginInsert(first, last),
/// endInsert(), changed(row)
template <typename Row, typename Key, typename Hooks>
bool mergeRows(QList<Row> &rows, const QList<Row> &wanted, Key key, Hooks hooks)
{
    QHash<QString, qsizetype> place;
    place.reserve(wanted.size());
    for (qsizetype i = 0; i < wanted.size(); ++i)
        place.insert(key(wanted.at(i)), i);

    qsizetype last = -1;
    for (const Row &row : std::as_const(rows)) {
        const qsizetype at = place.value(key(row), -1);
        if (at < 0)
            continue;
        if (at < last)
            return false;
        last = at;
    }
    for (qsizetype i = rows.size() - 1; i >= 0;) {
        if (place.contains(key(rows.at(i)))) {
            --i;
            continue;
        }
        qsizetype first = i;
        while (first > 0 && !place.contains(key(rows.at(first - 1))))
            --first;
        hooks.beginRemove(int(first), int(i));
        rows.remove(first, i - first + 1);
        hooks.endRemove();
        i = first - 1;
    }
    for (qsizetype i = 0; i < wanted.size(); ++i) {
        if (i < rows.size() && key(rows.at(i)) == key(wanted.at(i))) {
            if (!(rows.at(i) == wanted.at(i))) {
                rows[i] = wanted.at(i);
                hooks.changed(int(i));
            }
            continue;
        }
        // Everything up to the next row that is there already is new.
        qsizetype end = i + 1;
        const QString next = i < rows.size() ? key(rows.at(i)) : QString();
        while (end < wanted.size() && (i >= rows.size() || key(wanted.at(end)) != next))
            ++end;
        hooks.beginInsert(int(i), int(end - 1));
        for (qsizetype j = i; j < end; ++j)
            rows.insert(j, wanted.at(j));
        hooks.endInsert();
        i = end - 1;
    }
    return rows.size() == wanted.size(); // not so when a key was there twice
}

} // namespace sendonce
