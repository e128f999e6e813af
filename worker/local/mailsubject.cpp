#include "worker/local/mailsubject.h"

namespace sendonce {

namespace {

/// The value of the first header of that name, unfolded; empty when there is none.
QByteArray header(const QByteArray &mail, const QByteArray &name)
{
    for (qsizetype begin = 0; begin < mail.size();) {
        qsizetype end = mail.indexOf("\r\n", begin);
        if (end < 0)
            end = mail.size();
        if (end == begin)
            break; // the empty line behind the headers
        while (end + 2 < mail.size() && (mail[end + 2] == ' ' || mail[end + 2] == '\t')) {
            const qsizetype next = mail.indexOf("\r\n", end + 2);
            end = next < 0 ? mail.size() : next;
        }
        const QByteArray line = mail.sliced(begin, end - begin);
        if (line.size() > name.size() && line[name.size()] == ':'
            && line.first(name.size()).compare(name, Qt::CaseInsensitive) == 0)
            return line.sliced(name.size() + 1).replace("\r\n", "").trimmed();
        begin = end + 2;
    }
    return {};
}

} // namespace

FaultSubject mailSubject(const QByteArray &mail)
{
    FaultSubject subject;
    subject.event = QString::fromUtf8(header(mail, "X-Sendonce-Event"));
    const QByteArray id = header(mail, "Message-ID"), date = header(mail, "Date");
    if (!id.isEmpty() && !date.isEmpty())
        subject.key = QString::fromUtf8(id + ' ' + date);
    return subject;
}

} // namespace sendonce
