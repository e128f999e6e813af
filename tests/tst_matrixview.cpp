#include "ui/celldelegate.h"
#include "ui/mainwindow.h"
#include "ui/matrixmodel.h"
#include "ui/matrixpanel.h"
#include "ui/matrixview.h"
#include "ui/plainlabel.h"
#include "ui/theme.h"
#include "ui/windowactions.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHeaderView>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;

namespace {

using Mark = MatrixCell::Mark;

MatrixShape shape(int hazards = 3)
{
    MatrixShape shape;
    shape.designs = {{u"none"_s, u"No idempotency"_s, false, false},
                     {u"one-transaction"_s, u"One transaction"_s, true, false},
                     {u"one-transaction"_s, u"One transaction"_s, true, true}};
    for (int i = 0; i < hazards; ++i)
        shape.hazards.append(
            {u"hazard-%1"_s.arg(i), u"Second message, same event_id %1"_s.arg(i), u"What hazard %1 is"_s.arg(i)});
    return shape;
}

MatrixCell cell(const QString &design, int hazard, int mails, Mark mark, const QString &text)
{
    MatrixCell cell;
    cell.design = design;
    cell.hazard = u"hazard-%1"_s.arg(hazard);
    cell.mails = cell.expected = mails;
    cell.mark = mark;
    cell.text = text;
    cell.seconds = 1.4;
    cell.runs = 1;
    cell.folder = u"/data/scenarios/"_s + design;
    return cell;
}

struct Board
{
    MatrixPanel panel;

    Board()
    {
        panel.resize(1000, 620);
        panel.show();
        panel.setReady();
        panel.showShape(shape());
    }
    QPushButton *button(const char *name) const { return panel.findChild<QPushButton *>(QLatin1StringView(name)); }
    QString label(const char *name) const { return panel.findChild<PlainLabel *>(QLatin1StringView(name))->text(); }
    QString copied(int row, int column) const { return panel.model()->index(row, column).data(CopyRole).toString(); }
};

void click(QAbstractButton *button)
{
    QVERIFY(button && button->isVisible() && button->isEnabled());
    QTest::mouseClick(button, Qt::LeftButton);
}

} // namespace

class TestMatrixView : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u"^(?!This plugin does not support)"_s)); }
    void cleanup() { applyTheme(*qApp, ThemeChoice::Light); }

    void aCellIsToldByFigureWordGlyphAndTone_data()
    {
        QTest::addColumn<MatrixCell>("cell");
        QTest::addColumn<QString>("figure");
        QTest::addColumn<QString>("word");
        QTest::addColumn<QString>("glyph");
        QTest::addColumn<int>("tone");
        QTest::newRow("not measured") << MatrixCell() << u"–"_s << QString() << QString() << int(Tone::Muted);
        QTest::newRow("calm") << cell(u"d"_s, 0, 1, Mark::Calm, u"1 e-mail"_s) << u"1"_s << u"once"_s << u"check"_s
                              << int(Tone::Sent);
        MatrixCell careful = cell(u"d"_s, 0, 1, Mark::Calm, u"1 e-mail, announced as possibly two"_s);
        careful.announced = 1;
        QTest::newRow("calm and announced") << careful << u"1"_s << u"once, told"_s << u"check"_s << int(Tone::Sent);
        QTest::newRow("warning") << cell(u"d"_s, 0, 2, Mark::Warning, u"2 e-mails"_s) << u"2"_s << u"twice"_s
                                 << u"warning"_s << int(Tone::InDoubt);
        QTest::newRow("three") << cell(u"d"_s, 0, 3, Mark::Warning, u"3 e-mails"_s) << u"3"_s << u"3 times"_s
                               << u"warning"_s << int(Tone::InDoubt);
        MatrixCell announced = cell(u"d"_s, 0, 2, Mark::Warning, u"2 e-mails, announced"_s);
        announced.announced = 1;
        QTest::newRow("announced") << announced << u"2"_s << u"twice, told"_s << u"warning"_s << int(Tone::InDoubt);
        QTest::newRow("alarm") << cell(u"d"_s, 0, 0, Mark::Alarm, u"none: lost"_s) << u"0"_s << u"lost"_s << u"cross"_s
                               << int(Tone::Failed);
        MatrixCell held = cell(u"d"_s, 0, 0, Mark::Calm, u"held"_s);
        held.held = true;
        QTest::newRow("held") << held << u"0"_s << u"held"_s << u"question"_s << int(Tone::InDoubt);
        MatrixCell off = cell(u"d"_s, 0, 2, Mark::Warning, u"2 e-mails"_s);
        off.expected = 1;
        QTest::newRow("not as expected") << off << u"2"_s << u"expected 1"_s << u"warning"_s << int(Tone::InDoubt);
        MatrixCell rate = cell(u"d"_s, 0, 2, Mark::Warning, u"2 in 37 of 100"_s);
        rate.runs = 100;
        rate.other = 37;
        rate.expected = -1;
        QTest::newRow("a rate") << rate << u"2"_s << u"37 of 100"_s << u"warning"_s << int(Tone::InDoubt);
        MatrixCell unknown;
        unknown.text = u"no free port"_s;
        QTest::newRow("not known") << unknown << u"–"_s << u"not known"_s << u"dash"_s << int(Tone::Muted);
    }
    void aCellIsToldByFigureWordGlyphAndTone()
    {
        QFETCH(MatrixCell, cell);
        QFETCH(QString, figure);
        QFETCH(QString, word);
        QFETCH(QString, glyph);
        QFETCH(int, tone);
        const MatrixLook look = lookOf(cell);
        QCOMPARE(look.figure, figure);
        QCOMPARE(look.word, word);
        QCOMPARE(look.glyph, glyph);
        QCOMPARE(int(look.tone), tone);
    }

    void cellsFindTheirDesignWithAndWithoutASuppressingReceiver()
    {
        Board board;
        QAbstractItemModelTester tester(board.panel.model());
        board.panel.takeCell(cell(u"none"_s, 0, 2, Mark::Warning, u"2 e-mails"_s));
        board.panel.takeCell(cell(u"one-transaction"_s, 0, 1, Mark::Calm, u"1 e-mail"_s));
        board.panel.takeCell(cell(u"one-transaction+suppressing"_s, 2, 0, Mark::Alarm, u"none"_s));
        QTRY_COMPARE(board.copied(0, 0), u"2 twice"_s);
        QCOMPARE(board.copied(1, 0), u"1 once"_s);
        QCOMPARE(board.copied(2, 0), u"–"_s);
        QCOMPARE(board.copied(2, 2), u"0 lost"_s);
        QVERIFY(board.panel.model()
                    ->index(2, 2)
                    .data(Qt::AccessibleTextRole)
                    .toString()
                    .startsWith(u"One transaction, for production, the receiving side drops copies, Second"_s));
    }

    void itIsMeasuredWithProgressAndCanBeStopped()
    {
        Board board;
        QSignalSpy run(&board.panel, &MatrixPanel::runRequested);
        QSignalSpy stopped(&board.panel, &MatrixPanel::stopRequested);
        QVERIFY(!board.button("stopMatrix")->isEnabled());
        QVERIFY(!board.button("exportMatrix")->isEnabled());
        board.panel.findChild<QSpinBox *>(u"matrixRepeat"_s)->setValue(10);
        click(board.button("measureMatrix"));
        QCOMPARE(run.size(), 1);
        QCOMPARE(run.first().first().toInt(), 10);
        QVERIFY(!board.button("measureMatrix")->isEnabled());
        board.panel.takeCell(cell(u"none"_s, 0, 2, Mark::Warning, u"2 e-mails"_s));
        board.panel.takeCell(cell(u"none"_s, 1, 0, Mark::Alarm, u"none"_s));
        board.panel.takeCell(cell(u"one-transaction"_s, 0, 1, Mark::Calm, u"1 e-mail"_s));
        board.panel.showProgress({3, 9, false, false, 2.5});
        QTRY_COMPARE(board.label("matrixWords"), u"3 of 9 · 2.5 s · calm 1 · twice 1 · lost 1"_s);
        click(board.button("stopMatrix"));
        QCOMPARE(stopped.size(), 1);
        QVERIFY(board.label("matrixWords").startsWith(u"stopping…"_s));
        board.panel.showProgress({4, 9, true, true, 3});
        QCOMPARE(board.label("matrixWords"), u"stopped after 4 of 9 · 3.0 s · calm 1 · twice 1 · lost 1"_s);
        QVERIFY(board.button("measureMatrix")->isEnabled());
        QVERIFY(!board.button("stopMatrix")->isEnabled());
        // Measured again, nothing old stands there.
        click(board.button("measureMatrix"));
        QCOMPARE(board.copied(0, 0), u"–"_s);
        MatrixCell off = cell(u"one-transaction"_s, 0, 2, Mark::Warning, u"2 e-mails"_s);
        off.expected = 1;
        board.panel.takeCell(off);
        board.panel.showProgress({1, 1, true, false, 61});
        QCOMPARE(board.label("matrixWords"), u"measured 1 · 1 min 1 s · twice 1 · not as expected 1"_s);
    }

    void aClickOnACellTellsWhatWasDoneAndWhereItsEvidenceLies()
    {
        Board board;
        QVERIFY(board.label("cellTitle").startsWith(u"Choose a cell"_s));
        MatrixCell off = cell(u"one-transaction"_s, 1, 2, Mark::Warning, u"2 e-mails, announced"_s);
        off.expected = 1;
        board.panel.takeCell(off);
        MatrixView *view = board.panel.view();
        QTest::mouseClick(view->viewport(), Qt::LeftButton, {},
                          view->visualRect(board.panel.model()->index(1, 1)).center());
        QTRY_COMPARE(board.label("cellVerdict"), u"2 e-mails, announced"_s);
        QCOMPARE(board.label("cellTitle"), u"One transaction, for production · Second message, same event_id 1"_s);
        QCOMPARE(board.label("cellFacts"), u"expected 1: not as designed · 1.4 s"_s);
        QCOMPARE(board.label("cellFolder"), u"Evidence: /data/scenarios/one-transaction"_s);
        click(board.button("copyMatrixEvidence"));
        QCOMPARE(QGuiApplication::clipboard()->text(), u"/data/scenarios/one-transaction"_s);
        MatrixCell chance = cell(u"one-transaction"_s, 1, 2, Mark::Warning, u"2 in 37 of 100"_s);
        chance.runs = 100;
        chance.other = 37;
        chance.expected = -1;
        board.panel.takeCell(chance);
        QTRY_COMPARE(board.label("cellVerdict"), u"2 in 37 of 100"_s);
        QCOMPARE(board.label("cellFacts"), u"37 of 100 runs had not one e-mail · 1.4 s"_s);
        QCOMPARE(board.panel.model()->countOff(), 0);
        QTest::keyClick(view, Qt::Key_Right);
        QCOMPARE(board.label("cellVerdict"), u"not measured yet"_s);
        QVERIFY(!board.button("copyMatrixEvidence")->isEnabled());
    }

    void titlesAreReadableAndTheDesignsStandStill_data()
    {
        QTest::addColumn<int>("percent");
        QTest::newRow("100 %") << 100;
        QTest::newRow("200 %") << 200;
    }
    void titlesAreReadableAndTheDesignsStandStill()
    {
        QFETCH(int, percent);
        applyTheme(*qApp, ThemeChoice::Light, percent);
        Board board;
        board.panel.resize(1010, 620);
        board.panel.showShape(shape(14));
        MatrixView *view = board.panel.view();
        const QHeaderView *titles = view->horizontalHeader();
        const QFontMetrics metrics(headingFont());
        for (int column = 0; column < 14; ++column) {
            const QString title = view->model()->headerData(column, Qt::Horizontal).toString();
            for (const QString &word : title.split(u' '))
                QVERIFY2(metrics.horizontalAdvance(word) <= titles->sectionSize(column) - 8, qPrintable(word));
            const QRect wanted = metrics.boundingRect(QRect(0, 0, titles->sectionSize(column) - 8, 1000),
                                                      int(Qt::AlignHCenter) | int(Qt::TextWordWrap), title);
            QVERIFY2(titles->height() >= wanted.height(), qPrintable(title));
        }
        // What does not fit is scrolled to; the designs stay in view.
        const QHeaderView *designs = view->verticalHeader();
        QTRY_VERIFY(view->horizontalScrollBar()->maximum() > 0);
        const int left = designs->x();
        view->horizontalScrollBar()->setValue(view->horizontalScrollBar()->maximum());
        QCOMPARE(designs->x(), left);
        QVERIFY(designs->isVisible() && designs->width() > 100);
        QVERIFY(QFontMetrics(smallFont()).horizontalAdvance(u"twice, told"_s) <= titles->sectionSize(0) - 4);
    }

    void wideRoomIsShared()
    {
        Board board;
        board.panel.resize(1600, 800);
        board.panel.showShape(shape(14));
        QTRY_COMPARE(board.panel.view()->horizontalScrollBar()->maximum(), 0);
        QVERIFY(board.panel.view()->columnWidth(0) > 85);
    }

    void itIsCopiedWithItsTitles()
    {
        Board board;
        board.panel.takeCell(cell(u"none"_s, 0, 2, Mark::Warning, u"2 e-mails"_s));
        QTRY_COMPARE(board.copied(0, 0), u"2 twice"_s);
        QTest::keySequence(board.panel.view(), QKeySequence::Copy);
        const QStringList lines = QGuiApplication::clipboard()->text().split(u'\n');
        QCOMPARE(lines.size(), 4);
        QVERIFY(lines.first().startsWith(u"\tSecond message"_s));
        QCOMPARE(lines.at(1), u"No idempotency\t2 twice\t–\t–"_s);
    }

    void itIsExportedAndTheOutcomeSaid()
    {
        Board board;
        QSignalSpy wanted(&board.panel, &MatrixPanel::exportRequested);
        board.panel.showProgress({9, 9, true, false, 3});
        click(board.button("exportMatrix"));
        auto *dialog = board.panel.findChild<QFileDialog *>(u"matrixFile"_s);
        QVERIFY(dialog);
        Q_EMIT dialog->fileSelected(u"/tmp/m.html"_s);
        QCOMPARE(wanted.first().first().toString(), u"/tmp/m.html"_s);
        board.panel.showExported(u"/tmp/m.html"_s);
        QCOMPARE(board.label("matrixWords"), u"Matrix written: /tmp/m.html"_s);
        dialog->close();
        Q_EMIT dialog->fileSelected(u"/tmp/n.html"_s);
        board.panel.showActFailed(u"export"_s, u"the disk is full"_s);
        QCOMPARE(board.label("matrixWords"), u"the disk is full"_s);
    }

    void elsewhereItIsNotMeasuredAndItIsSaidWhy()
    {
        WindowSetup somebodys;
        somebodys.embedded = false;
        MainWindow window(somebodys);
        window.show();
        MatrixPanel *panel = window.matrixPanel();
        panel->setReady();
        panel->showShape(shape());
        window.bringForward(panel);
        QVERIFY(!panel->findChild<QPushButton *>(u"measureMatrix"_s)->isEnabled());
        QVERIFY(!panel->findChild<PlainLabel *>(u"matrixWords"_s)->text().isEmpty());
        window.showProfile({});
        QVERIFY(panel->findChild<QPushButton *>(u"measureMatrix"_s)->isEnabled());
        for (const QAction *act : panel->acts())
            QVERIFY2(window.actions().test->actions().contains(const_cast<QAction *>(act)), qPrintable(act->text()));
    }
};

QTEST_MAIN(TestMatrixView)
#include "tst_matrixview.moc"
