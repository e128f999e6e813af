#include "worker/faults/fault.h"

#include <QJsonArray>
#include <QJsonDocument>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;
using std::chrono::milliseconds;

namespace {

constexpr int MaxTimes = 1'000'000;
constexpr int MinReplyCode = 400;
constexpr int MaxReplyCode = 599;
constexpr qint64 LongestMsec = 24 * 3600 * 1000;
constexpr qsizetype MaxText = 400; ///< a reply line has 512 octets
constexpr qsizetype MaxGlob = 320; ///< a mail address may have 320 octets

using Effect = FaultEffect;

constexpr std::array<QLatin1StringView, FaultEffectCount> EffectNames = {
    "reply"_L1,
    "delay"_L1,
    "close"_L1,
    "reset"_L1,
    "store-then-close"_L1,
    "store-then-reset"_L1,
    "half-reply"_L1,
    "garbage"_L1,
    "suppress"_L1,
    "rate-limit"_L1,
    "fail"_L1,
    "throttle"_L1,
    "empty"_L1,
    "duplicate"_L1,
    "disorder"_L1,
    "short-visibility"_L1,
    "fail-entry"_L1,
    "expired-handle"_L1,
    "busy"_L1,
    "lock-timeout"_L1,
    "cut"_L1,
    "commit-then-cut"_L1,
    "read-only"_L1,
    "disk-full"_L1,
    "crash"_L1,
    "hang"_L1,
    "slow"_L1,
    "clock-jump"_L1,
};

struct Point
{
    QLatin1StringView name;
    QList<Effect> effects;
};

const std::array<Point, FaultPointCount> &points()
{
    static const QList<Effect> onTheWire = {Effect::Reply, Effect::Delay,     Effect::Close,
                                            Effect::Reset, Effect::HalfReply, Effect::Garbage};
    static const QList<Effect> inWork = {Effect::Crash, Effect::Hang, Effect::Slow, Effect::ClockJump};
    static const std::array<Point, FaultPointCount> all = {{
        {"mail.connect"_L1, onTheWire},
        {"mail.ehlo"_L1, onTheWire},
        {"mail.mail"_L1, onTheWire + QList{Effect::RateLimit}},
        {"mail.rcpt"_L1, onTheWire},
        {"mail.data"_L1, onTheWire},
        {"mail.text"_L1, {Effect::Delay, Effect::Close, Effect::Reset}},
        {"mail.end"_L1, onTheWire + QList{Effect::StoreThenClose, Effect::StoreThenReset}},
        {"mail.store"_L1, {Effect::Reply, Effect::Suppress}},
        {"mail.next"_L1, {Effect::Reply, Effect::Close, Effect::Reset}},
        {"queue.request"_L1, {Effect::Fail, Effect::Throttle, Effect::Close}},
        {"queue.send"_L1, {Effect::Fail, Effect::Throttle, Effect::FailEntry}},
        {"queue.receive"_L1,
         {Effect::Fail, Effect::Throttle, Effect::Empty, Effect::Duplicate, Effect::Disorder, Effect::ShortVisibility}},
        {"queue.delete"_L1, {Effect::Fail, Effect::Throttle, Effect::FailEntry, Effect::ExpiredHandle}},
        {"database.claim"_L1, {Effect::Busy, Effect::LockTimeout, Effect::Cut, Effect::ReadOnly, Effect::DiskFull}},
        {"database.look-up"_L1, {Effect::Busy, Effect::LockTimeout, Effect::Cut}},
        {"database.commit"_L1, {Effect::Busy, Effect::Cut, Effect::CommitThenCut, Effect::ReadOnly, Effect::DiskFull}},
        {"database.reclaim"_L1, {Effect::Busy, Effect::Cut, Effect::ReadOnly, Effect::DiskFull}},
        {"worker.received"_L1, inWork},
        {"worker.claimed"_L1, inWork},
        {"worker.looked-up"_L1, inWork},
        {"worker.mid-mail"_L1, inWork},
        {"worker.handed-over"_L1, {Effect::Crash, Effect::Hang, Effect::Slow}},
        {"worker.accepted"_L1, {Effect::Crash, Effect::Hang, Effect::Slow}},
        {"worker.committed"_L1, {Effect::Crash, Effect::Hang, Effect::Slow}},
        {"worker.deleted"_L1, {Effect::Crash}},
    }};
    return all;
}

/// A value as an error shows it: JSON, cut.
QString shown(const QJsonValue &value)
{
    if (value.isUndefined())
        return u"nothing"_s;
    const QByteArray json = QJsonDocument(QJsonArray{value}).toJson(QJsonDocument::Compact);
    const QString text = QString::fromUtf8(json.sliced(1, json.size() - 2));
    return text.size() > 60 ? text.first(60) + u"…"_s : text;
}

Error invalid(const QString &text)
{
    return {ErrorKind::Invalid, text, {}};
}

Error noSuchPoint(const QJsonValue &said)
{
    return invalid(u"where is %1; accepted: %2"_s.arg(shown(said), faultPointNames().join(u", "_s)));
}

Error noSuchEffect(const QJsonValue &said, FaultPoint at)
{
    QStringList names;
    for (const FaultEffect effect : faultEffectsAt(at))
        names.append(faultEffectName(effect));
    return invalid(u"what is %1; accepted at %2: %3"_s.arg(shown(said), faultPointName(at), names.join(u", "_s)));
}

/// What is wrong with a member that is to be a whole number; empty: nothing, or it is missing.
QString numberProblem(const QJsonObject &object, const QString &member, qint64 least, qint64 most)
{
    const QJsonValue value = object.value(member);
    if (value.isUndefined())
        return {};
    const double number = value.toDouble(-1);
    if (value.isDouble() && number >= double(least) && number <= double(most) && number == double(qint64(number)))
        return {};
    return u"%1 must be a whole number from %2 to %3, not %4"_s.arg(member, QString::number(least),
                                                                    QString::number(most), shown(value));
}

QString textProblem(const QJsonObject &object, const QString &member, qsizetype longest, bool asciiOnly)
{
    const QJsonValue value = object.value(member);
    if (value.isUndefined())
        return {};
    const QString text = value.toString();
    const auto letters = text.toUcs4();
    const bool printable = std::all_of(letters.cbegin(), letters.cend(), [=](char32_t c) {
        return asciiOnly ? c >= U' ' && c <= U'~' : QChar::isPrint(c);
    });
    if (value.isString() && printable && !text.isEmpty() && text.size() <= longest)
        return {};
    return u"%1 must be 1 to %2 printable %3characters, not %4"_s.arg(
        member, QString::number(longest), asciiOnly ? u"ASCII "_s : QString(), shown(value));
}

bool takesDelay(Effect effect)
{
    return effect == Effect::Delay || effect == Effect::ShortVisibility || effect == Effect::Hang
        || effect == Effect::Slow || effect == Effect::ClockJump;
}

/// What is missing, or there in vain, for what the rule does; empty: nothing.
QString contradiction(const FaultRule &rule, const QJsonObject &object)
{
    const QString what = faultEffectName(rule.what);
    const auto isThere = [&object](QLatin1StringView member) { return object.contains(member); };
    if (rule.what != Effect::Reply && (isThere("code"_L1) || isThere("text"_L1)))
        return u"code and text are for \"reply\", not for \"%1\""_s.arg(what);
    if (rule.what != Effect::RateLimit && (isThere("count"_L1) || isThere("windowMs"_L1)))
        return u"count and windowMs are for \"rate-limit\", not for \"%1\""_s.arg(what);
    if (rule.what == Effect::RateLimit && (rule.count == 0 || rule.window.count() == 0))
        return u"\"rate-limit\" needs count and windowMs: so many mails in each window"_s;
    if (!takesDelay(rule.what) && isThere("delayMs"_L1))
        return u"delayMs is not for \"%1\""_s.arg(what);
    if (takesDelay(rule.what) && rule.what != Effect::Hang && rule.delay.count() == 0)
        return u"\"%1\" needs delayMs: how long"_s.arg(what);
    if (rule.oneIn == 1 && isThere("seed"_L1))
        return u"seed is for oneIn: it decides which"_s;
    if (rule.where == FaultPoint::MailNext && rule.what == Effect::Reply && rule.code != 421)
        return u"between two mails a server says nothing but 421: code must be 421, not %1"_s.arg(rule.code);
    return {};
}

QString standardText(int code)
{
    // Class and basic code agree: x.3.0 is "other mail system status" (RFC 3463, 3.4).
    return code < 500 ? u"4.3.0 mail server down (armed fault)"_s : u"5.3.0 mail refused (armed fault)"_s;
}

} // namespace

QString faultPointName(FaultPoint point)
{
    return points()[size_t(point)].name;
}

QString faultEffectName(FaultEffect effect)
{
    return EffectNames[size_t(effect)];
}

QStringList faultPointNames()
{
    QStringList names;
    for (const Point &point : points())
        names.append(point.name);
    return names;
}

QList<FaultEffect> faultEffectsAt(FaultPoint point)
{
    return points()[size_t(point)].effects;
}

Result<FaultPoint> faultPoint(const QString &name)
{
    for (size_t i = 0; i < points().size(); ++i) {
        if (points()[i].name == name)
            return FaultPoint(i);
    }
    return noSuchPoint(name);
}

Result<FaultEffect> faultEffect(const QString &name, FaultPoint at)
{
    for (const FaultEffect effect : faultEffectsAt(at)) {
        if (faultEffectName(effect) == name)
            return effect;
    }
    return noSuchEffect(name, at);
}

QJsonObject toJson(const FaultRule &rule)
{
    const FaultRule none;
    QJsonObject object{{u"where"_s, faultPointName(rule.where)}, {u"what"_s, faultEffectName(rule.what)}};
    const auto put = [&object](const QString &member, qint64 value, qint64 standard) {
        if (value != standard)
            object.insert(member, value);
    };
    const auto putText = [&object](const QString &member, const QString &value) {
        if (!value.isEmpty())
            object.insert(member, value);
    };
    put(u"id"_s, rule.id, 0);
    if (rule.what == Effect::Reply) {
        object.insert(u"code"_s, rule.code);
        putText(u"text"_s, rule.text);
    }
    put(u"delayMs"_s, rule.delay.count(), 0);
    put(u"count"_s, rule.count, 0);
    put(u"windowMs"_s, rule.window.count(), 0);
    object.insert(u"times"_s, rule.times);
    put(u"oneIn"_s, rule.oneIn, 1);
    if (rule.oneIn > 1)
        put(u"seed"_s, rule.seed, 0);
    putText(u"event"_s, rule.event);
    putText(u"recipient"_s, rule.recipient);
    putText(u"type"_s, rule.type);
    put(u"lastsMs"_s, rule.lasts.count(), 0);
    put(u"struck"_s, rule.struck, 0);
    put(u"leftMs"_s, rule.left.count(), 0);
    return object;
}

Result<FaultRule> faultRule(const QJsonObject &object)
{
    static const QStringList members = {u"where"_s,  u"what"_s,      u"code"_s,  u"text"_s,    u"delayMs"_s,
                                        u"count"_s,  u"windowMs"_s,  u"times"_s, u"oneIn"_s,   u"seed"_s,
                                        u"event"_s,  u"recipient"_s, u"type"_s,  u"lastsMs"_s, u"id"_s,
                                        u"struck"_s, u"leftMs"_s};
    for (const QString &member : object.keys()) {
        if (!members.contains(member))
            return invalid(u"%1 is not known in a fault; accepted: %2"_s.arg(shown(member), members.join(u", "_s)));
    }
    FaultRule rule;
    const auto where = faultPoint(object.value("where"_L1).toString());
    if (!where)
        return noSuchPoint(object.value("where"_L1));
    rule.where = where.value();
    const auto what = faultEffect(object.value("what"_L1).toString(), rule.where);
    if (!what)
        return noSuchEffect(object.value("what"_L1), rule.where);
    rule.what = what.value();
    for (const QString &problem :
         {numberProblem(object, u"code"_s, MinReplyCode, MaxReplyCode), textProblem(object, u"text"_s, MaxText, true),
          numberProblem(object, u"delayMs"_s, 0, LongestMsec), numberProblem(object, u"count"_s, 1, MaxTimes),
          numberProblem(object, u"windowMs"_s, 1, LongestMsec), numberProblem(object, u"times"_s, 0, MaxTimes),
          numberProblem(object, u"oneIn"_s, 1, MaxTimes),
          numberProblem(object, u"seed"_s, 0, std::numeric_limits<quint32>::max()),
          textProblem(object, u"event"_s, MaxGlob, false), textProblem(object, u"recipient"_s, MaxGlob, false),
          textProblem(object, u"type"_s, MaxGlob, false), numberProblem(object, u"lastsMs"_s, 0, LongestMsec),
          numberProblem(object, u"id"_s, 0, std::numeric_limits<int>::max()),
          numberProblem(object, u"struck"_s, 0, std::numeric_limits<int>::max()),
          numberProblem(object, u"leftMs"_s, 0, LongestMsec)}) {
        if (!problem.isEmpty())
            return invalid(problem);
    }
    rule.code = object.value("code"_L1).toInt(rule.code);
    if (rule.where == FaultPoint::MailNext && !object.contains("code"_L1))
        rule.code = 421;
    if (rule.what == Effect::Reply) {
        rule.text = object.value("text"_L1).toString();
        if (rule.text.isEmpty())
            rule.text = standardText(rule.code);
    }
    rule.delay = milliseconds(object.value("delayMs"_L1).toInteger());
    rule.count = object.value("count"_L1).toInt();
    rule.window = milliseconds(object.value("windowMs"_L1).toInteger());
    rule.times = object.value("times"_L1).toInt(rule.times);
    rule.oneIn = object.value("oneIn"_L1).toInt(rule.oneIn);
    rule.seed = quint32(object.value("seed"_L1).toInteger());
    rule.event = object.value("event"_L1).toString();
    rule.recipient = object.value("recipient"_L1).toString();
    rule.type = object.value("type"_L1).toString();
    rule.lasts = milliseconds(object.value("lastsMs"_L1).toInteger());
    rule.id = object.value("id"_L1).toInt();
    rule.struck = object.value("struck"_L1).toInt();
    rule.left = milliseconds(object.value("leftMs"_L1).toInteger());
    if (const QString problem = contradiction(rule, object); !problem.isEmpty())
        return invalid(problem);
    return rule;
}

QString describe(const FaultRule &rule)
{
    QStringList parts;
    QString what = faultEffectName(rule.what);
    if (rule.what == Effect::Reply)
        what += u" %1"_s.arg(rule.code);
    else if (rule.what == Effect::RateLimit)
        what += u" %1 in %2 ms"_s.arg(rule.count).arg(rule.window.count());
    else if (rule.delay.count() > 0)
        what += u" %1 ms"_s.arg(rule.delay.count());
    parts.append(u"%1: %2"_s.arg(faultPointName(rule.where), what));
    if (rule.oneIn > 1)
        parts.append(u"one in %1 (seed %2)"_s.arg(rule.oneIn).arg(rule.seed));
    if (rule.times > 0)
        parts.append(u"next %1"_s.arg(rule.remaining()));
    else if (rule.oneIn == 1)
        parts.append(u"every time"_s);
    for (const auto &[name, glob] : {std::pair(u"event"_s, rule.event), std::pair(u"recipient"_s, rule.recipient),
                                     std::pair(u"type"_s, rule.type)}) {
        if (!glob.isEmpty())
            parts.append(name + u' ' + glob);
    }
    if (rule.lasts.count() > 0)
        parts.append(u"for %1 s"_s.arg(double(rule.lasts.count()) / 1000));
    return parts.join(u", "_s);
}

QJsonObject toJson(const Fault &fault)
{
    return {{u"what"_s, faultEffectName(fault.what)},
            {u"code"_s, fault.code},
            {u"text"_s, fault.text},
            {u"delayMs"_s, qint64(fault.delay.count())}};
}

std::optional<Fault> faultFromJson(const QJsonObject &object)
{
    const QString name = object.value("what"_L1).toString();
    const auto found = std::find(EffectNames.cbegin(), EffectNames.cend(), name);
    if (found == EffectNames.cend())
        return std::nullopt;
    Fault fault;
    fault.what = FaultEffect(found - EffectNames.cbegin());
    fault.code = object.value("code"_L1).toInt();
    fault.text = object.value("text"_L1).toString();
    fault.delay = milliseconds(object.value("delayMs"_L1).toInteger());
    return fault;
}

} // namespace sendonce
