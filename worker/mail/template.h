#pragma once

#include "worker/result.h"

#include <QMap>
#include <QString>
#include <QVariant>

namespace sendonce {

enum class Escape { None, Html };

/// Replaces each {{name}} (blanks inside the braces allowed) by its value; pure. Mustache's syntax for plain names,
/// nothing more. A name without a value, or an SQL NULL, is an error (Invalid, names it); so are unbalanced braces.
Result<QString> renderTemplate(const QString &text, const QMap<QString, QVariant> &values,
                               Escape escape = Escape::None);

/// The names that a template uses, or the error of its syntax.
Result<QStringList> templateNames(const QString &text);

} // namespace sendonce
