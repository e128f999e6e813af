#pragma once

#include "worker/result.h"

#include <QList>
#include <QMap>
#include <QString>
#include <QVariant>

namespace sendonce {

enum class Escape { None, Html };

/// Replaces each {{name}} (blanks inside the braces allowed) by its value; pure. Mustache's syntax for plain names,
/// nothing more. A name without a value, or an SQL NULL, is an error (Invalid, names it); so are unbalanced braces.
Result<QString> renderTemplate(const QString &text, const QMap<QString, QVariant> &values,
                               Escape escape = Escape::None);

/// A name in a template, and the template's line (from 1) where it is used first.
struct TemplateName
{
    QString name;
    int line = 1;

    bool operator==(const TemplateName &) const = default;
};

/// The names that a template uses, each once; or the error of its syntax, without a line but with `faultLine` set.
Result<QList<TemplateName>> templateNames(const QString &text, int *faultLine = nullptr);

} // namespace sendonce
