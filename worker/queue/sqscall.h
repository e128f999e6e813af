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
};

} // namespace sendonce
