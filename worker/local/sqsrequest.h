#pragma once

#include "worker/local/sqsoperations.h"

#include <functional>

namespace sendonce::local {

/// The members of a request under their JSON names (sqs.md, section 4), whichever protocol brought them. Keeps the
/// first error and reads on; what an unknown member says is nobody's business.
class SqsMembers
{
public:
    virtual ~SqsMembers() = default;

    virtual std::optional<QString> optionalText(QLatin1StringView name) = 0;
    virtual std::optional<int> integer(QLatin1StringView name) = 0;
    virtual QStringList texts(QLatin1StringView name) = 0;
    virtual QMap<QString, QString> textMap(QLatin1StringView name) = 0;
    virtual MessageAttributes attributes(QLatin1StringView name) = 0;
    /// The entries of a batch in their order.
    virtual void forEachEntry(const std::function<void(SqsMembers &)> &read) = 0;

    QString text(QLatin1StringView name) { return optionalText(name).value_or(QString()); }
    void refuse(const SqsError &error)
    {
        if (!*m_error)
            *m_error = error;
    }

protected:
    /// \param error outlives this; shared with the members of entries
    explicit SqsMembers(std::optional<SqsError> *error) : m_error(error) { }
    std::optional<SqsError> *m_error;
};

/// What must be asked of an operation before its members are read: whether it is one, whether it is supported, and
/// whether it makes sense at a queue's own path.
std::optional<SqsError> checkOperation(const QByteArray &operation, const QString &pathQueue);

/// Reads an operation that checkOperation() let pass. Pure; what the rules of SQS say to it is LocalQueues' business.
/// \param pathQueue the queue's name when the request came to a queue's own path, else empty; QueueUrl beats it
/// \param traceHeader X-Amzn-Trace-Id, which stands in for the system attribute AWSTraceHeader
SqsRequest readSqsRequest(const QByteArray &operation, SqsMembers &members, const QString &pathQueue,
                          const QString &traceHeader);

/// The queue that a QueueUrl names: its last path segment, whatever comes before, or all of a bare name. Empty: none.
QString queueNameOf(const QString &queueUrl);
/// The URL that answers give for a queue. \param origin "http://127.0.0.1:9324"
QString queueUrlOf(const QString &origin, const QString &name);

} // namespace sendonce::local
