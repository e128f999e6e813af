#pragma once

#include <QObject>

namespace sendonce {

/// One request under way. Owned by its client, deletes itself after its end.
class SqsCall : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;
    /// Ends the call at once; its callback runs with ErrorKind::Aborted before abort() returns. After its end: nothing.
    virtual void abort() = 0;

Q_SIGNALS:
    /// The answer has begun to arrive; not read yet, and it may be a refusal. Once for each attempt. Whoever
    /// hears it may abort(), and must not delete the client.
    void answering();
};

} // namespace sendonce
