#include "tests/interop/mime/pythonmail.h"
#include "tests/world/mailcases.h"

#include <QTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

/// Python's email package reads our mails as we meant them.
class InteropMime : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QTest::failOnWarning(QRegularExpression(u".*"_s));
        QVERIFY(m_python.start());
    }

    void cleanupTestCase() { QVERIFY(m_python.end()); }

    void pythonReadsTheSame_data()
    {
        QTest::addColumn<int>("index");
        const auto cases = world::mailCases();
        for (int i = 0; i < cases.size(); ++i)
            QTest::newRow(cases[i].first.constData()) << i;
    }

    void pythonReadsTheSame()
    {
        QFETCH(const int, index);
        const MailContent content = world::mailCases()[index].second;
        const MimeMessage message = renderMail(content).value();
        const QJsonObject read = m_python.read(message.bytes);
        QVERIFY2(!read.isEmpty(), m_python.error().constData());
        QCOMPARE(world::differences(read, content, message), QStringList());
    }

private:
    world::PythonMail m_python;
};

QTEST_GUILESS_MAIN(InteropMime)
#include "interop_mime.moc"
