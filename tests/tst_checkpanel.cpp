#include "ui/celldelegate.h"
#include "ui/checkmodel.h"
#include "ui/checkpanel.h"
#include "ui/emptystate.h"
#include "ui/mainwindow.h"
#include "ui/paneldock.h"
#include "ui/plainlabel.h"
#include "ui/rowtable.h"
#include "ui/theme.h"
#include "ui/windowactions.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;

/// The console's check of the services: the panel by itself, and how the window opens it.
class TestCheckPanel : public QObject
{
    Q_OBJECT

    static CheckLine line(CheckLine::Level level, const QString &text, const QString &remedy = {})
    {
        CheckLine line;
        line.id = u"id"_s;
        line.level = level;
        line.text = text;
        line.remedy = remedy;
        return line;
    }

    static bool shows(const QWidget &panel, const QString &text)
    {
        for (const PlainLabel *label : panel.findChildren<PlainLabel *>()) {
            if (label->isVisibleTo(&panel) && label->text() == text)
                return true;
        }
        return false;
    }

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u"^(?!This plugin does not support)"_s)); }

    void linesComeWhileItChecks()
    {
        CheckPanel panel;
        QAbstractItemModelTester tester(panel.model());
        QSignalSpy asked(&panel, &CheckPanel::checkRequested);
        auto *again = panel.findChild<QPushButton *>(u"checkAgain"_s);
        QVERIFY(panel.table()->emptyState()->title().contains(u"not been checked"_s));
        again->click();
        panel.check(); // while one runs
        QCOMPARE(asked.size(), 1);
        QVERIFY(!again->isEnabled());
        QVERIFY(panel.table()->emptyState()->title().startsWith(u"Checking"_s));
        panel.addLine(line(CheckLine::Level::Ok, u"queue answers"_s));
        panel.addLine(line(CheckLine::Level::Warning, u"small"_s, u"make it larger"_s));
        panel.addLine(line(CheckLine::Level::Error, u"no policy"_s, u"give it one"_s));
        QVERIFY(shows(panel, u"Checking… in order 1 · warnings 1 · errors 1"_s));
        panel.finish();
        QVERIFY(again->isEnabled());
        QVERIFY(shows(panel, u"in order 1 · warnings 1 · errors 1"_s));
        again->click();
        QCOMPARE(asked.size(), 2);
        QCOMPARE(panel.model()->rowCount(), 0);
    }

    void stateIsToldByWordGlyphAndTone()
    {
        CheckModel model;
        model.append(line(CheckLine::Level::Ok, u"a"_s));
        model.append(line(CheckLine::Level::Warning, u"b"_s, u"do b"_s));
        model.append(line(CheckLine::Level::Error, u"c"_s, u"do c"_s));
        const QList<std::tuple<QString, QString, Tone>> expected = {{u"ok"_s, u"check"_s, Tone::Sent},
                                                                    {u"warning"_s, u"warning"_s, Tone::InDoubt},
                                                                    {u"error"_s, u"cross"_s, Tone::Failed}};
        for (int row = 0; row < 3; ++row) {
            const QModelIndex index = model.index(row, CheckModel::Level);
            QCOMPARE(index.data().toString(), std::get<0>(expected.at(row)));
            QCOMPARE(index.data(GlyphRole).toString(), std::get<1>(expected.at(row)));
            QCOMPARE(index.data(ToneRole).toInt(), int(std::get<2>(expected.at(row))));
        }
        QCOMPARE(model.index(2, CheckModel::Remedy).data().toString(), u"do c"_s);
    }

    void theFirstErrorIsChosenAndToldWhole()
    {
        CheckPanel panel;
        panel.check();
        panel.addLine(line(CheckLine::Level::Warning, u"small"_s, u"make it larger"_s));
        panel.addLine(line(CheckLine::Level::Error, u"no policy"_s, u"give it one"_s));
        panel.finish();
        QCOMPARE(panel.table()->currentIndex().row(), 1);
        QVERIFY(shows(panel, u"no policy"_s));
        QVERIFY(shows(panel, u"give it one"_s));
        panel.check();
        QVERIFY(!shows(panel, u"no policy"_s));
        panel.addLine(line(CheckLine::Level::Ok, u"good"_s));
        panel.finish();
        QVERIFY(!panel.table()->currentIndex().isValid());
        panel.table()->selectRow(0);
        QVERIFY(shows(panel, u"Nothing has to be done."_s));
    }

    void textOfStrangersDoesNotAct()
    {
        CheckPanel panel;
        panel.check();
        panel.addLine(line(CheckLine::Level::Error, u"<b>x</b>\n\u202Ey"_s, u"z"_s));
        panel.finish();
        const QString shown = panel.model()->index(0, CheckModel::Text).data().toString();
        QVERIFY(!shown.contains(u'\n') && !shown.contains(QChar(0x202e)));
        QVERIFY(shown.startsWith(u"<b>x</b>"_s));
    }

    void theWindowShowsItWhenAskedAndNotBefore()
    {
        MainWindow window;
        window.show();
        QSignalSpy asked(&window, &MainWindow::checkRequested);
        PanelDock *dock = window.dockOf(window.checkPanel());
        QVERIFY(!dock->isVisible());
        QVERIFY(window.actions().check->isEnabled()); // also when nothing could be opened
        window.actions().check->trigger();
        QVERIFY(dock->isVisible());
        QCOMPARE(asked.size(), 1);
        QVERIFY(!window.actions().check->isEnabled());
        window.showCheckLine(line(CheckLine::Level::Ok, u"good"_s));
        window.showCheckFinished();
        QVERIFY(window.actions().check->isEnabled());
        QCOMPARE(window.checkPanel()->model()->rowCount(), 1);
        window.resetLayout();
        QVERIFY(!dock->isVisible());
    }

    void withoutAWorkerItSaysWhyInsteadOfWaiting()
    {
        MainWindow window;
        window.show();
        window.actions().check->trigger();
        QCOMPARE(window.checkPanel()->model()->rowCount(), 1);
        QCOMPARE(window.checkPanel()->model()->line(0).level, CheckLine::Level::Warning);
        QVERIFY(window.actions().check->isEnabled());
        window.showOpenFailed(u"port 1025 is taken"_s);
        window.actions().check->trigger();
        QCOMPARE(window.checkPanel()->model()->rowCount(), 1);
        QCOMPARE(window.checkPanel()->model()->line(0).level, CheckLine::Level::Error);
        QCOMPARE(window.checkPanel()->model()->line(0).text, u"port 1025 is taken"_s);
        QVERIFY(!window.checkPanel()->isChecking());
    }
};

QTEST_MAIN(TestCheckPanel)
#include "tst_checkpanel.moc"
