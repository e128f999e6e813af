#include "worker/queue/clockskew.h"

#include <QLocale>
#include <QStringList>

using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace sendonce::clockskew {

namespace {

constexpr std::chrono::seconds Threshold = 240s; // the JavaScript SDK's: servers accept about 5 min

/// The first three mean skew; the others are what a wrong key looks like too.
bool maySaySkew(const QString &code)
{
    static const QStringList codes = {u"RequestTimeTooSkewed"_s,  u"RequestExpired"_s,
                                      u"RequestInTheFuture"_s,    u"InvalidSignatureException"_s,
                                      u"SignatureDoesNotMatch"_s, u"AuthFailure"_s};
    return codes.contains(code);
}

/// "Tue, 15 Nov 1994 08:12:31 GMT", the one form that servers may send today (RFC 9110, 5.6.7). Date and time apart: as
/// one local date-time it would not be valid inside the hour that summer time skips.
QDateTime parseHttpDate(const QString &text)
{
    if (!text.endsWith(" GMT"_L1))
        return {};
    const QDate date = QLocale::c().toDate(text.left(16), u"ddd, dd MMM yyyy"_s);
    const QTime time = QTime::fromString(text.mid(17, 8), u"hh:mm:ss"_s);
    return date.isValid() && time.isValid() ? QDateTime(date, time, Qt::UTC) : QDateTime();
}

} // namespace

std::optional<std::chrono::seconds> correction(const QString &code, const QByteArray &date, const QByteArray &age,
                                               const QDateTime &now, std::chrono::seconds assumed)
{
    if (!maySaySkew(code))
        return std::nullopt;
    const QDateTime server = parseHttpDate(QString::fromLatin1(date).trimmed());
    if (!server.isValid())
        return std::nullopt;
    const std::chrono::seconds offset{now.secsTo(server) + age.trimmed().toUInt()};
    if (std::chrono::abs(offset - assumed) < Threshold)
        return std::nullopt;
    return offset;
}

QString describe(std::chrono::seconds offset)
{
    const qint64 seconds = std::chrono::abs(offset).count();
    QStringList parts;
    if (seconds >= 3600)
        parts.append(u"%1 h"_s.arg(seconds / 3600));
    if (seconds >= 60 && seconds < 86400)
        parts.append(u"%1 min"_s.arg(seconds / 60 % 60));
    if (seconds < 3600)
        parts.append(u"%1 s"_s.arg(seconds % 60));
    return u"this computer's clock is %1 %2"_s.arg(parts.join(u' '), offset.count() > 0 ? u"behind"_s : u"ahead"_s);
}

} // namespace sendonce::clockskew
