#include "worker/scenario/scenariocheck.h"

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

using Kind = ScenarioCheck::Kind;

QString counted(int count, const QString &one, const QString &many)
{
    if (count < 0)
        return u"cannot be read"_s;
    return count == 1 ? u"1 "_s + one : u"%1 %2"_s.arg(count == 0 ? u"no"_s : QString::number(count), many);
}

QString listed(const QStringList &texts)
{
    return texts.isEmpty() ? u"nothing"_s : texts.join(u", "_s);
}

QString listed(const QMap<QString, int> &counts)
{
    QStringList parts;
    for (auto each = counts.cbegin(); each != counts.cend(); ++each)
        parts.append(u"%1 × %2"_s.arg(QString::number(each.value()), each.key()));
    return listed(parts);
}

QMap<QString, int> tally(const QStringList &texts)
{
    QMap<QString, int> counts;
    for (const QString &text : texts)
        ++counts[text];
    return counts;
}

QStringList sorted(QStringList texts)
{
    texts.sort();
    return texts;
}

/// What a check that counts counts.
int countOf(const ScenarioCheck &check, const ScenarioSight &sight)
{
    switch (check.kind) {
    case Kind::Mails:
        return sight.mails.value(check.subject);
    case Kind::Recipient:
        return sight.recipients.value(check.subject);
    case Kind::Claims:
        return sight.claims.value(check.subject);
    case Kind::Queue:
        return sight.queue;
    case Kind::DeadLetters:
        return sight.deadLetters;
    case Kind::LogLevel:
        return sight.levels.value(check.subject);
    case Kind::Crashes:
        return sight.crashes;
    case Kind::Armed:
        return sight.armed;
    default:
        return -1;
    }
}

QString inWords(const ScenarioCheck &check, int count)
{
    switch (check.kind) {
    case Kind::Mails:
    case Kind::Recipient:
        return counted(count, u"e-mail"_s, u"e-mails"_s);
    case Kind::Claims:
        return counted(count, u"claim"_s, u"claims"_s);
    case Kind::Queue:
        return counted(count, u"message"_s, u"messages"_s);
    case Kind::DeadLetters:
        return counted(count, u"dead letter"_s, u"dead letters"_s);
    case Kind::LogLevel:
        return counted(count, u"line"_s, u"lines"_s);
    case Kind::Crashes:
        return counted(count, u"crash"_s, u"crashes"_s);
    case Kind::Armed:
        return counted(count, u"armed fault"_s, u"armed faults"_s);
    default:
        return {};
    }
}

/// What there may be more of than is waited for.
bool onlyGrows(Kind kind)
{
    return kind == Kind::Mails || kind == Kind::Recipient || kind == Kind::Claims || kind == Kind::LogLevel
        || kind == Kind::Crashes;
}

bool startsWith(const QStringList &texts, const QStringList &beginning)
{
    return texts.size() >= beginning.size() && std::equal(beginning.cbegin(), beginning.cend(), texts.cbegin());
}

bool hasAtLeast(const QMap<QString, int> &counts, const QMap<QString, int> &wanted)
{
    for (auto each = wanted.cbegin(); each != wanted.cend(); ++each) {
        if (counts.value(each.key()) < each.value())
            return false;
    }
    return true;
}

} // namespace

QString describe(const ScenarioCheck &check)
{
    switch (check.kind) {
    case Kind::Mails:
    case Kind::Recipient:
    case Kind::Claims:
        return u"%1: %2"_s.arg(check.subject, inWords(check, check.count));
    case Kind::Queue:
        return u"queue: "_s + inWords(check, check.count);
    case Kind::DeadLetters:
    case Kind::Crashes:
    case Kind::Armed:
        return inWords(check, check.count);
    case Kind::Outcomes:
        return u"%1: %2"_s.arg(check.subject,
                               check.texts.isEmpty() ? u"no delivery"_s : check.texts.join(u", then "_s));
    case Kind::OutcomeCounts:
        return u"%1: %2"_s.arg(check.subject, listed(check.counts));
    case Kind::LogLevel:
        return u"log: %1 at %2"_s.arg(inWords(check, check.count), check.subject.toUpper());
    case Kind::LogText:
        return u"log: “%1”"_s.arg(check.subject);
    case Kind::Announced:
        return check.texts.isEmpty() ? u"nothing to announce"_s
                                     : u"announced as perhaps mailed, or mailed twice: "_s + listed(check.texts);
    case Kind::Verdict:
        return u"dead letter %1: %2"_s.arg(check.subject, listed(check.texts));
    case Kind::Replay:
        return u"replay of %1: %2"_s.arg(check.subject, listed(check.texts));
    case Kind::Struck:
        return u"every armed fault strikes"_s;
    }
    return {};
}

CheckResult judge(const ScenarioCheck &check, const ScenarioSight &sight, CheckMode mode)
{
    const bool atLeast = mode == CheckMode::AtLeast;
    switch (check.kind) {
    case Kind::Mails:
    case Kind::Recipient:
    case Kind::Claims:
    case Kind::Queue:
    case Kind::DeadLetters:
    case Kind::LogLevel:
    case Kind::Crashes:
    case Kind::Armed: {
        const int count = countOf(check, sight);
        const bool holds = atLeast && onlyGrows(check.kind) ? count >= check.count : count == check.count;
        return {holds, inWords(check, count)};
    }
    case Kind::Outcomes: {
        const QStringList outcomes = sight.outcomes.value(check.subject);
        return {atLeast ? startsWith(outcomes, check.texts) : outcomes == check.texts, listed(outcomes)};
    }
    case Kind::OutcomeCounts: {
        const QMap<QString, int> counts = tally(sight.outcomes.value(check.subject));
        return {atLeast ? hasAtLeast(counts, check.counts) : counts == check.counts, listed(counts)};
    }
    case Kind::LogText: {
        const auto holdsText = [&check](const QString &line) { return line.contains(check.subject); };
        const auto found = std::find_if(sight.log.cbegin(), sight.log.cend(), holdsText);
        return {found != sight.log.cend(), found != sight.log.cend() ? *found : u"no such line"_s};
    }
    case Kind::Announced: {
        const QStringList announced = sorted(sight.announced.values());
        const bool holds = atLeast ? std::all_of(check.texts.cbegin(), check.texts.cend(),
                                                 [&](const QString &each) { return sight.announced.contains(each); })
                                   : announced == sorted(check.texts);
        return {holds, listed(announced)};
    }
    case Kind::Verdict:
    case Kind::Replay: {
        const QString text = (check.kind == Kind::Verdict ? sight.verdicts : sight.replays).value(check.subject);
        return {check.texts == QStringList{text}, text.isEmpty() ? u"nothing"_s : text};
    }
    case Kind::Struck:
        return {sight.idleFaults.isEmpty(),
                sight.idleFaults.isEmpty() ? u"each did"_s : u"never: "_s + sight.idleFaults.join(u"; "_s)};
    }
    return {};
}

bool isAboutMails(const ScenarioCheck &check)
{
    return check.kind == Kind::Mails || check.kind == Kind::Recipient;
}

} // namespace sendonce
