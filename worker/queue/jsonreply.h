#pragma once

#include "worker/result.h"

#include <QByteArray>
#include <QJsonArray>
#include <QJsonObject>
#include <QString>
#include <QUrl>

#include <optional>

/// JSON as SQS and its emulators write it: what bodies of requests and replies have in common. Pure.
namespace sendonce::jsonreply {

QByteArray compact(const QJsonObject &object);
QJsonObject forQueue(const QUrl &queueUrl); ///< {"QueueUrl":…}

/// Protocol; the text completes "the endpoint answered …".
Error notSqs(const QString &what);
Result<QJsonObject> readObject(const QByteArray &body);
/// A list that is missing or null is an empty one; anything else in its place is no SQS.
Result<QJsonArray> readList(const QJsonObject &object, const QString &name);

/// Emulators write numbers where AWS writes text, and the other way round. Empty for what is neither.
QString text(const QJsonValue &value);
/// A whole number, as number or as text, with or without a fraction; nothing when there is none.
std::optional<qint64> number(const QJsonValue &value);

} // namespace sendonce::jsonreply
