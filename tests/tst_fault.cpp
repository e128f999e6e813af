#include "worker/faults/fault.h"

#include <QJsonDocument>
#include <QSet>
#include <QTest>

#include <utility>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

/// The least that such a rule has to say.
QJsonObject least(FaultPoint where, FaultEffect what)
{
    QJsonObject object{{u"where"_s, faultPointName(where)}, {u"what"_s, faultEffectName(what)}};
    switch (what) {
    case FaultEffect::RateLimit:
        object.insert(u"count"_s, 2);
        object.insert(u"windowMs"_s, 10'000);
        break;
    case FaultEffect::Delay:
    case FaultEffect::ShortVisibility:
    case FaultEffect::Slow:
    case FaultEffect::ClockJump:
        object.insert(u"delayMs"_s, 1500);
        break;
    default:
        break;
    }
    return object;
}

QJsonObject parsed(const QByteArray &json)
{
    return QJsonDocument::fromJson(json).object();
}

} // namespace

class TestFault : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void everyPointHasANameAndEffects()
    {
        const QStringList names = faultPointNames();
        QCOMPARE(names.size(), FaultPointCount);
        QCOMPARE(QSet<QString>(names.cbegin(), names.cend()).size(), FaultPointCount);
        QSet<FaultEffect> used;
        for (int i = 0; i < FaultPointCount; ++i) {
            const auto point = FaultPoint(i);
            QCOMPARE(faultPointName(point), names[i]);
            QCOMPARE(faultPoint(names[i]).value(), point);
            QVERIFY(!faultEffectsAt(point).isEmpty());
            for (const FaultEffect effect : faultEffectsAt(point)) {
                QCOMPARE(faultEffect(faultEffectName(effect), point).value(), effect);
                used.insert(effect);
            }
        }
        QCOMPARE(used.size(), FaultEffectCount); // none that can be armed nowhere
    }

    void everyPointAndEffectSurvivesJson_data()
    {
        QTest::addColumn<int>("point");
        QTest::addColumn<int>("effect");
        for (int i = 0; i < FaultPointCount; ++i) {
            for (const FaultEffect effect : faultEffectsAt(FaultPoint(i))) {
                QTest::newRow(qPrintable(faultPointName(FaultPoint(i)) + u' ' + faultEffectName(effect)))
                    << i << int(effect);
            }
        }
    }

    void everyPointAndEffectSurvivesJson()
    {
        QFETCH(int, point);
        QFETCH(int, effect);
        const auto where = FaultPoint(point);
        const auto what = FaultEffect(effect);
        const auto minimal = faultRule(least(where, what));
        QVERIFY2(minimal, minimal ? "" : qPrintable(minimal.error().text));
        QCOMPARE(minimal->where, where);
        QCOMPARE(minimal->what, what);
        QCOMPARE(minimal->times, 1);
        QCOMPARE(faultRule(toJson(minimal.value())).value(), minimal.value());

        FaultRule full = minimal.value();
        full.id = 7;
        full.times = 5;
        full.oneIn = 3;
        full.seed = 4'294'967'295;
        full.event = u"demo-*"_s;
        full.recipient = u"?am@jobs.example"_s;
        full.type = u"application.*"_s;
        full.lasts = 30s;
        full.struck = 2;
        full.left = 29'999ms;
        if (what == FaultEffect::Reply) {
            full.code = where == FaultPoint::MailNext ? 421 : 599;
            full.text = u"5.0.0 as it says"_s;
        }
        const auto again = faultRule(toJson(full));
        QVERIFY2(again, again ? "" : qPrintable(again.error().text));
        QCOMPARE(again.value(), full);
        QVERIFY2(describe(full).startsWith(faultPointName(where) + u": "_s + faultEffectName(what)),
                 qPrintable(describe(full)));

        const Fault fault{what, full.code, full.text, full.delay};
        QCOMPARE(faultFromJson(toJson(fault)).value(), fault);
        QVERIFY(!faultFromJson({}));
    }

    void defaultsAreLeftOut()
    {
        QCOMPARE(toJson(FaultRule()), parsed(R"({"where":"mail.end","what":"reply","code":451,"times":1})"));
        FaultRule crash;
        crash.where = FaultPoint::WorkerAccepted;
        crash.what = FaultEffect::Crash;
        crash.code = 550; // means nothing there
        crash.times = 0;
        QCOMPARE(toJson(crash), parsed(R"({"where":"worker.accepted","what":"crash","times":0})"));
    }

    void aReplyHasAText()
    {
        QCOMPARE(faultRule(parsed(R"({"where":"mail.rcpt","what":"reply"})"))->text,
                 u"4.3.0 mail server down (armed fault)"_s);
        QCOMPARE(faultRule(parsed(R"({"where":"mail.rcpt","what":"reply","code":550})"))->text,
                 u"5.3.0 mail refused (armed fault)"_s);
        QCOMPARE(faultRule(parsed(R"({"where":"mail.rcpt","what":"reply","text":"no"})"))->text, u"no"_s);
        QCOMPARE(faultRule(parsed(R"({"where":"mail.next","what":"reply"})"))->code, 421);
    }

    void refusalsNameTheMemberWhatItIsAndWhatIsAccepted_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QStringList>("words");
        const auto row = [](const char *name, const QByteArray &json, const QStringList &words) {
            QTest::newRow(name) << json << words;
        };
        const auto reply = [&row](const char *name, const QByteArray &more, const QStringList &words) {
            row(name, R"({"where":"mail.end","what":"reply",)" + more + '}', words);
        };
        row("nothing", "{}", {u"where is nothing"_s, u"mail.connect"_s, u"worker.deleted"_s});
        row("where unknown", R"({"where":"mail","what":"reply"})", {u"where is \"mail\""_s, u"mail.connect"_s});
        row("where a number", R"({"where":5,"what":"reply"})", {u"where is 5"_s, u"mail.connect"_s});
        row("what missing", R"({"where":"mail.end"})", {u"what is nothing"_s, u"at mail.end"_s, u"reply"_s});
        row("what elsewhere", R"({"where":"mail.end","what":"crash"})",
            {u"what is \"crash\""_s, u"at mail.end"_s, u"store-then-close"_s});
        row("what an object", R"({"where":"mail.end","what":{}})", {u"what is {}"_s, u"at mail.end"_s});
        reply("unknown member", R"("whom":"x")", {u"\"whom\""_s, u"recipient"_s});
        for (const auto &[member, least, most] :
             {std::tuple("code", 400, 599), std::tuple("times", 0, 1'000'000), std::tuple("oneIn", 1, 1'000'000),
              std::tuple("lastsMs", 0, 86'400'000)}) {
            const QStringList range{QLatin1StringView(member)
                                    + u" must be a whole number from %1 to %2"_s.arg(least).arg(most)};
            const auto bad = [&](const char *kind, const QByteArray &value, const QString &shown) {
                reply(qPrintable(QLatin1StringView(member) + u' ' + QLatin1StringView(kind)),
                      '"' + QByteArray(member) + "\":" + value, range + QStringList{u"not "_s + shown});
            };
            bad("too small", QByteArray::number(least - 1), QString::number(least - 1));
            bad("too large", QByteArray::number(most + 1), QString::number(most + 1));
            bad("a fraction", "450.5", u"450.5"_s);
            bad("huge", "1e300", u"1e+300"_s);
            bad("a text", "\"450\"", u"\"450\""_s);
            bad("null", "null", u"null"_s);
            bad("true", "true", u"true"_s);
        }
        reply("seed too large", R"("oneIn":2,"seed":4294967296)", {u"seed"_s, u"0 to 4294967295"_s, u"4294967296"_s});
        reply("seed without oneIn", R"("seed":1)", {u"seed"_s, u"oneIn"_s});
        row("delay too long", R"({"where":"mail.end","what":"delay","delayMs":86400001})",
            {u"delayMs"_s, u"0 to 86400000"_s});
        row("count none", R"({"where":"mail.mail","what":"rate-limit","count":0,"windowMs":1})",
            {u"count"_s, u"1 to 1000000"_s, u"not 0"_s});
        row("window none", R"({"where":"mail.mail","what":"rate-limit","count":1,"windowMs":0})",
            {u"windowMs"_s, u"1 to 86400000"_s, u"not 0"_s});
        for (const char *member : {"event", "recipient", "type"}) {
            const auto bad = [&](const char *kind, const QByteArray &value, const QString &more) {
                reply(qPrintable(QLatin1StringView(member) + u' ' + QLatin1StringView(kind)),
                      '"' + QByteArray(member) + "\":" + value,
                      {QLatin1StringView(member) + u" must be 1 to 320 printable characters"_s, more});
            };
            bad("empty", R"("")", u"not \"\""_s);
            bad("too long", '"' + QByteArray(321, 'x') + '"', u"xxx…"_s);
            bad("a number", "5", u"not 5"_s);
            bad("a line end", R"("a\nb")", u"\\n"_s);
        }
        reply("text empty", R"("text":"")", {u"text"_s, u"1 to 400 printable ASCII"_s});
        reply("text too long", "\"text\":\"" + QByteArray(401, 'x') + '"', {u"text"_s, u"1 to 400"_s});
        reply("text of two lines", R"("text":"a\r\n250 ok")", {u"text"_s, u"printable ASCII"_s});
        reply("text not ASCII", R"("text":"schön")", {u"text"_s, u"printable ASCII"_s});
        reply("delay in vain", R"("delayMs":5)", {u"delayMs is not for \"reply\""_s});
        reply("count in vain", R"("count":5)", {u"count and windowMs"_s, u"\"rate-limit\""_s, u"\"reply\""_s});
        row("code in vain", R"({"where":"mail.end","what":"close","code":451})",
            {u"code and text"_s, u"\"reply\""_s, u"\"close\""_s});
        row("delay missing", R"({"where":"worker.claimed","what":"slow"})", {u"\"slow\" needs delayMs"_s});
        row("count missing", R"({"where":"mail.mail","what":"rate-limit","windowMs":5})",
            {u"\"rate-limit\" needs count and windowMs"_s});
        row("421 alone between mails", R"({"where":"mail.next","what":"reply","code":450})",
            {u"code must be 421"_s, u"450"_s});
    }

    void refusalsNameTheMemberWhatItIsAndWhatIsAccepted()
    {
        QFETCH(QByteArray, json);
        QFETCH(QStringList, words);
        QVERIFY(QJsonDocument::fromJson(json).isObject());
        const auto rule = faultRule(parsed(json));
        QVERIFY(!rule);
        QCOMPARE(rule.error().kind, ErrorKind::Invalid);
        for (const QString &word : words)
            QVERIFY2(rule.error().text.contains(word), qPrintable(rule.error().text));
    }

    void everyOtherEffectIsRefusedAtEachPoint()
    {
        int refused = 0;
        for (int i = 0; i < FaultPointCount; ++i) {
            for (int effect = 0; effect < FaultEffectCount; ++effect) {
                if (faultEffectsAt(FaultPoint(i)).contains(FaultEffect(effect)))
                    continue;
                const auto rule = faultRule(least(FaultPoint(i), FaultEffect(effect)));
                QVERIFY(!rule);
                QVERIFY2(rule.error().text.contains(faultPointName(FaultPoint(i))), qPrintable(rule.error().text));
                ++refused;
            }
        }
        QVERIFY(refused > 500);
    }

    void globsMayHoldAnyScript()
    {
        for (const QString &glob : {u"победа-*"_s, u"😀*"_s, u"a b"_s, u"[x].y/z\\"_s}) {
            QJsonObject object = toJson(FaultRule());
            object.insert(u"event"_s, glob);
            const auto rule = faultRule(object);
            QVERIFY2(rule, rule ? "" : qPrintable(rule.error().text));
            QCOMPARE(rule->event, glob);
        }
    }

    void isDescribedInALine_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QString>("text");
        const auto row = [](const QByteArray &json, const QString &text) {
            QTest::newRow(qPrintable(text)) << json << text;
        };
        row(R"({"where":"mail.end","what":"reply","code":451,"times":3,"event":"demo-*"})",
            u"mail.end: reply 451, next 3, event demo-*"_s);
        row(R"({"where":"mail.end","what":"reply","times":3,"struck":2})", u"mail.end: reply 451, next 1"_s);
        row(R"({"where":"worker.claimed","what":"crash"})", u"worker.claimed: crash, next 1"_s);
        row(R"({"where":"worker.claimed","what":"hang","times":0})", u"worker.claimed: hang, every time"_s);
        row(R"({"where":"worker.claimed","what":"slow","delayMs":1500})", u"worker.claimed: slow 1500 ms, next 1"_s);
        row(R"({"where":"mail.mail","what":"rate-limit","count":5,"windowMs":10000,"times":0})",
            u"mail.mail: rate-limit 5 in 10000 ms, every time"_s);
        row(R"({"where":"database.commit","what":"cut","oneIn":4,"seed":9,"times":0})",
            u"database.commit: cut, one in 4 (seed 9)"_s);
        row(R"({"where":"database.commit","what":"cut","oneIn":4,"times":2})",
            u"database.commit: cut, one in 4 (seed 0), next 2"_s);
        row(R"({"where":"queue.delete","what":"fail","recipient":"sam@*","type":"a.b","lastsMs":1500})",
            u"queue.delete: fail, next 1, recipient sam@*, type a.b, for 1.5 s"_s);
    }

    void isDescribedInALine()
    {
        QFETCH(QByteArray, json);
        QFETCH(QString, text);
        QCOMPARE(describe(faultRule(parsed(json)).value()), text);
    }
};

QTEST_GUILESS_MAIN(TestFault)
#include "tst_fault.moc"
