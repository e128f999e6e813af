#pragma once

#include <QString>

namespace sendonce {

/// Why a profile that is read-only cannot do what changes something: the one sentence for every button and menu.
QString readOnlyReason();

} // namespace sendonce
