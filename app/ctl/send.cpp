#include "app/ctl/commands.h"
#include "app/ctl/listing.h"
#include "app/ctl/terminal.h"
#include "worker/events/event.h"
#include "worker/queue/sqsclient.h"
#include "worker/store/journal.h"

#include <QCoreApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QUuid>

#include <cstdio>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

Result<QByteArray> readBody(const QString &name)
{
    QFile file(name);
    const bool opened = name == "-"_L1 ? file.open(stdin, QIODevice::ReadOnly) : file.open(QIODevice::ReadOnly);
    if (!opened)
        return Error{ErrorKind::Invalid, u"--body %1: %2"_s.arg(name, file.errorString()), {}};
    return file.readAll();
}

Result<qint64> numberOf(const CommandLine &line, const QString &flag, qint64 fallback, qint64 min, qint64 max)
{
    if (!line.has(flag))
        return fallback;
    bool ok = false;
    const qint64 number = line.value(flag).toLongLong(&ok);
    if (!ok || number < min || number > max) {
        return Error{ErrorKind::Invalid,
                     u"--%1 is “%2”; accepted: a number from %3 to %4"_s.arg(
                         flag, line.value(flag), QString::number(min), QString::number(max)),
                     {}};
    }
    return number;
}

} // namespace

int runSend(const QStringList &words)
{
    CommandLine line(u"sendoncectl send"_s, u"sends an event to the queue"_s,
                     {u"queue-url"_s, u"endpoint-url"_s, u"region"_s, u"aws-profile"_s, u"data-dir"_s},
                     {{u"event-id"_s, u"ID"_s, u"a new UUID"_s, u"1 to 64 characters"_s},
                      {u"application"_s, u"N"_s, u"3"_s, u"application_id"_s},
                      {u"old"_s, u"STATUS"_s, u"reviewing"_s, u"old_status"_s},
                      {u"new"_s, u"STATUS"_s, u"interview"_s, u"new_status"_s},
                      {u"copies"_s, u"N"_s, u"1"_s, u"messages with this one event_id, 1 to 10"_s},
                      {u"delay"_s, u"SECONDS"_s, u"the queue's"_s, u"0 to 900"_s},
                      {u"body"_s, u"FILE"_s, {}, u"send this text as it is (-: standard input)"_s},
                      {u"json"_s, {}, {}, u"a JSON line instead of words"_s}},
                     {u"sendoncectl send"_s, u"sendoncectl send --copies 2"_s,
                      u"sendoncectl send --event-id test-missing --application 99"_s});
    const auto fail = [](const Error &error) {
        complain(error.text);
        return exitCodeOf(error);
    };
    if (const auto ended = answered(line, words))
        return *ended;
    const auto application = numberOf(line, u"application"_s, 3, 1, std::numeric_limits<qint64>::max());
    const auto copies = numberOf(line, u"copies"_s, 1, 1, 10);
    const auto delay = numberOf(line, u"delay"_s, -1, 0, 900);
    for (const Result<qint64> *number : {&application, &copies, &delay}) {
        if (!*number)
            return fail(number->error());
    }
    SendReport report;
    report.request.applicationId = application.value();
    report.request.copies = int(copies.value());
    QByteArray body;
    if (line.has(u"body"_s)) {
        auto read = readBody(line.value(u"body"_s));
        if (!read)
            return fail(read.error());
        body = read.take();
        report.eventId = glimpse(body).eventId;
    } else {
        report.eventId = line.value(u"event-id"_s, QUuid::createUuid().toString(QUuid::WithoutBraces));
        body = composeStatusChanged(report.eventId, application.value(), line.value(u"old"_s, u"reviewing"_s),
                                    line.value(u"new"_s, u"interview"_s));
    }
    const auto prepared = prepare(line);
    if (!prepared)
        return fail(prepared.error());
    const Config &config = prepared->config;

    QList<SendEntry> entries;
    for (int copy = 0; copy < report.request.copies; ++copy)
        entries.append({QString::number(copy), body, {}, {}, int(delay.value())});
    SqsClient client({config.endpoint, config.region, config.credentials});
    int code = Done;
    client.sendBatch(config.queueUrl, entries, qApp, [&](const Result<QList<BatchEntryResult>> &result) {
        if (!result) {
            code = fail(result.error());
        } else {
            for (const BatchEntryResult &entry : result.value()) {
                if (entry.ok) {
                    report.messageIds.append(entry.messageId);
                } else {
                    complain(u"one message was not accepted: "_s + entry.text);
                    code = Failed;
                }
            }
        }
        QCoreApplication::quit();
    });
    QCoreApplication::exec();
    if (report.messageIds.isEmpty())
        return code;
    auto journal = Journal::open(config.dataDir, config.databaseUrl);
    const auto recorded = journal ? journal.value().recordSend(report) : Result<void>(journal.error());
    if (!recorded)
        complain(u"warning: the journal could not be written: "_s + recorded.error().text);
    if (line.has(u"json"_s)) {
        sayJson(QJsonObject{{u"eventId"_s, report.eventId},
                            {u"messageIds"_s, QJsonArray::fromStringList(report.messageIds)}});
    } else {
        say(u"sent event %1 as message %2"_s.arg(inert(report.eventId), report.messageIds.join(u", "_s)));
    }
    return code;
}

} // namespace sendonce
