#pragma once

#include "app/ctl/terminal.h"

#include <QJsonValue>
#include <QList>
#include <QPair>
#include <QStringList>

namespace sendonce {

/// Rows for people (aligned columns) or programs (JSON lines): the same fields, printed once. Text of strangers is
/// escaped, so that a row stays a line and no terminal obeys it.
class Listing
{
public:
    using Row = QList<QPair<QString, QJsonValue>>;

    /// \param headings one per field of a row, in order
    Listing(QStringList headings, bool json);
    void add(const Row &row); ///< JSON is printed at once, columns when all are known
    void print(const QString &whenEmpty);

private:
    QStringList m_headings;
    bool m_json;
    QList<QStringList> m_rows;
};

/// A text that a terminal only shows: control characters become \uXXXX.
QString inert(const QString &text);
/// --limit, 1 to 10,000, default 50.
Result<int> listLimit(const CommandLine &line);

} // namespace sendonce
