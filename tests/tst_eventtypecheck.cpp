#include "worker/consume/eventtypecheck.h"

#include "worker/events/event.h"

#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;

namespace {

/// A valid definition, one member a line; `line` (from 1) replaced by `with`.
QByteArray definition(int line = 0, const QByteArray &with = {})
{
    QByteArrayList lines{"{"_ba, // 1
                         R"("type": "candidate.hired",)"_ba, // 2
                         R"("fields": {"candidate_id": "integer", "note": "text"},)"_ba, // 3
                         R"("lookup": ["SELECT 1 AS one, '::x' AS two", "WHERE :candidate_id = 1"],)"_ba, // 4
                         R"("missing": "retry",)"_ba, // 5
                         R"("missing_text": "Candidate {{candidate_id}} of {{event_id}} is not there yet",)"_ba, // 6
                         R"("recipient": {"address": "{{email}}", "name": "{{name}}", "user": "{{user_id}}"},)"_ba, // 7
                         R"("subject": "Hired",)"_ba, // 8
                         R"("text": ["Hi", "there"],)"_ba, // 9
                         R"("log": "Emailed {{user_id}}")"_ba, // 10
                         "}"_ba};
    if (line > 0)
        lines[line - 1] = with;
    return lines.join('\n');
}

} // namespace

class TestEventTypeCheck : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void theShippedOnesAreGood()
    {
        const auto types = EventTypes::load({});
        QVERIFY(types);
        const auto checked = checkEventTypes(types.value());
        QVERIFY2(checked, checked ? "" : qPrintable(checked.error().text));
    }

    void errorsNameFileLineAndMember_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QString>("text");
        QTest::newRow("good") << definition() << QString();
        QTest::newRow("no SELECT") << definition(4, R"("lookup": "DELETE FROM x",)"_ba)
                                   << u"own.json, line 4: lookup: the look-up begins with “DELETE”"_s;
        QTest::newRow("a parameter that is no field")
            << definition(4, "\"lookup\": [\"SELECT 1\",\n\"WHERE :candidate_id = 1\",\n\"AND :user_id = 2\"],"_ba)
            << u"own.json, line 6: lookup: it asks for :user_id, which not every event has; accepted are :event_id, "
               ":type, :candidate_id, :note"_s;
        QTest::newRow("a stray bracket in the second line")
            << definition(9, "\"text\": [\"Hi {{note}},\",\n\"you {{are\",\n\"hired\"],"_ba)
            << u"own.json, line 10: text: a {{ without its }}"_s;
        QTest::newRow("a name that is none") << definition(8, R"("subject": "{{candidate id}}",)"_ba)
                                             << u"own.json, line 8: subject: “{{candidate id}}” is no name"_s;
        QTest::newRow("recipient") << definition(7,
                                                 "\"recipient\": {\"address\": \"x\",\n\"user\": \"{{user_id}\"},"_ba)
                                   << u"own.json, line 8: recipient.user: a {{ without its }}"_s;
        QTest::newRow("html") << definition(9, "\"text\": \"x\", \"html\": [\"<p>\",\n\"}}\"],"_ba)
                              << u"own.json, line 10: html: a }} without its {{"_s;
        QTest::newRow("a column where there is no row")
            << definition(6, R"("missing_text": "{{name}} is not there",)"_ba)
            << u"own.json, line 6: missing_text: it uses “name”, which not every event has; accepted are event_id, "
               "type, candidate_id, note"_s;
    }

    void errorsNameFileLineAndMember()
    {
        QFETCH(const QByteArray, json);
        QFETCH(const QString, text);
        const auto type = EventTypes::parse(json, u"own.json"_s);
        QVERIFY2(type, type ? "" : qPrintable(type.error().text));
        EventTypes types;
        types.insert(type.value());
        const auto checked = checkEventTypes(types);
        QCOMPARE(checked.ok(), text.isEmpty());
        if (!checked)
            QVERIFY2(checked.error().text.startsWith(text), qPrintable(checked.error().text));
    }

    void oneThatIsSwitchedOffIsLikeAnUnknownOne()
    {
        EventTypes types;
        types.insert(EventTypes::parse(R"({"type": "candidate.hired", "enabled": false})"_ba, u"own.json"_s).value());
        QVERIFY(checkEventTypes(types));
        const auto event = parseEvent(R"({"type": "candidate.hired", "event_id": "e"})"_ba, types);
        QVERIFY(!event);
        QCOMPARE(event.error().kind, ErrorKind::Invalid);
        QVERIFY2(event.error().text.startsWith(u"type “candidate.hired” is switched off in own.json"_s),
                 qPrintable(event.error().text));
    }
};

QTEST_GUILESS_MAIN(TestEventTypeCheck)
#include "tst_eventtypecheck.moc"
