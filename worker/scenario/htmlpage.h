#pragma once

#include <QByteArray>
#include <QString>

namespace sendonce {

/// Text as it may stand in XML and HTML: what has no place there is written \uXXXX.
QString inXml(const QString &text);
/// The same, with the markup's characters escaped.
QString escaped(const QString &text);
/// One self-contained page, light and dark, that loads nothing. \param body HTML, with a stranger's text escaped
QByteArray htmlPageOf(const QString &title, const QString &body);

} // namespace sendonce
