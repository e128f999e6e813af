#include "worker/events/bodycheck.h"

#include <QtTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

/// What a person is told of a body before it is sent.
class BodyCheckTest : public QObject
{
    Q_OBJECT

    static EventRules rules()
    {
        auto types = EventTypes::load({});
        return rulesOf(std::make_shared<const EventTypes>(types.take()));
    }

private Q_SLOTS:
    void theShippedTypesAndTheirFieldsAreKnown()
    {
        const EventRules known = rules();
        QStringList names;
        for (const EventTypeRule &rule : known.types)
            names += rule.type;
        QVERIFY(std::is_sorted(names.cbegin(), names.cend()));
        const qsizetype at = names.indexOf(u"application.status_changed"_s);
        QVERIFY(at >= 0);
        const EventTypeRule rule = known.types.at(at);
        QCOMPARE(rule.fields.size(), 3);
        QCOMPARE(rule.fields.first(), (EventFieldRule{u"application_id"_s, true}));
    }

    void bodies_data()
    {
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<QString>("problem"); // part of it; empty: valid
        const QByteArray good = R"({"type": "application.status_changed", "event_id": "e-1", "application_id": 3,)"
                                R"( "old_status": "reviewing", "new_status": "interview"})";
        QTest::newRow("valid") << good << QString();
        QTest::newRow("laid out") << QByteArray(good).replace(", ", ",\n\t") << QString();
        QTest::newRow("empty") << QByteArray() << u"is empty"_s;
        QTest::newRow("no JSON") << QByteArray("hello") << u"line 1, column 1"_s;
        QTest::newRow("a text for an integer") << QByteArray(good).replace(": 3", ": \"3\"") << u"application_id"_s;
        QTest::newRow("unknown type") << QByteArray(good).replace("status_changed", "archived") << u"is not known"_s;
        QTest::newRow("no event_id") << QByteArray(good).replace("event_id", "event") << u"event_id"_s;
        QTest::newRow("control character")
            << QByteArray(good).replace("reviewing", "rev\x01iewing") << u"U+0001 is a character that SQS refuses"_s;
        QTest::newRow("noncharacter") << QByteArray(good).replace("reviewing", "\xEF\xBF\xBF") << u"U+FFFF"_s;
        QTest::newRow("half a letter") << QByteArray(good).replace("reviewing", "\xC3") << u"UTF-8"_s;
        QTest::newRow("too large") << QByteArray(good).replace("reviewing", QByteArray(1024 * 1024, 'x'))
                                   << u"SQS takes 1,048,576"_s;
        QTest::newRow("as large as it may be")
            << QByteArray(good).replace("reviewing", QByteArray(1024 * 1024 - good.size() + 9, 'x')) << QString();
    }
    void bodies()
    {
        QFETCH(QByteArray, body);
        QFETCH(QString, problem);
        const BodyCheck check = rules().check(body);
        QCOMPARE(check.sizeBytes, body.size());
        if (problem.isEmpty()) {
            QCOMPARE(check.problem, QString());
            QCOMPARE(check.eventId, u"e-1"_s);
            QCOMPARE(check.type, u"application.status_changed"_s);
        } else {
            QVERIFY2(check.problem.contains(problem), qPrintable(check.problem));
        }
    }
};

QTEST_APPLESS_MAIN(BodyCheckTest)
#include "tst_bodycheck.moc"
