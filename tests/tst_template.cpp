#include "worker/mail/template.h"

#include <QDateTime>
#include <QTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

class TestTemplate : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void putsValuesInPlaceOfNames_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("expected");
        QTest::newRow("empty") << u""_s << u""_s;
        QTest::newRow("no name") << u"plain { } text"_s << u"plain { } text"_s;
        QTest::newRow("one") << u"Dear {{name}},"_s << u"Dear Dana,"_s;
        QTest::newRow("alone") << u"{{name}}"_s << u"Dana"_s;
        QTest::newRow("blanks") << u"{{ name }}{{\tid}}"_s << u"Dana5"_s;
        QTest::newRow("twice") << u"{{name}} {{name}}"_s << u"Dana Dana"_s;
        QTest::newRow("number") << u"user {{id}}"_s << u"user 5"_s;
        QTest::newRow("large number stays exact") << u"{{large}}"_s << u"9007199254740993"_s;
        QTest::newRow("boolean") << u"{{yes}}"_s << u"true"_s;
        QTest::newRow("bytes") << u"{{bytes}}"_s << u"ä"_s;
        QTest::newRow("empty value") << u"[{{empty}}]"_s << u"[]"_s;
        QTest::newRow("a value is not read again") << u"{{braces}}"_s << u"{{name}}"_s;
        QTest::newRow("a value is not escaped") << u"{{markup}}"_s << u"<b>\"R&D\" isn't</b>"_s;
    }

    void putsValuesInPlaceOfNames()
    {
        QFETCH(const QString, text);
        QFETCH(const QString, expected);
        const Result<QString> rendered = renderTemplate(text, values());
        QVERIFY2(rendered, rendered ? "" : qPrintable(rendered.error().text));
        QCOMPARE(rendered.value(), expected);
    }

    void escapesValuesButNotTheTemplateForHtml()
    {
        QCOMPARE(renderTemplate(u"<p title='{{markup}}'>"_s, values(), Escape::Html).value(),
                 u"<p title='&lt;b&gt;&quot;R&amp;D&quot; isn&#39;t&lt;/b&gt;'>"_s);
    }

    void refusesWithTheReason_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("reason");
        QTest::newRow("missing") << u"{{nobody}}"_s << u"nobody"_s;
        QTest::newRow("NULL") << u"{{null}}"_s << u"“null”, which is NULL"_s;
        QTest::newRow("invalid") << u"{{invalid}}"_s << u"invalid"_s;
        QTest::newRow("list") << u"{{list}}"_s << u"list"_s;
        QTest::newRow("texts") << u"{{texts}}"_s << u"texts"_s;
        QTest::newRow("open only") << u"a\n{{name"_s << u"line 2"_s;
        QTest::newRow("one brace short") << u"{{name}"_s << u"without its }}"_s;
        QTest::newRow("close only") << u"name}}"_s << u"without its {{"_s;
        QTest::newRow("close first") << u"}} {{name}}"_s << u"without its {{"_s;
        QTest::newRow("empty name") << u"{{ }}"_s << u"no name"_s;
        QTest::newRow("two names") << u"{{a b}}"_s << u"{{a b}}"_s;
        QTest::newRow("triple") << u"{{{name}}}"_s << u"no name"_s;
        QTest::newRow("section") << u"{{#name}}"_s << u"no name"_s;
        QTest::newRow("unescaped") << u"{{&name}}"_s << u"no name"_s;
        QTest::newRow("nested") << u"{{ {{name}} }}"_s << u"no name"_s;
        QTest::newRow("digit first") << u"{{1a}}"_s << u"no name"_s;
    }

    void refusesWithTheReason()
    {
        QFETCH(const QString, text);
        QFETCH(const QString, reason);
        const Result<QString> rendered = renderTemplate(text, values());
        QVERIFY(!rendered);
        QCOMPARE(rendered.error().kind, ErrorKind::Invalid);
        QVERIFY2(rendered.error().text.contains(reason), qPrintable(rendered.error().text));
    }

    void listsNamesOnceInTheirOrder()
    {
        QCOMPARE(templateNames(u"{{b}}\n\n{{ a }}\n{{b}}"_s).value(), (QList<TemplateName>{{u"b"_s, 1}, {u"a"_s, 3}}));
        int line = 0;
        const auto wrong = templateNames(u"{{a}}\n{{b"_s, &line);
        QVERIFY(!wrong);
        QCOMPARE(line, 2);
        QCOMPARE(wrong.error().text, u"a {{ without its }}"_s);
    }

private:
    static QMap<QString, QVariant> values()
    {
        return {{u"name"_s, u"Dana"_s},
                {u"id"_s, qint64(5)},
                {u"large"_s, qint64(9007199254740993)},
                {u"yes"_s, true},
                {u"bytes"_s, u"ä"_s.toUtf8()},
                {u"empty"_s, u""_s},
                {u"braces"_s, u"{{name}}"_s},
                {u"markup"_s, u"<b>\"R&D\" isn't</b>"_s},
                {u"null"_s, QVariant(QMetaType(QMetaType::QString))},
                {u"invalid"_s, QVariant()},
                {u"list"_s, QVariantList{1, 2}},
                {u"texts"_s, QStringList{u"a"_s}}};
    }
};

QTEST_GUILESS_MAIN(TestTemplate)
#include "tst_template.moc"
