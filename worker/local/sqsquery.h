#pragma once

#include "worker/local/sqsoperations.h"

#include <map>

namespace sendonce::local {

/// The query protocol's requests (sqs.md, section 3): parameters as a form, lists flattened into "Name.1", "Name.2".
/// Pure. What is answered is sqsxml.h's.
class SqsQuery
{
public:
    /// Takes a form apart. '+' and %20 are blanks; of a parameter that is given twice the first counts, and what stands
    /// in the body beats what stands in the URL. Refused: text that is no UTF-8 after decoding, half an escape, more
    /// than 2000 parameters (a full batch has under 700).
    static std::variant<SqsQuery, SqsError> parse(const QByteArray &body, const QByteArray &urlQuery);

    /// What is asked for; empty: there is no such parameter.
    QByteArray action() const { return value("Action").toLatin1(); }
    QString value(const QByteArray &name) const;

    /// Reads the operation that action() names; see readSqsRequest(). Version is not looked at: there is only one.
    std::variant<SqsRequest, SqsError> read(const QString &pathQueue, const QString &traceHeader) const;

private:
    friend class QueryMembers;
    std::map<QByteArray, QString> m_parameters;
};

} // namespace sendonce::local
