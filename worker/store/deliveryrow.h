#pragma once

#include "worker/types.h"

#include <QString>
#include <QVariant>

namespace sendonce::deliveryrow {

/// A row of sendonce_attempt and the report that it holds. Pure.

/// What reportOf() reads, in that order.
inline constexpr QLatin1StringView Columns(
    "received_at, worker, lane, message_id, receive_count, event_id, event_type, application_id, outcome, "
    "failed_stage, reason, mail_reply, permanent, possibly_twice, other_body, user_id, recipient, mail_message_id, "
    "stage_usec, log_line");
constexpr qsizetype ColumnCount = 20;
constexpr qsizetype WorkerColumn = 1;

/// What an INSERT of `Columns` and recorded_at binds. Texts are made fit to keep. \param recordedAt microseconds since
/// 1970
QVariantList valuesOf(const DeliveryReport &report, const QString &worker, qint64 recordedAt);
/// \param row `Columns`, and whatever stands behind them
DeliveryReport reportOf(const QVariantList &row);

/// Cut to 2,000 characters, never in a pair; without NUL, which PostgreSQL's text cannot hold; never a null QString,
/// which would be an SQL NULL.
QString keptText(const QString &text);
/// The same for what stands in an index, whose entries are limited: 250 characters. No valid id has as many.
QString keptId(const QString &id);

} // namespace sendonce::deliveryrow
