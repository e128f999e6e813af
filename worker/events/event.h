#pragma once

#include "worker/events/eventtype.h"
#include "worker/result.h"

#include <QByteArray>
#include <QMap>
#include <QString>
#include <QVariant>

namespace sendonce {

/// A validated event. spec.md, "Messages".
struct Event
{
    QString eventId; ///< 1…64 code points, valid Unicode, no control characters, no leading or trailing blank
    QString type;
    /// Every top-level field that is text, integer (qint64), boolean or number, unknown extra ones included: for
    /// look-up and templates. Integers stay exact; nested values are kept only in the hash.
    QMap<QString, QVariant> fields;
    QByteArray bodySha256; ///< 32 bytes: SHA-256 of the unwrapped event with sorted keys (spec.md, rule 8)

    bool operator==(const Event &) const = default;
};

/// What can be said of a body that is not (or may not be) a valid event: for dead letters and the log. Empty where
/// unreadable.
struct EventGlimpse
{
    QString eventId;
    QString type;
    QString applicationId;

    bool operator==(const EventGlimpse &) const = default;
};

/// Unwraps (plain, SNS without raw delivery, EventBridge) and validates. Pure. An error's text names the field, what
/// was found and what is accepted ("event_id is 65 characters long; 1 to 64 are accepted"); kind is always Invalid.
/// Unknown type: Invalid, "type “application.archived” is not known; known are …".
Result<Event> parseEvent(const QByteArray &body, const EventTypes &types);

/// As much as can be read of any body, wrapped or not. Never fails. Text is cut to 200 characters.
EventGlimpse glimpse(const QByteArray &body);

/// The canonical JSON of the bodies that an operator composes; keys in the article's order.
QByteArray composeStatusChanged(const QString &eventId, qint64 applicationId, const QString &oldStatus,
                                const QString &newStatus);

} // namespace sendonce
