#include "worker/events/eventtype.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
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
                         R"("lookup": ["SELECT 1 AS one", "WHERE :candidate_id = 1"],)"_ba, // 4
                         R"("missing": "retry",)"_ba, // 5
                         R"("missing_text": "Candidate {{candidate_id}} is not there yet",)"_ba, // 6
                         R"("recipient": {"address": "{{email}}", "name": "{{name}}", "user": "{{user_id}}"},)"_ba, // 7
                         R"("subject": "Hired",)"_ba, // 8
                         R"("text": ["Hi", "there"],)"_ba, // 9
                         R"("log": "Emailed {{user_id}}")"_ba, // 10
                         "}"_ba};
    if (line > 0)
        lines[line - 1] = with;
    return lines.join('\n');
}

bool write(const QString &path, const QByteArray &content)
{
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(content) == content.size();
}

} // namespace

class TestEventType : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void shippedTypesAreThere();
    void parsesADefinition();
    void errorsNameFileLineAndField_data();
    void errorsNameFileLineAndField();
    void usersFilesAddAndReplace();
    void missingUserFolderIsFine();
    void oneBadFileIsNamed();
    void twoFilesOfOneTypeAreRefused();
    void aTypeCanBeSwitchedOff();
    void aMemberIsFoundInItsFile();
};

void TestEventType::shippedTypesAreThere()
{
    const Result<EventTypes> types = EventTypes::load({});
    QVERIFY2(types.ok(), types.ok() ? "" : qPrintable(types.error().text));
    QCOMPARE(types->names(), (QStringList{u"application.received"_s, u"application.status_changed"_s}));
    const EventType *changed = types->find(u"application.status_changed"_s);
    QVERIFY(changed);
    QCOMPARE(changed->missing, EventType::Missing::Skip);
    QCOMPARE(changed->fields,
             (QList<EventType::Field>{{u"application_id"_s, EventType::FieldKind::Integer},
                                      {u"old_status"_s, EventType::FieldKind::Text},
                                      {u"new_status"_s, EventType::FieldKind::Text}}));
    QCOMPARE(changed->subject, u"Your application for {{job_title}} at {{company_name}}: {{new_status}}"_s);
    QCOMPARE(changed->logText,
             u"Emailed user {{user_id}} about application {{application_id}}: {{old_status}} -> {{new_status}}"_s);
    QCOMPARE(changed->missingText, u"Application {{application_id}} no longer exists"_s);
    QVERIFY(changed->text.startsWith(u"Hi {{first_name}},\n\nThe status of your application"_s));
    QVERIFY(changed->html.contains(u"{{new_status}}"_s));
    QCOMPARE(types->find(u"application.received"_s)->missing, EventType::Missing::Retry);
    QVERIFY(!types->find(u"application.archived"_s));
}

void TestEventType::parsesADefinition()
{
    const Result<EventType> type = EventTypes::parse(definition(), u"x.json"_s);
    QVERIFY2(type.ok(), type.ok() ? "" : qPrintable(type.error().text));
    QCOMPARE(type->type, u"candidate.hired"_s);
    QCOMPARE(type->lookupSql, u"SELECT 1 AS one\nWHERE :candidate_id = 1"_s);
    QCOMPARE(type->text, u"Hi\nthere"_s);
    QCOMPARE(type->html, QString());
    QCOMPARE(type->recipientAddress, u"{{email}}"_s);
    QCOMPARE(type->recipientName, u"{{name}}"_s);
    QCOMPARE(type->recipientUser, u"{{user_id}}"_s);
    QCOMPARE(type->missing, EventType::Missing::Retry);
    QCOMPARE(type->source, u"x.json"_s);
}

void TestEventType::errorsNameFileLineAndField_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("text");
    QTest::newRow("no JSON") << "{\n\"type\": x}"_ba << u"x.json, line 2, column 9: expected a value, found “x”"_s;
    QTest::newRow("no object") << "[]"_ba << u"x.json, line 1: an event type is an array; an object is accepted"_s;
    QTest::newRow("no type") << definition(2) << u"x.json, line 1: type is missing; a text is accepted"_s;
    QTest::newRow("type empty") << definition(2, "\"type\": \"\","_ba) << u"x.json, line 2: type is empty"_s;
    QTest::newRow("type too long") << definition(2, "\"type\": \""_ba + QByteArray(101, 't') + "\","_ba)
                                   << u"x.json, line 2: type is longer than 100 characters"_s;
    QTest::newRow("no fields") << definition(
        3) << u"x.json, line 1: fields is missing; an object of names with “text” or “integer” is accepted"_s;
    QTest::newRow("fields a list")
        << definition(3, "\"fields\": [],"_ba)
        << u"x.json, line 3: fields is an array; an object of names with “text” or “integer” is accepted"_s;
    QTest::newRow("unknown kind")
        << definition(3, R"("fields": {"candidate_id": "number"},)"_ba)
        << u"x.json, line 3: fields.candidate_id is a text (“number”); “text” or “integer” is accepted"_s;
    QTest::newRow("event_id listed") << definition(3, R"("fields": {"event_id": "text"},)"_ba)
                                     << u"x.json, line 3: fields.event_id is part of every event and not listed"_s;
    QTest::newRow("field with a blank")
        << definition(3, R"("fields": {"a b": "text"},)"_ba)
        << u"x.json, line 3: fields has the name “a b”; letters, digits and _ are accepted"_s;
    QTest::newRow("no look-up") << definition(4) << u"x.json, line 1: lookup is missing; a text is accepted"_s;
    QTest::newRow("look-up a number") << definition(
        4, "\"lookup\": 1,"_ba) << u"x.json, line 4: lookup is a number (1); a text or a list of lines is accepted"_s;
    QTest::newRow("look-up with a number")
        << definition(4, "\"lookup\": [\"SELECT\",\n1],"_ba)
        << u"x.json, line 5: lookup holds a number (1); a list of texts is accepted"_s;
    QTest::newRow("missing unknown") << definition(5, "\"missing\": \"maybe\","_ba)
                                     << u"x.json, line 5: missing is a text (“maybe”); “skip” or “retry” is accepted"_s;
    QTest::newRow("missing not given") << definition(5)
                                       << u"x.json, line 1: missing is missing; “skip” or “retry” is accepted"_s;
    QTest::newRow("no recipient") << definition(
        7) << u"x.json, line 1: recipient is missing; an object with address, name and user is accepted"_s;
    QTest::newRow("no address") << definition(7, R"("recipient": {"user": "{{user_id}}"},)"_ba)
                                << u"x.json, line 7: recipient.address is missing; a text is accepted"_s;
    QTest::newRow("recipient with a typing error")
        << definition(7, R"("recipient": {"adress": "a", "user": "u"},)"_ba)
        << u"x.json, line 7: “recipient.adress” is not known here; known are address, name, user"_s;
    QTest::newRow("subject blank") << definition(8, "\"subject\": \" \","_ba) << u"x.json, line 8: subject is empty"_s;
    QTest::newRow("typing error")
        << definition(8, "\"subjekt\": \"Hired\","_ba)
        << u"x.json, line 8: “subjekt” is not known here; known are type, enabled, fields, lookup, missing, missing_text, recipient, subject, text, html, log"_s;
    QTest::newRow("twice") << definition(9, "\"subject\": \"Fired\","_ba)
                           << u"x.json, line 9, column 1: key “subject” is given twice; each key is accepted once"_s;
    QTest::newRow("enabled a text") << definition(8, "\"subject\": \"Hired\", \"enabled\": \"no\","_ba)
                                    << u"x.json, line 8: enabled is a text (“no”); true or false is accepted"_s;
    QTest::newRow("switched off, but of no type")
        << R"({"enabled": false})"_ba << u"x.json, line 1: type is missing; a text is accepted"_s;
    QTest::newRow("switched off, with a typing error")
        << "{\"type\": \"a\",\n\"enabeld\": false}"_ba
        << u"x.json, line 2: “enabeld” is not known here; known are type, enabled, fields, lookup, missing, missing_text, recipient, subject, text, html, log"_s;
    QTest::newRow("no log") << definition(10, "\"html\": \"\""_ba)
                            << u"x.json, line 1: log is missing; a text is accepted"_s;
}

void TestEventType::errorsNameFileLineAndField()
{
    QFETCH(QByteArray, json);
    QFETCH(QString, text);
    const Result<EventType> type = EventTypes::parse(json, u"x.json"_s);
    QVERIFY(!type.ok());
    QCOMPARE(type.error().text, text);
    QCOMPARE(type.error().kind, ErrorKind::Invalid);
}

void TestEventType::usersFilesAddAndReplace()
{
    QTemporaryDir folder;
    QVERIFY(write(folder.filePath(u"hired.json"_s), definition()));
    QVERIFY(write(folder.filePath(u"changed.json"_s), definition(2, R"("type": "application.status_changed",)"_ba)));
    QVERIFY(write(folder.filePath(u"notes.txt"_s), "no definition"_ba));
    const Result<EventTypes> types = EventTypes::load(folder.path());
    QVERIFY2(types.ok(), types.ok() ? "" : qPrintable(types.error().text));
    QCOMPARE(types->names(),
             (QStringList{u"application.received"_s, u"application.status_changed"_s, u"candidate.hired"_s}));
    QCOMPARE(types->find(u"application.status_changed"_s)->subject, u"Hired"_s);
    QCOMPARE(types->find(u"application.status_changed"_s)->source, folder.filePath(u"changed.json"_s));
}

void TestEventType::missingUserFolderIsFine()
{
    const Result<EventTypes> types = EventTypes::load(u"/nonexistent/event-types"_s);
    QVERIFY(types.ok());
    QCOMPARE(types->names().size(), 2);
}

void TestEventType::oneBadFileIsNamed()
{
    QTemporaryDir folder;
    QVERIFY(write(folder.filePath(u"bad.json"_s), definition(5, "\"missing\": \"maybe\","_ba)));
    const Result<EventTypes> types = EventTypes::load(folder.path());
    QVERIFY(!types.ok());
    QVERIFY2(types.error().text.startsWith(folder.filePath(u"bad.json"_s) + u", line 5: missing is "_s),
             qPrintable(types.error().text));
}

void TestEventType::twoFilesOfOneTypeAreRefused()
{
    QTemporaryDir folder;
    QVERIFY(write(folder.filePath(u"a.json"_s), definition()));
    QVERIFY(write(folder.filePath(u"b.json"_s), definition()));
    const Result<EventTypes> types = EventTypes::load(folder.path());
    QVERIFY(!types.ok());
    QCOMPARE(types.error().text,
             u"%1: type “candidate.hired” is defined by %2 too; one file for each type is accepted"_s.arg(
                 folder.filePath(u"b.json"_s), folder.filePath(u"a.json"_s)));
}

void TestEventType::aTypeCanBeSwitchedOff()
{
    QTemporaryDir folder;
    QVERIFY(write(folder.filePath(u"off.json"_s), R"({"type": "application.received", "enabled": false})"_ba));
    QVERIFY(write(folder.filePath(u"own.json"_s), definition(8, R"("subject": "Hired", "enabled": true,)"_ba)));
    QVERIFY(write(folder.filePath(u"whole.json"_s),
                  definition(8, R"("subject": "Hired", "enabled": false,)"_ba).replace("hired", "fired")));
    const Result<EventTypes> types = EventTypes::load(folder.path());
    QVERIFY2(types.ok(), types.ok() ? "" : qPrintable(types.error().text));
    QCOMPARE(types->names(), (QStringList{u"application.status_changed"_s, u"candidate.hired"_s}));
    QVERIFY(!types->find(u"application.received"_s));
    QVERIFY(!types->find(u"candidate.fired"_s));
    QCOMPARE(types->switchedOff(u"application.received"_s)->source, folder.filePath(u"off.json"_s));
    QVERIFY(!types->switchedOff(u"application.status_changed"_s));
    QVERIFY(!types->switchedOff(u"application.archived"_s));
}

void TestEventType::aMemberIsFoundInItsFile()
{
    const Result<EventType> type =
        EventTypes::parse(definition(9, "\"text\": [\"Hi\",\n\n\"two\\nlines\", \"\",\n\"end\"],"_ba), u"x.json"_s);
    QVERIFY2(type.ok(), type.ok() ? "" : qPrintable(type.error().text));
    QCOMPARE(type->text, u"Hi\ntwo\nlines\n\nend"_s);
    const int expected[] = {9, 11, 11, 11, 12};
    for (int line = 1; line <= 5; ++line)
        QCOMPARE(type->where(u"text"_s, line), u"x.json, line %1"_s.arg(expected[line - 1]));
    QCOMPARE(type->where(u"recipient.user"_s), u"x.json, line 7"_s);
    QCOMPARE(type->where(u"html"_s), u"x.json"_s);
}

QTEST_APPLESS_MAIN(TestEventType)
#include "tst_eventtype.moc"
