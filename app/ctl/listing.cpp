#include "app/ctl/listing.h"

#include <QJsonObject>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;

QString inert(const QString &text)
{
    QString shown;
    for (const QChar c : text) {
        if (c.category() == QChar::Other_Control || c.category() == QChar::Other_Format)
            shown += u"\\u%1"_s.arg(ushort(c.unicode()), 4, 16, QChar(u'0'));
        else
            shown += c;
    }
    return shown;
}

Listing::Listing(QStringList headings, bool json) : m_headings(std::move(headings)), m_json(json) { }

void Listing::add(const Row &row)
{
    if (m_json) {
        QJsonObject object;
        for (const auto &[name, value] : row)
            object.insert(name, value);
        sayJson(object);
        return;
    }
    QStringList cells;
    for (const auto &field : row)
        cells.append(inert(field.second.toVariant().toString()));
    m_rows.append(cells);
}

void Listing::print(const QString &whenEmpty)
{
    if (m_json)
        return;
    if (m_rows.isEmpty()) {
        say(whenEmpty);
        return;
    }
    QList<QStringList> all = m_rows;
    all.prepend(m_headings);
    QList<qsizetype> widths(m_headings.size(), 0);
    for (const QStringList &cells : all) {
        for (qsizetype i = 0; i < cells.size(); ++i)
            widths[i] = std::max(widths[i], cells[i].size());
    }
    for (const QStringList &cells : all) {
        QString text;
        for (qsizetype i = 0; i < cells.size(); ++i)
            text += i + 1 < cells.size() ? cells[i].leftJustified(widths[i] + 2) : cells[i];
        say(text);
    }
}

Result<int> listLimit(const CommandLine &line)
{
    bool ok = false;
    const int limit = line.value(u"limit"_s, u"50"_s).toInt(&ok);
    if (!ok || limit < 1 || limit > 10'000)
        return Error{ErrorKind::Invalid,
                     u"--limit is “%1”; accepted: a number from 1 to 10000"_s.arg(line.value(u"limit"_s)),
                     {}};
    return limit;
}

} // namespace sendonce
