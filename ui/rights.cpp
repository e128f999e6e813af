#include "ui/rights.h"

#include <QCoreApplication>

namespace sendonce {

QString readOnlyReason()
{
    return QCoreApplication::translate("Rights", "This profile is read-only: it looks, but does not act");
}

} // namespace sendonce
