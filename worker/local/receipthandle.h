#pragma once

#include <QString>

#include <optional>

namespace sendonce::local {

/// What a receipt handle says: which message, in which queue, by which receive. Opaque text for clients, made so that
/// any other text is recognised as no handle.
struct ReceiptHandle
{
    quint32 queue = 0; ///< the queue's own number, which no other queue of this store ever had
    qint64 row = 0;
    quint64 receipt = 0; ///< of the receive; the message remembers the newest one

    QString toString() const;
    /// Nothing when the text is no handle of ours.
    static std::optional<ReceiptHandle> fromString(const QString &text);

    bool operator==(const ReceiptHandle &) const = default;
};

} // namespace sendonce::local
