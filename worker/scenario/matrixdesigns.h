#pragma once

#include "worker/config.h"
#include "worker/scenario/demonstrationworker.h"
#include "worker/scenario/scenariotypes.h"

#include <QList>
#include <QString>

#include <optional>

namespace sendonce {

/// What a design promises when one thing goes wrong.
struct MatrixPromise
{
    int mails = 1; ///< to a receiver that keeps all
    int different = 1; ///< of these, from different messages: a receiver that drops copies keeps so many
};

/// A row of the guarantee matrix, for either kind of receiver.
struct Design
{
    QString id; ///< "one-transaction"
    QString title;
    std::optional<Strategy> strategy; ///< of the true worker; nothing: a demonstration
    DemonstrationDesign demonstration = nullptr;
    bool commits = true; ///< there is a COMMIT that can fail

    bool isProduction() const { return strategy.has_value(); }
};

/// The failing ones first, then those for production.
const QList<Design> &matrixDesigns();
/// By theory alone: reasoned from spec.md, never measured.
MatrixPromise promiseOf(const Design &design, const QString &hazard);

/// "one-transaction", or "one-transaction+suppressing".
QString rowId(const Design &design, bool suppressing);

} // namespace sendonce
