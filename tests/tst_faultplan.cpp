#include "worker/faults/faultplan.h"

#include <QSet>
#include <QTest>

#include <algorithm>
#include <random>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

FaultRule refusal(int times = 1)
{
    FaultRule rule;
    rule.times = times;
    return rule;
}

FaultRule slowness(const QString &event = {})
{
    FaultRule rule;
    rule.where = FaultPoint::WorkerClaimed;
    rule.what = FaultEffect::Slow;
    rule.delay = 10ms;
    rule.times = 0;
    rule.event = event;
    return rule;
}

} // namespace

class TestFaultPlan : public QObject
{
    Q_OBJECT

    FaultPlan m_plan;

    bool strikes(const FaultSubject &subject = {}, FaultPlan::Moment now = 0ms)
    {
        return m_plan.ask(FaultPoint::MailEnd, subject, now).has_value();
    }
    int arm(const FaultRule &rule, FaultPlan::Moment now = 0ms)
    {
        const auto id = m_plan.arm(rule, now);
        return id ? id.value() : -1;
    }

private Q_SLOTS:
    void init()
    {
        QTest::failOnWarning(QRegularExpression(u".*"_s));
        m_plan = {};
    }

    void nothingArmedNothingStrikes()
    {
        QVERIFY(!strikes());
        QVERIFY(!m_plan.isArmedAt(FaultPoint::MailEnd));
        QCOMPARE(m_plan.armed(0ms), FaultRules());
        QVERIFY(!m_plan.disarmAll());
        QVERIFY(!m_plan.disarm(1));
        QVERIFY(!m_plan.nextEnd());
    }

    void strikesSoOftenThenIsOver()
    {
        arm(refusal(3));
        for (int left = 3; left > 0; --left) {
            QCOMPARE(m_plan.armed(0ms).first().remaining(), left);
            QVERIFY(m_plan.isArmedAt(FaultPoint::MailEnd));
            QVERIFY(strikes());
        }
        QVERIFY(!strikes());
        QVERIFY(!m_plan.isArmedAt(FaultPoint::MailEnd));
        QCOMPARE(m_plan.armed(0ms), FaultRules());
    }

    void everyTimeHasNoEnd()
    {
        arm(refusal(0));
        for (int i = 0; i < 1000; ++i)
            QVERIFY(strikes());
        QCOMPARE(m_plan.armed(0ms).first().remaining(), -1);
        QCOMPARE(m_plan.armed(0ms).first().struck, 1000);
    }

    void theFaultIsWhatTheRuleSays()
    {
        FaultRule rule = refusal();
        rule.code = 550;
        rule.text = u"5.1.1 no such user"_s;
        arm(rule);
        const Fault refused{FaultEffect::Reply, 550, u"5.1.1 no such user"_s, 0ms};
        QCOMPARE(m_plan.ask(FaultPoint::MailEnd, {}, 0ms).value(), refused);
        arm(slowness());
        const auto slow = m_plan.ask(FaultPoint::WorkerClaimed, {}, 0ms);
        QCOMPARE(slow->what, FaultEffect::Slow);
        QCOMPARE(slow->delay, 10ms);
    }

    void onlyAtItsPoint()
    {
        arm(refusal(0));
        for (int point = 0; point < FaultPointCount; ++point) {
            QCOMPARE(m_plan.isArmedAt(FaultPoint(point)), FaultPoint(point) == FaultPoint::MailEnd);
            QCOMPARE(m_plan.ask(FaultPoint(point), {}, 0ms).has_value(), FaultPoint(point) == FaultPoint::MailEnd);
        }
    }

    void globs_data()
    {
        QTest::addColumn<QString>("glob");
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("matches");
        const auto row = [](const char *name, const QString &glob, const QString &text, bool matches) {
            QTest::newRow(name) << glob << text << matches;
        };
        row("the same", u"demo-1"_s, u"demo-1"_s, true);
        row("not a part", u"demo"_s, u"demo-1"_s, false);
        row("not another case", u"Demo"_s, u"demo"_s, false);
        row("star", u"demo-*"_s, u"demo-1"_s, true);
        row("star for nothing", u"demo-*"_s, u"demo-"_s, true);
        row("star in the middle", u"a*z"_s, u"a/b.c[d]z"_s, true);
        row("two stars", u"*-1-*"_s, u"demo-1-2"_s, true);
        row("question mark", u"demo-?"_s, u"demo-1"_s, true);
        row("question mark is one", u"demo-?"_s, u"demo-12"_s, false);
        row("question mark is not none", u"demo-?"_s, u"demo-"_s, false);
        row("star over a slash", u"a*c"_s, u"a/b/c"_s, true);
        row("question mark for a slash", u"a?c"_s, u"a/c"_s, true);
        row("star over a line end", u"a*c"_s, u"a\nc"_s, true);
        row("a dot is a dot", u"a.c"_s, u"abc"_s, false);
        row("a dot", u"sam@jobs.example"_s, u"sam@jobs.example"_s, true);
        row("brackets are letters", u"[ab]"_s, u"a"_s, false);
        row("brackets", u"[ab]"_s, u"[ab]"_s, true);
        row("a plus is a plus", u"a+"_s, u"aa"_s, false);
        row("a plus", u"sam+jobs@*"_s, u"sam+jobs@example.org"_s, true);
        row("backslash", u"a\\b"_s, u"a\\b"_s, true);
        row("backslash before a star", u"a\\*"_s, u"a\\bcd"_s, true);
        row("backslash does not quote", u"a\\*"_s, u"a*"_s, false);
        row("another script", u"поб?да-*"_s, u"победа-1"_s, true);
        row("outside the first plane", u"a?c"_s, u"a😀c"_s, true);
        row("nobody known", u"*"_s, QString(), false);
        row("everyone", QString(), u"demo"_s, true);
        row("everyone, nobody known", QString(), QString(), true);
    }

    void globs()
    {
        QFETCH(QString, glob);
        QFETCH(QString, text);
        QFETCH(bool, matches);
        FaultRule rule = refusal(0);
        rule.event = glob;
        arm(rule);
        rule.event.clear();
        rule.recipient = glob;
        QCOMPARE(strikes({text, {}, {}}), matches);
        m_plan.disarmAll();
        arm(rule);
        QCOMPARE(strikes({{}, text, {}}), matches);
        m_plan.disarmAll();
        rule.recipient.clear();
        rule.type = glob;
        arm(rule);
        QCOMPARE(strikes({{}, {}, text}), matches);
    }

    void allGlobsMustMatch()
    {
        FaultRule rule = refusal(0);
        rule.event = u"E*"_s;
        rule.recipient = u"*@jobs.example"_s;
        rule.type = u"application.*"_s;
        arm(rule);
        QVERIFY(strikes({u"E1"_s, u"sam@jobs.example"_s, u"application.received"_s}));
        QVERIFY(!strikes({u"F1"_s, u"sam@jobs.example"_s, u"application.received"_s}));
        QVERIFY(!strikes({u"E1"_s, u"sam@jobs.test"_s, u"application.received"_s}));
        QVERIFY(!strikes({u"E1"_s, u"sam@jobs.example"_s, u"job.closed"_s}));
        QVERIFY(!strikes({u"E1"_s, {}, {}}));
    }

    void aKeyIsNoEvent()
    {
        FaultRule rule = refusal(0);
        rule.event = u"*"_s;
        arm(rule);
        QVERIFY(!strikes({{}, {}, {}, u"message"_s}));
    }

    void oneInNIsAboutThat()
    {
        FaultRule rule = refusal(0);
        rule.oneIn = 4;
        rule.seed = 7;
        arm(rule);
        int struck = 0;
        for (int i = 0; i < 4000; ++i)
            struck += strikes({u"event-%1"_s.arg(i), {}, {}});
        QVERIFY2(struck > 850 && struck < 1150, qPrintable(QString::number(struck)));
    }

    void theSameSeedStrikesTheSameInAnyOrder()
    {
        // Ten events, each delivered ten times: which of these attempts are struck?
        const auto struckOf = [](quint32 seed, unsigned order, FaultPoint point) {
            FaultPlan plan;
            FaultRule rule = slowness();
            rule.where = point;
            rule.oneIn = 3;
            rule.seed = seed;
            if (!plan.arm(rule, 0ms))
                return QStringList();
            std::vector<int> deliveries;
            for (int i = 0; i < 100; ++i)
                deliveries.push_back(i % 10);
            std::mt19937 random(order);
            std::shuffle(deliveries.begin(), deliveries.end(), random);
            QMap<int, int> attempts;
            QStringList struck;
            for (const int event : deliveries) {
                const int attempt = ++attempts[event];
                if (plan.ask(point, {u"event-%1"_s.arg(event), {}, {}, u"message-%1"_s.arg(random())}, 0ms))
                    struck.append(u"%1/%2"_s.arg(event).arg(attempt));
            }
            struck.sort();
            return struck;
        };
        const QStringList first = struckOf(1, 1, FaultPoint::WorkerClaimed);
        QVERIFY(first.size() > 15 && first.size() < 55);
        QCOMPARE(struckOf(1, 2, FaultPoint::WorkerClaimed), first);
        QCOMPARE(struckOf(1, 3, FaultPoint::WorkerClaimed), first);
        QVERIFY(struckOf(2, 1, FaultPoint::WorkerClaimed) != first);
        QVERIFY(struckOf(1, 1, FaultPoint::WorkerReceived) != first);
    }

    void whereTheEventIsNotKnownTheKeyStandsForIt()
    {
        const auto struckOf = [](bool known) {
            FaultPlan plan;
            FaultRule rule = refusal(0);
            rule.oneIn = 2;
            rule.seed = 3;
            QList<int> struck;
            if (!plan.arm(rule, 0ms))
                return struck;
            for (int i = 0; i < 40; ++i) {
                const QString id = u"id-%1"_s.arg(i);
                if (plan.ask(FaultPoint::MailEnd, {known ? id : QString(), {}, {}, known ? u"x"_s : id}, 0ms))
                    struck.append(i);
            }
            return struck;
        };
        QVERIFY(struckOf(true).size() > 5 && struckOf(true).size() < 35);
        QCOMPARE(struckOf(false), struckOf(true));
    }

    void oneInNWithTimesEndsAfterThese()
    {
        FaultRule rule = refusal(2);
        rule.oneIn = 3;
        arm(rule);
        int struck = 0;
        for (int i = 0; i < 100; ++i)
            struck += strikes({u"event-%1"_s.arg(i), {}, {}});
        QCOMPARE(struck, 2);
        QVERIFY(!m_plan.isArmedAt(FaultPoint::MailEnd));
    }

    void whomItIsNotForIsNotDrawn()
    {
        // Strangers between them change nothing about which deliveries of E are struck.
        const auto struckOf = [](bool withStrangers) {
            FaultPlan plan;
            FaultRule rule = refusal(0);
            rule.oneIn = 2;
            rule.event = u"E"_s;
            QList<int> struck;
            if (!plan.arm(rule, 0ms))
                return struck;
            for (int i = 0; i < 30; ++i) {
                if (withStrangers)
                    (void)plan.ask(FaultPoint::MailEnd, {u"F"_s, {}, {}}, 0ms);
                if (plan.ask(FaultPoint::MailEnd, {u"E"_s, {}, {}}, 0ms))
                    struck.append(i);
            }
            return struck;
        };
        QVERIFY(!struckOf(false).isEmpty());
        QCOMPARE(struckOf(true), struckOf(false));
    }

    void lastsForItsTime()
    {
        FaultRule rule = refusal(0);
        rule.lasts = 10s;
        arm(rule, 100s);
        QCOMPARE(m_plan.nextEnd().value(), 110s);
        QCOMPARE(m_plan.armed(103s).first().left, 7s);
        QVERIFY(strikes({}, 109'999ms));
        QVERIFY(!m_plan.expire(109'999ms));
        QCOMPARE(m_plan.armed(110s), FaultRules());
        QVERIFY(!strikes({}, 110s));
        QVERIFY(!m_plan.nextEnd());
    }

    void theNextEndIsTheEarliest()
    {
        FaultRule rule = refusal(0);
        arm(rule); // without an end
        rule.lasts = 20s;
        arm(rule);
        rule.lasts = 10s;
        arm(rule);
        QCOMPARE(m_plan.nextEnd().value(), 10s);
        QVERIFY(m_plan.expire(10s));
        QCOMPARE(m_plan.nextEnd().value(), 20s);
        QVERIFY(m_plan.expire(20s));
        QVERIFY(!m_plan.nextEnd());
        QCOMPARE(m_plan.armed(20s).size(), 1);
    }

    void aRateLimitLetsSoManyPassInEachWindow()
    {
        FaultRule rule;
        rule.where = FaultPoint::MailMail;
        rule.what = FaultEffect::RateLimit;
        rule.count = 3;
        rule.window = 10s;
        rule.times = 0;
        arm(rule);
        const auto refused = [this](FaultPlan::Moment now) { return m_plan.ask(FaultPoint::MailMail, {}, now); };
        QVERIFY(!refused(0s) && !refused(1s) && !refused(2s));
        const auto fault = refused(3s);
        QVERIFY(fault);
        QCOMPARE(fault->what, FaultEffect::Reply);
        QCOMPARE(fault->code, 450);
        QVERIFY2(fault->text.startsWith("4.7.1"_L1) && fault->text.contains(u"3 in 10000 ms"_s),
                 qPrintable(fault->text));
        QVERIFY(refused(9'999ms));
        QVERIFY(!refused(10s)); // the first is 10 s ago
        QVERIFY(refused(10'500ms));
        QVERIFY(!refused(11s));
        QVERIFY(!refused(100s) && !refused(100s) && !refused(100s) && refused(100s)); // nothing is saved up
        QCOMPARE(m_plan.armed(100s).first().struck, 4); // who passed was not struck
    }

    void ofSeveralTheOldestThatStrikes()
    {
        FaultRule one = refusal(1);
        one.code = 450;
        FaultRule two = refusal(2);
        two.code = 451;
        FaultRule other = refusal(1);
        other.code = 452;
        other.event = u"E"_s;
        QCOMPARE(arm(other), 1);
        QCOMPARE(arm(one), 2);
        QCOMPARE(arm(two), 3);
        QList<int> codes;
        while (const auto fault = m_plan.ask(FaultPoint::MailEnd, {u"F"_s, {}, {}}, 0ms))
            codes.append(fault->code);
        QCOMPARE(codes, QList<int>({450, 451, 451}));
        QCOMPARE(m_plan.ask(FaultPoint::MailEnd, {u"E"_s, {}, {}}, 0ms)->code, 452);
    }

    void disarmsOneOrAll()
    {
        const int one = arm(refusal());
        const int two = arm(slowness());
        QVERIFY(one > 0 && two > one);
        QVERIFY(m_plan.disarm(one));
        QVERIFY(!m_plan.disarm(one));
        QCOMPARE(m_plan.armed(0ms).size(), 1);
        QCOMPARE(m_plan.armed(0ms).first().id, two);
        QVERIFY(m_plan.disarmAll());
        QCOMPARE(m_plan.armed(0ms), FaultRules());
        QVERIFY(arm(refusal()) > two); // an id is never given twice
    }

    void whatIsArmedIsNewWhateverItSays()
    {
        FaultRule rule = refusal(3);
        rule.id = 77;
        rule.struck = 3;
        rule.left = 5s;
        QCOMPARE(arm(rule), 1);
        const FaultRule armed = m_plan.armed(0ms).first();
        QCOMPARE(armed.id, 1);
        QCOMPARE(armed.remaining(), 3);
        QCOMPARE(armed.left, 0ms);
        QVERIFY(!armed.text.isEmpty()); // a mail server says something behind its code
    }

    void nothingUnusableIsArmed()
    {
        FaultRule rule = refusal();
        rule.code = 200;
        auto refused = m_plan.arm(rule, 0ms);
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::Invalid);
        rule = refusal();
        rule.what = FaultEffect::Crash;
        refused = m_plan.arm(rule, 0ms);
        QVERIFY(!refused);
        QVERIFY2(refused.error().text.contains(u"mail.end"_s), qPrintable(refused.error().text));
        QCOMPARE(m_plan.armed(0ms), FaultRules());
    }

    void thereIsAnEndToArming()
    {
        FaultRule rule = refusal();
        rule.lasts = 10s;
        for (int i = 0; i < FaultPlan::MaxRules; ++i)
            QVERIFY(arm(rule) > 0);
        const auto refused = m_plan.arm(rule, 9s);
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::Refused);
        QVERIFY2(refused.error().text.contains(u"100"_s), qPrintable(refused.error().text));
        QVERIFY(m_plan.arm(rule, 10s)); // they are over
    }
};

QTEST_GUILESS_MAIN(TestFaultPlan)
#include "tst_faultplan.moc"
