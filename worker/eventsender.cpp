#include "worker/eventsender.h"

#include "worker/events/event.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QUuid>

#include <memory>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

/// The body of an operator's event; the article's own shape for the article's type.
QByteArray composeBody(const SendRequest &request, const QString &eventId)
{
    if (request.type == "application.status_changed"_L1)
        return composeStatusChanged(eventId, request.applicationId, request.oldStatus, request.newStatus);
    return QJsonDocument(QJsonObject{{u"type"_s, request.type},
                                     {u"event_id"_s, eventId},
                                     {u"application_id"_s, request.applicationId}})
        .toJson(QJsonDocument::Compact);
}

} // namespace

void sendEvent(SqsClient &client, const QUrl &queueUrl, const SendRequest &request, QObject *context,
               std::function<void(const SendReport &)> done)
{
    auto report = std::make_shared<SendReport>();
    report->request = request;
    QByteArray body = request.rawBody;
    if (body.isEmpty()) {
        report->eventId =
            request.eventId.isEmpty() ? QUuid::createUuid().toString(QUuid::WithoutBraces) : request.eventId;
        body = composeBody(request, report->eventId);
    } else {
        report->eventId = glimpse(body).eventId;
    }
    QList<SendEntry> entries;
    for (int copy = 0; copy < request.copies; ++copy)
        entries.append({QString::number(copy),
                        body,
                        request.attributes,
                        {},
                        request.delaySeconds > 0 ? request.delaySeconds : -1});
    client.sendBatch(queueUrl, entries, context,
                     [report, done = std::move(done)](const Result<QList<BatchEntryResult>> &result) {
                         if (!result) {
                             report->error = result.error().text;
                         } else {
                             for (const BatchEntryResult &entry : result.value()) {
                                 if (entry.ok)
                                     report->messageIds.append(entry.messageId);
                                 else
                                     report->error = entry.text;
                             }
                         }
                         done(*report);
                     });
}

} // namespace sendonce
