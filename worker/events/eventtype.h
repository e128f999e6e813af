#pragma once

#include "worker/result.h"

#include <QByteArray>
#include <QHash>
#include <QList>
#include <QMap>
#include <QString>
#include <QStringList>

namespace sendonce {

/// What an event type means; data, read from resources/event-types/*.json and the user's own folder.
struct EventType
{
    enum class FieldKind { Text, Integer };
    enum class Missing {
        Skip,
        Retry
    }; ///< no row for the look-up: claim and skip (the article), or fail and come again

    struct Field
    {
        QString name;
        FieldKind kind = FieldKind::Text;
        bool operator==(const Field &) const = default;
    };

    QString type; ///< "application.status_changed"
    QList<Field> fields; ///< required, beside type and event_id
    QString lookupSql; ///< one SELECT with :named parameters, each a field; one row; its columns feed the templates
    Missing missing = Missing::Skip;
    QString missingText; ///< template of the WARNING, e.g. "Application {{application_id}} no longer exists"
    QString recipientAddress; ///< template, e.g. "{{email}}"
    QString recipientName; ///< template, may render to nothing
    QString recipientUser; ///< template that names the user in errors and the log, e.g. "{{user_id}}"
    QString subject; ///< template
    QString text; ///< template of the text part
    QString html; ///< template of the HTML part (values are escaped); empty: text only
    QString
        logText; ///< template of the INFO line, e.g. "Emailed user {{user_id}} about application {{application_id}}: …"
    bool enabled = true; ///< false: treated like a type that nobody knows
    QString source; ///< file it came from, for errors
    QMap<QString, QList<int>> lines; ///< by member ("recipient.name"): the file's line of each line of its text

    /// Where in its file a line (from 1) of a member's text stands: "own.json, line 12".
    QString where(const QString &member, int textLine = 1) const;

    bool operator==(const EventType &) const = default;
};

/// All event types by name. Pure once loaded.
class EventTypes
{
public:
    /// One definition file. The error names file, line and field.
    static Result<EventType> parse(const QByteArray &json, const QString &source);
    /// The shipped ones (":/event-types/*.json") and those of `userDir`, where a file with a known type replaces the
    /// shipped one, or switches it off ("enabled": false, which needs nothing but the type beside it).
    static Result<EventTypes> load(const QString &userDir);

    /// Null for one that is switched off, too.
    const EventType *find(const QString &type) const;
    /// One that is known, but switched off; else null.
    const EventType *switchedOff(const QString &type) const;
    QStringList names() const; ///< of those that find() finds
    void insert(EventType type);

private:
    QHash<QString, EventType> m_types;
};

} // namespace sendonce
