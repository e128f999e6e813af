#include "worker/store/sqltext.h"

#include <QRegularExpression>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;

class TestSqlText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void splitsStatements_data();
    void splitsStatements();
    void findsParameters_data();
    void findsParameters();
    void tokensMakeUpTheText();
};

void TestSqlText::splitsStatements_data()
{
    QTest::addColumn<QString>("script");
    QTest::addColumn<QStringList>("statements");
    QTest::newRow("nothing") << u" ; -- a;b\n /* ; */ ;"_s << QStringList();
    QTest::newRow("two") << u"SELECT 1; SELECT 2;"_s << QStringList{u"SELECT 1"_s, u"SELECT 2"_s};
    QTest::newRow("no semicolon at the end") << u"SELECT 1;\nSELECT 2"_s << QStringList{u"SELECT 1"_s, u"SELECT 2"_s};
    QTest::newRow("in a text") << u"SELECT 'a;''b;';"_s << QStringList{u"SELECT 'a;''b;'"_s};
    QTest::newRow("in a name") << u"SELECT \"a;\"\"b\", `c;`, [d;]"_s
                               << QStringList{u"SELECT \"a;\"\"b\", `c;`, [d;]"_s};
    QTest::newRow("a comment in a text") << u"SELECT '--', '/*'; SELECT 2"_s
                                         << QStringList{u"SELECT '--', '/*'"_s, u"SELECT 2"_s};
    QTest::newRow("a comment parts words") << u"SELECT/**/1--x\nFROM t"_s << QStringList{u"SELECT 1  FROM t"_s};
    QTest::newRow("a text without an end") << u"SELECT 'a; SELECT 2"_s << QStringList{u"SELECT 'a; SELECT 2"_s};
}

void TestSqlText::splitsStatements()
{
    QFETCH(QString, script);
    QTEST(sqlStatements(script), "statements");
}

void TestSqlText::findsParameters_data()
{
    QTest::addColumn<QString>("statement");
    QTest::addColumn<QString>("sql");
    QTest::addColumn<QStringList>("names");
    QTest::newRow("none") << u"SELECT 1"_s << u"SELECT 1"_s << QStringList();
    QTest::newRow("twice") << u"WHERE a=:a_1 OR b = :b AND c=:a_1"_s << u"WHERE a=? OR b = ? AND c=?"_s
                           << QStringList{u"a_1"_s, u"b"_s, u"a_1"_s};
    QTest::newRow("in texts and names") << u"SELECT ':a', \":b\""_s << u"SELECT ':a', \":b\""_s << QStringList();
    QTest::newRow("in comments") << u"SELECT 1 -- :a\n/* :b */"_s << u"SELECT 1    "_s << QStringList();
    QTest::newRow("a cast") << u"SELECT :a::text"_s << u"SELECT ?::text"_s << QStringList{u"a"_s};
    QTest::newRow("a lonely colon") << u"SELECT a[1:2]"_s << u"SELECT a[1:2]"_s << QStringList();
}

void TestSqlText::findsParameters()
{
    QFETCH(QString, statement);
    const PositionalSql positional = positionalSql(statement);
    QTEST(positional.sql, "sql");
    QTEST(positional.names, "names");
}

void TestSqlText::tokensMakeUpTheText()
{
    const QString text = u"SELECT a.\"b\"::int, 'c' -- d\nFROM [e] /* f */ WHERE :g >= 1.5e3; 'open"_s;
    for (qsizetype size = 0; size <= text.size(); ++size) {
        QString joined;
        for (const SqlToken &token : sqlTokens(text.left(size)))
            joined += token.text;
        QCOMPARE(joined, text.left(size));
    }
    QCOMPARE(sqlTokens(text).constLast().kind, SqlToken::Kind::Unclosed);
}

QTEST_APPLESS_MAIN(TestSqlText)
#include "tst_sqltext.moc"
