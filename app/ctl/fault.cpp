#include "worker/faults/fault.h"
#include "app/ctl/commands.h"
#include "app/ctl/listing.h"
#include "app/ctl/terminal.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QLocalSocket>
#include <QRegularExpression>

#include <array>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr int Patience = 5000; ///< ms, for the services' answer
constexpr auto LongestTime = 24h;

/// An option that is a member of a rule's JSON form.
struct RuleOption
{
    enum class Kind { Text, Number, Time };
    CommandOption option;
    QString member;
    Kind kind;
};

const QList<RuleOption> &ruleOptions()
{
    using Kind = RuleOption::Kind;
    static const QList<RuleOption> Options = {
        {{u"code"_s, u"N"_s, u"451"_s, u"reply: 400 to 599"_s}, u"code"_s, Kind::Number},
        {{u"text"_s, u"TEXT"_s, {}, u"reply: what stands behind the code"_s}, u"text"_s, Kind::Text},
        {{u"delay"_s, u"TIME"_s, {}, u"delay, short-visibility, slow, clock-jump and hang: how long (1500ms, 2s)"_s},
         u"delayMs"_s,
         Kind::Time},
        {{u"count"_s, u"N"_s, {}, u"rate-limit: so many mails in each window"_s}, u"count"_s, Kind::Number},
        {{u"window"_s, u"TIME"_s, {}, u"rate-limit: how long a window is"_s}, u"windowMs"_s, Kind::Time},
        {{u"times"_s, u"N"_s, u"1"_s, u"the next N, then it is over"_s}, u"times"_s, Kind::Number},
        {{u"one-in"_s, u"N"_s, {}, u"of N that it could strike, one"_s}, u"oneIn"_s, Kind::Number},
        {{u"seed"_s, u"N"_s, u"0"_s, u"decides which: the same seed strikes the same attempts of the same events"_s},
         u"seed"_s,
         Kind::Number},
        {{u"event"_s, u"GLOB"_s, {}, u"only for these event ids (* and ?)"_s}, u"event"_s, Kind::Text},
        {{u"recipient"_s, u"GLOB"_s, {}, u"only for mails to these addresses"_s}, u"recipient"_s, Kind::Text},
        {{u"type"_s, u"GLOB"_s, {}, u"only for events of these types"_s}, u"type"_s, Kind::Text},
        {{u"for"_s, u"TIME"_s, {}, u"over after that"_s}, u"lastsMs"_s, Kind::Time},
    };
    return Options;
}

/// What is wrong with a rule, in the words of the command line: it says members.
QString inFlags(const QString &text)
{
    const qsizetype said = text.indexOf(", not "_L1); // behind it stands what the user wrote
    QString rule = text.left(said);
    for (const RuleOption &each : ruleOptions())
        rule.replace(QRegularExpression(u"(?<!-)\\b%1\\b"_s.arg(each.member)), u"--"_s + each.option.flag);
    return said < 0 ? rule : rule + text.mid(said);
}

Result<QJsonObject> ruleOf(const CommandLine &line, const QString &where, const QString &what)
{
    const auto invalid = [](const QString &text) { return Error{ErrorKind::Invalid, text, {}}; };
    QJsonObject object{{u"where"_s, where}, {u"what"_s, what}};
    for (const RuleOption &each : ruleOptions()) {
        if (!line.has(each.option.flag))
            continue;
        const QString value = line.value(each.option.flag);
        bool isNumber = false;
        const qint64 number = value.toLongLong(&isNumber);
        if (each.kind == RuleOption::Kind::Time) {
            const auto time = parseDuration(value);
            if (!time || *time > LongestTime) {
                return invalid(u"--%1 is “%2”; accepted: a time such as 2s or 1500ms, 24 hours at most"_s.arg(
                    each.option.flag, value));
            }
            object.insert(each.member, qint64(time->count()));
        } else if (each.kind == RuleOption::Kind::Number && isNumber) {
            object.insert(each.member, number);
        } else {
            object.insert(each.member, value);
        }
    }
    if (line.has(u"every"_s)) {
        if (line.has(u"times"_s))
            return invalid(u"--every and --times exclude each other"_s);
        object.insert(u"times"_s, 0);
    } else if (line.value(u"times"_s) == "0"_L1) {
        return invalid(u"--times is “0”; accepted: a number from 1 to 1000000, or --every in its place"_s);
    }
    const auto rule = faultRule(object);
    return rule ? Result<QJsonObject>(object) : invalid(inFlags(rule.error().text));
}

/// The path of the embedded services' control socket. Unreachable when they do not run, Invalid when queue, database or
/// mail are others: faults strike nobody else's.
Result<QString> controlSocketOf(const CommandLine &line, bool acts)
{
    const auto prepared = prepare(line);
    if (!prepared)
        return prepared.error();
    const Config &config = prepared->config;
    if (!prepared->local) {
        return Error{
            ErrorKind::Unreachable,
            u"no embedded services run in %1; start the console or sendoncectl local first"_s.arg(config.dataDir),
            {}};
    }
    if (!config.embedded) {
        return Error{
            ErrorKind::Invalid,
            u"faults work on the embedded services only; queue, database and mail are not all this data folder's"_s,
            {}};
    }
    if (acts && config.readOnly)
        return Error{ErrorKind::Invalid, u"this profile is read-only: it looks, but does not act"_s, {}};
    return config.controlSocket;
}

/// One line there, one line back (worker/faults/faultsocket.h). Unreachable without an answer, Io for what they refuse.
Result<QJsonObject> askServices(const QString &socketPath, const QJsonObject &request)
{
    QLocalSocket socket;
    socket.connectToServer(socketPath);
    socket.write(QJsonDocument(request).toJson(QJsonDocument::Compact) + '\n');
    while (socket.state() == QLocalSocket::ConnectedState && !socket.canReadLine()) {
        if (!socket.waitForReadyRead(Patience))
            break;
    }
    const QJsonObject answer = QJsonDocument::fromJson(socket.readLine()).object();
    if (answer.isEmpty()) {
        return Error{ErrorKind::Unreachable,
                     u"the embedded services do not answer at %1: %2"_s.arg(socketPath, socket.errorString()),
                     {}};
    }
    if (answer.contains("error"_L1))
        return Error{ErrorKind::Io, answer.value("error"_L1).toString(), {}};
    return answer;
}

FaultRules armedIn(const QJsonObject &answer)
{
    FaultRules rules;
    const QJsonArray armed = answer.value("armed"_L1).toArray();
    for (const QJsonValue each : armed) {
        if (auto rule = faultRule(each.toObject()))
            rules.append(rule.take());
    }
    return rules;
}

int fail(const Error &error)
{
    complain(error.text);
    return exitCodeOf(error);
}

/// The words before the first option.
QStringList takeNames(QStringList &words)
{
    QStringList names;
    while (!words.isEmpty() && !words.first().startsWith(u'-'))
        names.append(words.takeFirst());
    return names;
}

QString seconds(std::chrono::milliseconds time)
{
    return time > 0ms ? u"%1 s"_s.arg(double(time.count()) / 1000) : QString();
}

} // namespace

int runFaultPoints(const QStringList &words)
{
    CommandLine line(u"sendoncectl fault points"_s, u"lists where faults can strike, and what can happen there"_s, {},
                     {{u"json"_s, {}, {}, u"JSON lines"_s}});
    if (const auto ended = answered(line, words))
        return *ended;
    Listing listing({u"where"_s, u"what"_s}, line.has(u"json"_s));
    const QStringList names = faultPointNames();
    for (const QString &name : names) {
        QStringList effects;
        for (const FaultEffect effect : faultEffectsAt(faultPoint(name).value()))
            effects.append(faultEffectName(effect));
        const QJsonValue what =
            line.has(u"json"_s) ? QJsonValue(QJsonArray::fromStringList(effects)) : QJsonValue(effects.join(u", "_s));
        listing.add({{u"where"_s, name}, {u"what"_s, what}});
    }
    listing.print({});
    return Done;
}

int runFaultList(const QStringList &words)
{
    CommandLine line(u"sendoncectl fault list"_s, u"lists the armed faults, the oldest first"_s, {u"data-dir"_s},
                     {{u"json"_s, {}, {}, u"JSON lines"_s}});
    if (const auto ended = answered(line, words))
        return *ended;
    const auto socket = controlSocketOf(line, false);
    if (!socket)
        return fail(socket.error());
    const auto answer = askServices(socket.value(), {{u"status"_s, true}});
    if (!answer)
        return fail(answer.error());
    const bool json = line.has(u"json"_s);
    Listing listing({u"id"_s, u"fault"_s, u"struck"_s, u"ends in"_s}, json);
    for (const FaultRule &rule : armedIn(answer.value())) {
        if (json)
            sayJson(toJson(rule));
        else
            listing.add({{u"id"_s, rule.id},
                         {u"fault"_s, describe(rule)},
                         {u"struck"_s, rule.struck},
                         {u"ends in"_s, seconds(rule.left)}});
    }
    listing.print(u"nothing is armed"_s);
    return Done;
}

int runFaultArm(const QStringList &words)
{
    QList<CommandOption> options;
    for (const RuleOption &each : ruleOptions()) {
        options.append(each.option);
        if (each.option.flag == "times"_L1)
            options.append({u"every"_s, {}, {}, u"every time, until it is disarmed"_s});
    }
    options.append({u"json"_s, {}, {}, u"a JSON line instead of words"_s});
    CommandLine line(u"sendoncectl fault arm"_s,
                     u"WHERE WHAT: lets something fail in the embedded services and their workers"_s,
                     {u"data-dir"_s, u"read-only"_s}, options,
                     {u"sendoncectl fault points"_s, u"sendoncectl fault arm mail.rcpt reply --code 550 --times 3"_s,
                      u"sendoncectl fault arm worker.accepted crash --event 'demo-*'"_s,
                      u"sendoncectl fault arm database.commit cut --every --one-in 10 --seed 7 --for 30s"_s,
                      u"sendoncectl fault arm mail.mail rate-limit --count 5 --window 10s --every"_s});
    QStringList rest = words;
    const QStringList names = takeNames(rest);
    if (const auto ended = answered(line, rest))
        return *ended;
    if (names.size() != 2) {
        complain(u"say where and what: sendoncectl fault arm WHERE WHAT; sendoncectl fault points lists them"_s);
        return Usage;
    }
    const auto rule = ruleOf(line, names[0], names[1]);
    if (!rule)
        return fail(rule.error());
    const auto socket = controlSocketOf(line, true);
    if (!socket)
        return fail(socket.error());
    const auto answer = askServices(socket.value(), {{u"arm"_s, rule.value()}});
    if (!answer)
        return fail(answer.error());
    FaultRule armed = faultRule(rule.value()).value();
    armed.id = answer->value("id"_L1).toInt();
    if (line.has(u"json"_s))
        sayJson(toJson(armed));
    else
        say(u"armed %1: %2"_s.arg(QString::number(armed.id), inert(describe(armed))));
    return Done;
}

int runFaultDisarm(const QStringList &words)
{
    CommandLine line(u"sendoncectl fault disarm"_s, u"ID…: takes armed faults back"_s, {u"data-dir"_s, u"read-only"_s},
                     {{u"all"_s, {}, {}, u"all of them"_s}},
                     {u"sendoncectl fault disarm 7"_s, u"sendoncectl fault disarm --all"_s});
    QStringList rest = words;
    const QStringList names = takeNames(rest);
    if (const auto ended = answered(line, rest))
        return *ended;
    if (names.isEmpty() != line.has(u"all"_s)) {
        complain(u"say which: ID…, as sendoncectl fault list shows them, or --all"_s);
        return Usage;
    }
    QJsonArray which;
    for (const QString &name : names) {
        bool isNumber = false;
        const int id = name.toInt(&isNumber);
        if (!isNumber || id < 1) {
            complain(u"“%1” is no id of an armed fault; accepted: numbers, as sendoncectl fault list shows them"_s.arg(
                name));
            return Usage;
        }
        which.append(id);
    }
    if (line.has(u"all"_s))
        which.append(u"all"_s);
    const auto socket = controlSocketOf(line, true);
    if (!socket)
        return fail(socket.error());
    int code = Done;
    for (const QJsonValue each : std::as_const(which)) {
        const auto answer = askServices(socket.value(), {{u"disarm"_s, each}});
        if (!answer)
            code = fail(answer.error());
        else
            say(each.isString() ? u"disarmed all"_s : u"disarmed %1"_s.arg(each.toInt()));
    }
    return code;
}

} // namespace sendonce
