#include "worker/scenario/scenariofile.h"

#include "worker/events/quoted.h"
#include "worker/events/strictjson.h"

#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>

#include <algorithm>
#include <array>

// Outside of every namespace, as Q_INIT_RESOURCE asks: the linker drops a resource of a static library that nothing
// names.
static void linkScenarios()
{
    Q_INIT_RESOURCE(scenarios);
}

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

using Check = ScenarioCheck;

constexpr qint64 FileSizeLimit = 1 << 20;
constexpr int MostCopies = 10'000;
constexpr int LongestMsec = 600'000;

const QStringList OutcomeNames = {u"sent"_s, u"duplicate"_s, u"gone"_s, u"failed"_s, u"in-doubt"_s, u"given-back"_s};
const QStringList VerdictNames = {u"not-handled"_s, u"handled"_s, u"in-doubt"_s,
                                  u"unknown"_s,     u"invalid"_s, u"forgotten"_s};
const QStringList ReplayNames = {u"replayed"_s, u"copy-left"_s, u"failed"_s,
                                 u"mailed"_s,   u"skipped"_s,   u"dead-again"_s};

/// Reads one file, member by member; the first fault is kept, with file, line and field.
class Reader
{
public:
    explicit Reader(QString source) : m_source(std::move(source)) { }

    const std::optional<Error> &fault() const { return m_fault; }
    Scenario read(const JsonValue &root);

private:
    /// A value, and how it is reached.
    struct At
    {
        const JsonValue &value;
        QString path;

        At member(const QString &name, const JsonValue &found) const
        {
            return {found, path.isEmpty() ? name : path + u'.' + name};
        }
        At item(qsizetype index) const { return {value.items[index], u"%1[%2]"_s.arg(path).arg(index)}; }
    };

    void fail(const At &at, const QString &text)
    {
        if (!m_fault)
            m_fault = Error{ErrorKind::Invalid, u"%1, line %2: %3"_s.arg(m_source).arg(at.value.line).arg(text), {}};
    }
    void refuse(const At &at, const QString &accepted)
    {
        fail(at, u"%1 is %2; %3 is accepted"_s.arg(at.path, at.value.described(), accepted));
    }
    /// The member; nothing when it is missing.
    std::optional<At> find(const At &at, const QString &name) const
    {
        const JsonValue *found = at.value.find(name);
        return found ? std::optional(at.member(name, *found)) : std::nullopt;
    }
    std::optional<At> require(const At &at, const QString &name, const QString &accepted)
    {
        auto found = find(at, name);
        if (!found)
            fail(at, u"%1 is missing; %2 is accepted"_s.arg(at.member(name, at.value).path, accepted));
        return found;
    }
    bool isObject(const At &at, const QStringList &known);

    QString text(const At &at, const QString &accepted = u"a text"_s);
    int number(const At &at, int least, int most);
    int numberOr(const At &at, const QString &name, int fallback, int least, int most);
    bool flag(const At &at);
    QString oneOf(const At &at, const QStringList &names);
    QStringList labels(const At &at, bool isEmptyAccepted = false);
    QString label(const At &at);
    void mustBeSent(const At &at, const QString &label);

    WorldSettings world(const At &at);
    ScenarioStep step(const At &at);
    ScenarioAct act(const QString &kind, const At &at);
    SendStep send(const At &at);
    ArmStep arm(const At &at);
    ReplayStep replay(const At &at);
    BoardStep changeUser(const At &at);
    int whichWorker(const At &at);
    QList<Check> checks(const At &at);
    void completeExpectations(Scenario &scenario, const At &at);
    QList<Check> check(const QString &name, const At &at);
    Check outcomes(const QString &event, const At &at);

    const QString m_source;
    std::optional<Error> m_fault;
    QStringList m_sent; ///< labels so far
    int m_workers = 1;
};

bool Reader::isObject(const At &at, const QStringList &known)
{
    if (!at.value.isObject()) {
        refuse(at, u"an object"_s);
        return false;
    }
    for (qsizetype i = 0; i < at.value.keys.size(); ++i) {
        const QString &key = at.value.keys[i];
        if (!known.contains(key)) {
            fail(at.member(key, at.value.items[i]),
                 u"%1 is not known here; known are %2"_s.arg(at.member(quoted(key), at.value).path,
                                                             known.join(u", "_s)));
        }
    }
    return true;
}

QString Reader::text(const At &at, const QString &accepted)
{
    if (!at.value.isText() || at.value.text.trimmed().isEmpty())
        refuse(at, accepted);
    return at.value.text;
}

int Reader::number(const At &at, int least, int most)
{
    const auto value = at.value.integer();
    if (value && *value >= least && *value <= most)
        return int(*value);
    refuse(at, u"a number from %1 to %2"_s.arg(least).arg(most));
    return least;
}

int Reader::numberOr(const At &at, const QString &name, int fallback, int least, int most)
{
    const auto found = find(at, name);
    return found ? number(*found, least, most) : fallback;
}

bool Reader::flag(const At &at)
{
    if (at.value.kind != JsonValue::Kind::True && at.value.kind != JsonValue::Kind::False)
        refuse(at, u"true or false"_s);
    return at.value.kind == JsonValue::Kind::True;
}

QString Reader::oneOf(const At &at, const QStringList &names)
{
    if (!at.value.isText() || !names.contains(at.value.text))
        refuse(at, u"one of "_s + names.join(u", "_s));
    return at.value.text;
}

QString Reader::label(const At &at)
{
    static const QRegularExpression pattern(u"\\A[A-Za-z][A-Za-z0-9_-]{0,19}\\z"_s);
    if (!at.value.isText() || !pattern.match(at.value.text).hasMatch())
        refuse(at, u"a label of 1 to 20 letters, digits, - and _, a letter first,"_s);
    return at.value.text;
}

QStringList Reader::labels(const At &at, bool isEmptyAccepted)
{
    if (at.value.kind != JsonValue::Kind::Array)
        return {label(at)};
    QStringList labels;
    for (qsizetype i = 0; i < at.value.items.size(); ++i)
        labels.append(label(at.item(i)));
    if (labels.isEmpty() && !isEmptyAccepted)
        fail(at, u"%1 is empty; one label at least is accepted"_s.arg(at.path));
    return labels;
}

/// A misspelt label would otherwise be an event that never gets an e-mail.
void Reader::mustBeSent(const At &at, const QString &label)
{
    if (!m_sent.contains(label))
        fail(at,
             u"%1 names the event %2, which no step before has sent; %3 accepted"_s.arg(
                 at.path, quoted(label),
                 m_sent.isEmpty() ? u"nothing is"_s
                                  : m_sent.join(u", "_s) + (m_sent.size() == 1 ? u" is"_s : u" are"_s)));
}

WorldSettings Reader::world(const At &at)
{
    WorldSettings world;
    if (!isObject(at,
                  {u"workers"_s, u"visibilitySeconds"_s, u"maxReceiveCount"_s, u"strategy"_s, u"inDoubt"_s,
                   u"heartbeat"_s, u"mailTimeoutMs"_s, u"mailFinalTimeoutMs"_s, u"mailRate"_s}))
        return world;
    world.workers = numberOr(at, u"workers"_s, world.workers, 1, 8);
    world.visibility = std::chrono::seconds(numberOr(at, u"visibilitySeconds"_s, 1, 1, 60));
    world.maxReceiveCount = numberOr(at, u"maxReceiveCount"_s, world.maxReceiveCount, 1, 1000);
    if (const auto strategy = find(at, u"strategy"_s)) {
        const QString name = oneOf(*strategy, {u"transaction"_s, u"claim-send-mark"_s});
        world.strategy = name == "claim-send-mark"_L1 ? Strategy::ClaimSendMark : Strategy::Transaction;
    }
    if (const auto policy = find(at, u"inDoubt"_s)) {
        const QStringList names = {u"resend"_s, u"hold"_s, u"ask"_s};
        static constexpr std::array Policies{DoubtPolicy::Resend, DoubtPolicy::Hold, DoubtPolicy::Ask};
        world.inDoubt = Policies[size_t(std::max<qsizetype>(0, names.indexOf(oneOf(*policy, names))))];
    }
    if (const auto heartbeat = find(at, u"heartbeat"_s))
        world.heartbeat = flag(*heartbeat);
    world.mailTimeout = 1ms * numberOr(at, u"mailTimeoutMs"_s, int(world.mailTimeout.count()), 100, LongestMsec);
    world.mailFinalTimeout =
        1ms * numberOr(at, u"mailFinalTimeoutMs"_s, int(world.mailFinalTimeout.count()), 100, LongestMsec);
    world.mailRate = numberOr(at, u"mailRate"_s, 0, 0, 100'000);
    return world;
}

SendStep Reader::send(const At &at)
{
    SendStep step;
    if (!isObject(at,
                  {u"event"_s, u"copies"_s, u"type"_s, u"application"_s, u"old"_s, u"new"_s, u"delaySeconds"_s,
                   u"wrap"_s, u"body"_s}))
        return step;
    if (const auto event = require(at, u"event"_s, u"a label such as A, or a list of them,"_s))
        step.events = labels(*event);
    step.copies = numberOr(at, u"copies"_s, 1, 1, MostCopies);
    step.application = numberOr(at, u"application"_s, 3, 0, std::numeric_limits<int>::max());
    step.delaySeconds = numberOr(at, u"delaySeconds"_s, 0, 0, 900);
    for (const auto &[name, target] : {std::pair(u"type"_s, &step.type), std::pair(u"old"_s, &step.oldStatus),
                                       std::pair(u"new"_s, &step.newStatus)}) {
        if (const auto found = find(at, name))
            *target = text(*found);
    }
    if (const auto wrap = find(at, u"wrap"_s)) {
        const QString name = oneOf(*wrap, {u"sns"_s, u"eventbridge"_s});
        step.wrapping = name == "sns"_L1 ? SendStep::Wrapping::Sns : SendStep::Wrapping::EventBridge;
    }
    if (const auto body = find(at, u"body"_s)) {
        step.body = text(*body);
        for (const QString &other : {u"type"_s, u"application"_s, u"old"_s, u"new"_s}) {
            if (const auto found = find(at, other))
                fail(*found, u"%1 is given beside a body; the body alone is accepted"_s.arg(found->path));
        }
    }
    m_sent += step.events;
    return step;
}

ArmStep Reader::arm(const At &at)
{
    if (!at.value.isObject()) {
        refuse(at, u"an object that says where and what"_s);
        return {};
    }
    const auto rule = faultRule(QJsonDocument::fromJson(canonicalJson(at.value)).object());
    if (!rule) {
        fail(at, u"%1: %2"_s.arg(at.path, rule.error().text));
        return {};
    }
    return {rule.value()};
}

ReplayStep Reader::replay(const At &at)
{
    ReplayStep step;
    if (at.value.isText() && at.value.text == "all"_L1)
        return step;
    if (!at.value.isObject()) {
        refuse(at, u"“all”, or an object with events, reason, canary and perSecond,"_s);
        return step;
    }
    isObject(at, {u"events"_s, u"reason"_s, u"canary"_s, u"perSecond"_s});
    if (const auto events = find(at, u"events"_s)) {
        step.events = labels(*events);
        for (const QString &event : std::as_const(step.events))
            mustBeSent(*events, event);
    }
    if (const auto reason = find(at, u"reason"_s))
        step.reason = text(*reason);
    if (const auto canary = find(at, u"canary"_s))
        step.canary = flag(*canary);
    step.perSecond = numberOr(at, u"perSecond"_s, 0, 0, 500);
    return step;
}

BoardStep Reader::changeUser(const At &at)
{
    BoardStep step;
    step.what = BoardStep::What::ChangeUser;
    if (!isObject(at, {u"id"_s, u"email"_s}))
        return step;
    if (const auto id = require(at, u"id"_s, u"a user's number"_s))
        step.id = number(*id, 1, std::numeric_limits<int>::max());
    if (const auto email = require(at, u"email"_s, u"a text, which may be no address,"_s)) {
        if (!email->value.isText())
            refuse(*email, u"a text, which may be no address,"_s);
        step.email = email->value.text;
    }
    return step;
}

int Reader::whichWorker(const At &at)
{
    if (at.value.isText() && at.value.text == "all"_L1)
        return 0;
    const auto value = at.value.integer();
    if (value && *value >= 1 && *value <= m_workers)
        return int(*value);
    refuse(at, u"“all” or a worker from 1 to %1"_s.arg(m_workers));
    return 0;
}

ScenarioAct Reader::act(const QString &kind, const At &at)
{
    const auto onlyAll = [this, &at] { (void)oneOf(at, {u"all"_s}); };
    const auto row = [this, &at] { return number(at, 1, std::numeric_limits<int>::max()); };
    if (kind == "send"_L1)
        return send(at);
    if (kind == "arm"_L1)
        return arm(at);
    if (kind == "disarm"_L1) {
        onlyAll();
        return DisarmStep{};
    }
    if (kind == "start"_L1)
        return StartStep{whichWorker(at)};
    if (kind == "stop"_L1)
        return StopStep{whichWorker(at)};
    if (kind == "wait"_L1)
        return WaitStep{checks(at)};
    if (kind == "browse"_L1) {
        if (!flag(at))
            refuse(at, u"true"_s);
        return BrowseStep{};
    }
    if (kind == "replay"_L1)
        return replay(at);
    if (kind == "deleteApplication"_L1)
        return BoardStep{BoardStep::What::DeleteApplication, row(), {}};
    if (kind == "deleteUser"_L1)
        return BoardStep{BoardStep::What::DeleteUser, row(), {}};
    if (kind == "deleteCompany"_L1)
        return BoardStep{BoardStep::What::DeleteCompany, row(), {}};
    if (kind == "changeUser"_L1)
        return changeUser(at);
    CleanUpStep step;
    if (isObject(at, {u"afterDays"_s}))
        step.afterDays = numberOr(at, u"afterDays"_s, 0, 0, 36'500);
    return step;
}

ScenarioStep Reader::step(const At &at)
{
    static const QStringList Kinds = {u"send"_s,
                                      u"arm"_s,
                                      u"disarm"_s,
                                      u"start"_s,
                                      u"stop"_s,
                                      u"wait"_s,
                                      u"browse"_s,
                                      u"replay"_s,
                                      u"deleteUser"_s,
                                      u"deleteCompany"_s,
                                      u"deleteApplication"_s,
                                      u"changeUser"_s,
                                      u"cleanUp"_s};
    ScenarioStep step;
    step.line = at.value.line;
    if (!isObject(at, Kinds + QStringList{u"timeoutMs"_s}))
        return step;
    QStringList given;
    for (const QString &key : at.value.keys) {
        if (Kinds.contains(key))
            given.append(key);
    }
    if (given.size() != 1) {
        fail(at,
             u"%1 holds %2; exactly one of %3 is accepted"_s.arg(
                 at.path, given.isEmpty() ? u"none"_s : given.join(u" and "_s), Kinds.join(u", "_s)));
        return step;
    }
    step.act = act(given.first(), *find(at, given.first()));
    if (const auto timeout = find(at, u"timeoutMs"_s)) {
        if (given.first() != "wait"_L1)
            fail(*timeout, u"%1 stands beside %2; it is accepted beside wait"_s.arg(timeout->path, given.first()));
        step.timeout = 1ms * number(*timeout, 1, LongestMsec);
    }
    return step;
}

Check Reader::outcomes(const QString &event, const At &at)
{
    Check check;
    check.subject = event;
    if (at.value.isObject()) {
        check.kind = Check::Kind::OutcomeCounts;
        isObject(at, OutcomeNames);
        for (qsizetype i = 0; i < at.value.keys.size(); ++i)
            check.counts.insert(at.value.keys[i],
                                number(at.member(at.value.keys[i], at.value.items[i]), 0, MostCopies));
        return check;
    }
    check.kind = Check::Kind::Outcomes;
    if (at.value.kind != JsonValue::Kind::Array) {
        refuse(at, u"a list of outcomes in their order, or an object of how many there are of each,"_s);
        return check;
    }
    for (qsizetype i = 0; i < at.value.items.size(); ++i)
        check.texts.append(oneOf(at.item(i), OutcomeNames));
    return check;
}

/// What one member of `expect` or `wait` says: one check for each event, address or level in it.
QList<Check> Reader::check(const QString &name, const At &at)
{
    using Kind = Check::Kind;
    QList<Check> checks;
    const auto add = [&checks](const At &place, Check check) {
        check.line = place.value.line;
        checks.append(std::move(check));
    };
    const auto each = [this, &at](auto read) {
        if (!at.value.isObject()) {
            refuse(at, u"an object"_s);
            return;
        }
        for (qsizetype i = 0; i < at.value.keys.size(); ++i)
            read(at.value.keys[i], at.member(at.value.keys[i], at.value.items[i]));
    };
    const auto counting = [this](Kind kind, const QString &subject, const At &place) {
        Check check;
        check.kind = kind;
        check.subject = subject;
        check.count = number(place, 0, MostCopies);
        return check;
    };
    const auto ofEvents = [&](auto read) {
        each([&](const QString &event, const At &place) {
            mustBeSent(place, event);
            add(place, read(event, place));
        });
    };
    const auto named = [&](Kind kind, const QStringList &names) {
        ofEvents([&, kind](const QString &event, const At &place) {
            Check check;
            check.kind = kind;
            check.subject = event;
            check.texts = QStringList{oneOf(place, names)};
            return check;
        });
    };
    if (name == "mails"_L1) {
        ofEvents([&](const QString &event, const At &place) { return counting(Kind::Mails, event, place); });
    } else if (name == "recipients"_L1) {
        each([&](const QString &address, const At &place) { add(place, counting(Kind::Recipient, address, place)); });
    } else if (name == "claims"_L1) {
        ofEvents([&](const QString &event, const At &place) { return counting(Kind::Claims, event, place); });
    } else if (name == "outcomes"_L1) {
        ofEvents([&](const QString &event, const At &place) { return outcomes(event, place); });
    } else if (name == "verdicts"_L1) {
        named(Kind::Verdict, VerdictNames);
    } else if (name == "replays"_L1) {
        named(Kind::Replay, ReplayNames);
    } else if (name == "announced"_L1) {
        Check check;
        check.kind = Kind::Announced;
        check.texts = labels(at, true);
        for (const QString &event : std::as_const(check.texts))
            mustBeSent(at, event);
        add(at, check);
    } else if (name == "log"_L1) {
        isObject(at, {u"info"_s, u"warning"_s, u"error"_s, u"says"_s});
        each([&](const QString &level, const At &place) {
            if (level != "says"_L1) {
                add(place, counting(Kind::LogLevel, level, place));
                return;
            }
            const bool isList = place.value.kind == JsonValue::Kind::Array;
            for (qsizetype i = 0; i < (isList ? place.value.items.size() : 1); ++i) {
                Check check;
                check.kind = Kind::LogText;
                check.subject = text(isList ? place.item(i) : place, u"a text, or a list of texts,"_s);
                add(place, check);
            }
        });
    } else {
        static const QMap<QString, Kind> Counts = {{u"queue"_s, Kind::Queue},
                                                   {u"dlq"_s, Kind::DeadLetters},
                                                   {u"crashes"_s, Kind::Crashes},
                                                   {u"armed"_s, Kind::Armed}};
        add(at, counting(Counts.value(name), {}, at));
    }
    return checks;
}

QList<Check> Reader::checks(const At &at)
{
    static const QStringList Known = {u"mails"_s,    u"recipients"_s, u"claims"_s,  u"queue"_s,
                                      u"dlq"_s,      u"outcomes"_s,   u"log"_s,     u"announced"_s,
                                      u"verdicts"_s, u"replays"_s,    u"crashes"_s, u"armed"_s};
    QList<Check> checks;
    if (!isObject(at, Known))
        return checks;
    for (qsizetype i = 0; i < at.value.keys.size(); ++i) {
        if (Known.contains(at.value.keys[i]))
            checks += check(at.value.keys[i], at.member(at.value.keys[i], at.value.items[i]));
    }
    if (at.value.items.isEmpty())
        fail(at, u"%1 is empty; one of %2 at least is accepted"_s.arg(at.path, Known.join(u", "_s)));
    return checks;
}

/// What can never hold, and what is expected of every scenario.
void Reader::completeExpectations(Scenario &scenario, const At &at)
{
    const auto has = [&scenario](auto is) { return std::any_of(scenario.steps.cbegin(), scenario.steps.cend(), is); };
    const auto expects = [&scenario](Check::Kind kind) {
        return std::any_of(scenario.expectations.cbegin(), scenario.expectations.cend(),
                           [kind](const Check &check) { return check.kind == kind; });
    };
    const auto isBrowse = [](const ScenarioStep &step) { return std::holds_alternative<BrowseStep>(step.act); };
    const auto isReplay = [](const ScenarioStep &step) { return std::holds_alternative<ReplayStep>(step.act); };
    if (expects(Check::Kind::Verdict) && !has(isBrowse))
        fail(at, u"expect.verdicts needs a browse: the last one gives them; a step {\"browse\": true} is accepted"_s);
    if (expects(Check::Kind::Replay) && !has(isReplay))
        fail(at, u"expect.replays needs a replay; a step {\"replay\": \"all\"} is accepted"_s);
    const auto surelyStrikes = [](const ScenarioStep &step) {
        const auto *arm = std::get_if<ArmStep>(&step.act);
        return arm && arm->rule.oneIn == 1;
    };
    if (has(surelyStrikes)) {
        Check check;
        check.kind = Check::Kind::Struck;
        scenario.expectations.append(check);
    }
}

Scenario Reader::read(const JsonValue &root)
{
    Scenario scenario;
    const At at{root, {}};
    if (!root.isObject()) {
        fail(at, u"a scenario is %1; an object is accepted"_s.arg(root.described()));
        return scenario;
    }
    isObject(at, {u"name"_s, u"title"_s, u"explain"_s, u"world"_s, u"steps"_s, u"expect"_s});
    static const QRegularExpression namePattern(u"\\A[a-z0-9][a-z0-9-]{0,59}\\z"_s);
    if (const auto name = require(at, u"name"_s, u"a text such as my-scenario"_s)) {
        scenario.name = name->value.text;
        if (!name->value.isText() || !namePattern.match(scenario.name).hasMatch())
            refuse(*name, u"a text of 1 to 60 small letters, digits and -"_s);
    }
    if (const auto title = require(at, u"title"_s, u"a text"_s))
        scenario.title = text(*title);
    if (const auto explain = find(at, u"explain"_s)) {
        const bool isList = explain->value.kind == JsonValue::Kind::Array;
        for (qsizetype i = 0; i < (isList ? explain->value.items.size() : 1); ++i)
            scenario.explanation.append(text(isList ? explain->item(i) : *explain, u"a text, or a list of lines,"_s));
    }
    if (const auto settings = find(at, u"world"_s))
        scenario.world = world(*settings);
    m_workers = scenario.world.workers;
    if (const auto steps = require(at, u"steps"_s, u"a list of steps"_s)) {
        if (steps->value.kind != JsonValue::Kind::Array || steps->value.items.isEmpty())
            refuse(*steps, u"a list of one step at least"_s);
        else
            for (qsizetype i = 0; i < steps->value.items.size(); ++i)
                scenario.steps.append(step(steps->item(i)));
    }
    if (const auto expect = require(at, u"expect"_s, u"an object of what is to be found at the end"_s))
        scenario.expectations = checks(*expect);
    completeExpectations(scenario, at);
    return scenario;
}

void load(const QString &folder, bool isOwn, Catalogue &catalogue)
{
    const QDir dir(folder);
    for (const QString &name : dir.entryList({u"*.json"_s}, QDir::Files, QDir::Name)) {
        QFile file(dir.filePath(name));
        if (!file.open(QIODevice::ReadOnly)) {
            catalogue.problems.append(u"%1 cannot be read: %2"_s.arg(file.fileName(), file.errorString()));
            continue;
        }
        const QByteArray json = file.read(FileSizeLimit + 1);
        auto scenario = json.size() > FileSizeLimit
            ? Result<Scenario>(Error{ErrorKind::Invalid, u"%1 is larger than 1 MiB"_s.arg(file.fileName()), {}})
            : readScenario(json, file.fileName());
        if (!scenario) {
            catalogue.problems.append(scenario.error().text);
            continue;
        }
        if (isOwn)
            scenario->file = file.fileName();
        const auto same = std::find_if(catalogue.scenarios.cbegin(), catalogue.scenarios.cend(),
                                       [&](const Scenario &other) { return other.name == scenario->name; });
        if (same != catalogue.scenarios.cend()) {
            catalogue.problems.append(u"%1: name is “%2”, which %3 has already; one that is free is accepted"_s.arg(
                file.fileName(), scenario->name, same->file.isEmpty() ? u"the catalogue"_s : same->file));
            continue;
        }
        catalogue.scenarios.append(scenario.take());
    }
}

} // namespace

Result<Scenario> readScenario(const QByteArray &json, const QString &source)
{
    const auto parsed = parseStrictJson(json);
    if (!parsed)
        return Error{ErrorKind::Invalid, u"%1, %2"_s.arg(source, parsed.error().text), {}};
    Reader reader(source);
    Scenario scenario = reader.read(parsed.value());
    if (reader.fault())
        return *reader.fault();
    return scenario;
}

Catalogue loadCatalogue(const QString &userDir)
{
    linkScenarios();
    Catalogue catalogue;
    load(u":/scenarios"_s, false, catalogue);
    if (!userDir.isEmpty())
        load(userDir, true, catalogue);
    return catalogue;
}

QString outcomeName(Outcome outcome)
{
    return OutcomeNames.value(int(outcome));
}

} // namespace sendonce
