#include <QtTest>

#include <QDirIterator>
#include <QRegularExpression>

using namespace Qt::StringLiterals;

/// Who may include whom (architecture.md): app -> ui -> worker, never up, never sideways; inside worker by floors.
class IncludeRules : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void everyIncludeFollowsTheRules();
    void forbiddenIncludesAreSeen_data();
    void forbiddenIncludesAreSeen();

private:
    static QString complaint(const QString &file, const QString &include);
};

namespace {

/// "worker/queue" for "worker/queue/sqsclient.h", "ui" for anything below ui, "worker" for worker/types.h and the like.
QString floorOf(const QString &path)
{
    const QStringList parts = path.split(u'/');
    if (parts.size() >= 3 && (parts[0] == "worker"_L1 || parts[0] == "app"_L1))
        return parts[0] + u'/' + parts[1];
    return parts[0];
}

const QStringList Ground = {u"worker/types.h"_s, u"worker/result.h"_s, u"worker/config.h"_s};

/// What each floor of the worker may reach, beside itself and the ground.
const QMap<QString, QStringList> Reach = {
    {u"worker/wait"_s, {}},
    {u"worker/digest"_s, {}},
    {u"worker/queue"_s, {u"worker/digest"_s}},
    {u"worker/store"_s, {u"worker/wait"_s}},
    {u"worker/mail"_s, {u"worker/digest"_s, u"worker/wait"_s}},
    {u"worker/events"_s, {u"worker/digest"_s}},
    {u"worker/faults"_s, {}},
    {u"worker/local"_s, {u"worker/faults"_s}},
    {u"worker/consume"_s,
     {u"worker/wait"_s, u"worker/digest"_s, u"worker/queue"_s, u"worker/store"_s, u"worker/mail"_s, u"worker/events"_s,
      u"worker/faults"_s}},
    {u"worker/operate"_s,
     {u"worker/queue"_s, u"worker/store"_s, u"worker/mail"_s, u"worker/events"_s, u"worker/faults"_s,
      u"worker/consume"_s}},
    // Above the worker's face: it makes whole worlds.
    {u"worker/scenario"_s,
     {u"worker"_s, u"worker/queue"_s, u"worker/store"_s, u"worker/mail"_s, u"worker/events"_s, u"worker/faults"_s,
      u"worker/local"_s, u"worker/consume"_s, u"worker/operate"_s}},
};

} // namespace

/// Empty when `file` may include `include`; both from the root of the tree, or a Qt header for `include`.
QString IncludeRules::complaint(const QString &file, const QString &include)
{
    static const QRegularExpression Graphic(
        u"^(QtGui|QtWidgets|QtSvg)/|^Q(Widget|MainWindow|Painter|Icon|Pixmap|Image|Color|Font)\\b"_s);
    static const QRegularExpression Outside(u"^(QtSql|QtNetwork)/|^Q(Sql|Tcp|Udp|Network|Local(Socket|Server))"_s);
    const QString from = floorOf(file);
    if (from.startsWith("worker"_L1) && Graphic.match(include).hasMatch())
        return u"worker does without QtGui and QtWidgets"_s;
    if (from == "ui"_L1 && Outside.match(include).hasMatch())
        return u"ui touches neither SQL nor network"_s;
    if (!include.startsWith("worker/"_L1) && !include.startsWith("ui/"_L1) && !include.startsWith("app/"_L1))
        return {};
    const QString to = floorOf(include);
    if (to == from || from.startsWith("app"_L1))
        return from == to || !to.startsWith("app"_L1) || to == "app/config"_L1 || to == "app/process"_L1
            ? QString()
            : u"one program does not include another"_s;
    if (to.startsWith("app"_L1))
        return u"nobody includes app"_s;
    if (from == "ui"_L1) {
        const bool face = include == "worker/worker.h"_L1 || include == "worker/types.h"_L1
            || include == "worker/result.h"_L1 || include == "worker/faults/fault.h"_L1
            || include == "worker/scenario/scenarios.h"_L1 || include == "worker/scenario/scenariotypes.h"_L1;
        return face ? QString() : u"ui sees the worker's face and its values only"_s;
    }
    if (to == "ui"_L1)
        return u"worker does not know ui"_s;
    if (to == "worker/scenario"_L1)
        return u"the worker does not know its scenarios"_s;
    if (Ground.contains(include) || from == "worker"_L1)
        return {};
    return Reach.value(from).contains(to) ? QString() : u"%1 does not know %2"_s.arg(from, to);
}

void IncludeRules::everyIncludeFollowsTheRules()
{
    const QString root = QStringLiteral(SENDONCE_SOURCE_DIR);
    static const QRegularExpression Line(u"^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]"_s,
                                         QRegularExpression::MultilineOption);
    int files = 0;
    QStringList complaints;
    for (const QString &folder : {u"app"_s, u"ui"_s, u"worker"_s}) {
        QDirIterator walk(root + u'/' + folder, {u"*.cpp"_s, u"*.h"_s}, QDir::Files, QDirIterator::Subdirectories);
        while (walk.hasNext()) {
            const QString path = walk.next();
            QFile source(path);
            QVERIFY(source.open(QIODevice::ReadOnly));
            ++files;
            const QString file = path.mid(root.size() + 1);
            auto matches = Line.globalMatch(QString::fromUtf8(source.readAll()));
            while (matches.hasNext()) {
                const QString include = matches.next().captured(1);
                const QString why = complaint(file, include);
                if (!why.isEmpty())
                    complaints.append(u"%1 includes %2: %3"_s.arg(file, include, why));
            }
        }
    }
    QVERIFY(files > 50);
    QVERIFY2(complaints.isEmpty(), qPrintable(complaints.join(u'\n')));
}

void IncludeRules::forbiddenIncludesAreSeen_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("include");
    QTest::addColumn<bool>("allowed");
    QTest::newRow("worker up to ui") << u"worker/queue/a.cpp"_s << u"ui/theme.h"_s << false;
    QTest::newRow("worker up to app") << u"worker/worker.cpp"_s << u"app/config/settings.h"_s << false;
    QTest::newRow("sideways in worker") << u"worker/queue/a.cpp"_s << u"worker/store/journal.h"_s << false;
    QTest::newRow("local by protocol alone") << u"worker/operate/a.cpp"_s << u"worker/local/maildir.h"_s << false;
    QTest::newRow("widgets in worker") << u"worker/mail/a.cpp"_s << u"QtWidgets/QLabel"_s << false;
    QTest::newRow("sql in ui") << u"ui/a.cpp"_s << u"QtSql/QSqlQuery"_s << false;
    QTest::newRow("ui past the face") << u"ui/a.cpp"_s << u"worker/operate/operator.h"_s << false;
    QTest::newRow("ui past the face of scenarios") << u"ui/a.cpp"_s << u"worker/scenario/world.h"_s << false;
    QTest::newRow("worker up to scenario") << u"worker/worker.cpp"_s << u"worker/scenario/world.h"_s << false;
    QTest::newRow("consume up to scenario") << u"worker/consume/a.cpp"_s << u"worker/scenario/world.h"_s << false;
    QTest::newRow("ctl into console") << u"app/ctl/a.cpp"_s << u"app/console/main.h"_s << false;
    QTest::newRow("consume over queue") << u"worker/consume/a.cpp"_s << u"worker/queue/sqsclient.h"_s << true;
    QTest::newRow("ui at the face") << u"ui/a.cpp"_s << u"worker/worker.h"_s << true;
    QTest::newRow("app over all") << u"app/ctl/a.cpp"_s << u"worker/local/localservices.h"_s << true;
    QTest::newRow("scenario over the worker") << u"worker/scenario/a.cpp"_s << u"worker/worker.h"_s << true;
    QTest::newRow("scenario over local") << u"worker/scenario/a.cpp"_s << u"worker/local/localservices.h"_s << true;
    QTest::newRow("ui at the face of scenarios") << u"ui/a.cpp"_s << u"worker/scenario/scenarios.h"_s << true;
    QTest::newRow("ground") << u"worker/mail/a.cpp"_s << u"worker/result.h"_s << true;
}

void IncludeRules::forbiddenIncludesAreSeen()
{
    QFETCH(QString, file);
    QFETCH(QString, include);
    QFETCH(bool, allowed);
    QCOMPARE(complaint(file, include).isEmpty(), allowed);
}

QTEST_GUILESS_MAIN(IncludeRules)
#include "tst_includes.moc"
