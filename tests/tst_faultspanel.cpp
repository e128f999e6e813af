#include "ui/emptystate.h"
#include "ui/faultform.h"
#include "ui/faultpresets.h"
#include "ui/faultsmodel.h"
#include "ui/faultspanel.h"
#include "ui/faultwords.h"
#include "ui/mainwindow.h"
#include "ui/notice.h"
#include "ui/paneldock.h"
#include "ui/plainlabel.h"
#include "ui/rowtable.h"
#include "ui/sendpanel.h"
#include "ui/windowactions.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabBar>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;
using namespace std::chrono_literals;

namespace {

const QDateTime Noon = QDateTime::fromString(u"2026-03-01T12:00:00Z"_s, Qt::ISODate);

FaultRule rule(int id, FaultPoint where = FaultPoint::MailEnd, FaultEffect what = FaultEffect::Reply)
{
    FaultRule rule;
    rule.id = id;
    rule.where = where;
    rule.what = what;
    return rule;
}

FaultRule ending(FaultRule rule, std::chrono::milliseconds lasts)
{
    rule.lasts = rule.left = lasts;
    rule.times = 0;
    return rule;
}

/// The board: what is armed, how it is armed, and the notice over the window.
struct Board
{
    FaultsPanel panel;

    Board()
    {
        panel.resize(1000, 620);
        panel.show();
        panel.setReady();
    }
    template <typename Widget>
    Widget *field(const char *name) const
    {
        return panel.findChild<Widget *>(QLatin1StringView(name));
    }
    QPushButton *button(const char *name) const { return field<QPushButton>(name); }
    void ownFault() const { panel.findChild<QTabBar *>()->setCurrentIndex(1); }
    void choose(const char *box, int value) const
    {
        auto *combo = field<QComboBox>(box);
        const int index = combo->findData(value);
        QVERIFY2(index >= 0, box);
        // As with the keyboard: the list is opened nowhere.
        combo->setCurrentIndex(index);
    }
    QString problem() const { return field<PlainLabel>("faultProblem")->text(); }
    QString outcome() const { return field<PlainLabel>("faultOutcome")->text(); }
};

void click(QPushButton *button)
{
    QVERIFY(button && button->isVisible());
    QTest::mouseClick(button, Qt::LeftButton);
}

} // namespace

class TestFaultsPanel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u"^(?!This plugin does not support)"_s)); }

    void theTableSaysWhereWhatHowOftenForWhomAndUntilWhen()
    {
        FaultsModel model;
        QAbstractItemModelTester tester(&model);
        FaultRule first = rule(1);
        first.text = u"4.3.0 down"_s;
        first.times = 3;
        first.struck = 1;
        first.event = u"demo-*"_s;
        FaultRule second = ending(rule(2, FaultPoint::QueueRequest, FaultEffect::Close), 90s);
        FaultRule third = rule(3, FaultPoint::WorkerAccepted, FaultEffect::Crash);
        third.oneIn = 5;
        third.seed = 7;
        third.times = 0;
        model.setRules({first, second, third}, Noon);
        const auto text = [&model](int row, int column) { return model.index(row, column).data().toString(); };
        QCOMPARE(text(0, FaultsModel::Where), u"Mail server · after the final dot"_s);
        QCOMPARE(text(0, FaultsModel::What), u"refuse with 451 4.3.0 down"_s);
        QCOMPARE(text(0, FaultsModel::Often), u"next 2 of 3"_s);
        QCOMPARE(text(0, FaultsModel::ForWhom), u"event demo-*"_s);
        QCOMPARE(text(0, FaultsModel::Until), u"disarmed"_s);
        QCOMPARE(text(0, FaultsModel::Struck), u"1"_s);
        QCOMPARE(text(1, FaultsModel::Where), u"Queue · at any request"_s);
        QCOMPARE(text(1, FaultsModel::Often), u"every time"_s);
        QCOMPARE(text(1, FaultsModel::ForWhom), u"everyone"_s);
        QCOMPARE(text(1, FaultsModel::Until), u"1 min 30 s"_s);
        QCOMPARE(text(2, FaultsModel::Where), u"Worker · between mail and COMMIT"_s);
        QCOMPARE(text(2, FaultsModel::Often), u"1 in 5, seed 7"_s);

        // It counts down by itself, and what it struck changes its row only.
        QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
        model.setNow(Noon.addMSecs(31'200));
        QCOMPARE(text(1, FaultsModel::Until), u"59 s"_s);
        first.struck = 2;
        second.left = 58s;
        model.setRules({first, second, third}, Noon.addSecs(32));
        QCOMPARE(text(0, FaultsModel::Often), u"next 1 of 3"_s);
        QCOMPARE(text(1, FaultsModel::Until), u"58 s"_s);
        QCOMPARE(reset.size(), 0);
        model.setNow(Noon.addSecs(600));
        QCOMPARE(text(1, FaultsModel::Until), u"0 s"_s);
        model.setRules({third}, Noon);
        QCOMPARE(reset.size(), 1);
        QCOMPARE(model.rowCount(), 1);
    }

    void everyPointAndEffectHasWords()
    {
        QSet<QString> titles;
        for (int i = 0; i < FaultPointCount; ++i) {
            const auto point = FaultPoint(i);
            FaultRule each = rule(0, point);
            QVERIFY2(!faultPointText(point).isEmpty(), qPrintable(faultPointName(point)));
            titles.insert(faultWhereText(each));
        }
        QCOMPARE(titles.size(), FaultPointCount);
        titles.clear();
        for (int i = 0; i < FaultEffectCount; ++i) {
            QVERIFY2(!faultEffectText(FaultEffect(i)).isEmpty(), qPrintable(faultEffectName(FaultEffect(i))));
            titles.insert(faultEffectTitle(FaultEffect(i)));
        }
        QCOMPARE(titles.size(), FaultEffectCount);
    }

    void everyPresetIsAccepted()
    {
        for (const FaultPreset &preset : faultPresets()) {
            const auto checked = faultRule(toJson(preset.rule));
            QVERIFY2(checked, checked ? "" : qPrintable(preset.title + u": "_s + checked.error().text));
        }
    }

    /// Whatever is chosen can be armed at once: the form knows which fields an effect needs.
    void theFormOffersWhatAPointAcceptsAndNothingElse()
    {
        Board board;
        board.ownFault();
        auto *where = board.field<QComboBox>("faultWhere");
        auto *what = board.field<QComboBox>("faultWhat");
        int armed = 0;
        for (int i = 0; i < FaultPointCount; ++i) {
            board.choose("faultWhere", i);
            QCOMPARE(what->count(), int(faultEffectsAt(FaultPoint(i)).size()));
            for (const FaultEffect effect : faultEffectsAt(FaultPoint(i))) {
                board.choose("faultWhat", int(effect));
                QVERIFY2(board.problem().isEmpty(), qPrintable(where->currentText() + board.problem()));
                QVERIFY(board.button("armFault")->isEnabled());
                QCOMPARE(board.field<QSpinBox>("faultCode")->isVisible(), effect == FaultEffect::Reply);
                QCOMPARE(board.field<QSpinBox>("faultCount")->isVisible(), effect == FaultEffect::RateLimit);
                ++armed;
            }
        }
        QVERIFY(armed > 80);
        QVERIFY(!where->model()->index(0, 0).flags().testFlag(Qt::ItemIsSelectable)); // a heading
    }

    void theFormArmsWhatStandsThere()
    {
        Board board;
        QSignalSpy armed(&board.panel, &FaultsPanel::armRequested);
        board.ownFault();
        board.choose("faultWhere", int(FaultPoint::MailRcpt));
        board.field<QSpinBox>("faultCode")->setValue(550);
        QTest::keyClicks(board.field<QLineEdit>("faultText"), u"5.1.1 no such user"_s);
        board.field<QSpinBox>("faultTimes")->setValue(2);
        QTest::keyClicks(board.field<QLineEdit>("faultEvent"), u"demo-*"_s);
        QTest::keyClicks(board.field<QLineEdit>("faultRecipient"), u"*@example.com"_s);
        QTest::keyClicks(board.field<QLineEdit>("faultType"), u"application.*"_s);
        board.field<QDoubleSpinBox>("faultLasts")->setValue(12.5);
        click(board.button("armFault"));
        FaultRule expected = rule(0, FaultPoint::MailRcpt);
        expected.code = 550;
        expected.text = u"5.1.1 no such user"_s;
        expected.times = 2;
        expected.event = u"demo-*"_s;
        expected.recipient = u"*@example.com"_s;
        expected.type = u"application.*"_s;
        expected.lasts = 12'500ms;
        QCOMPARE(armed.size(), 1);
        QCOMPARE(armed.last().first().value<FaultRule>(), expected);

        // One in n, with a seed, every time.
        board.field<QComboBox>("faultOften")->setCurrentIndex(2);
        QVERIFY(!board.field<QSpinBox>("faultTimes")->isVisible());
        board.field<QSpinBox>("faultOneIn")->setValue(4);
        board.field<QSpinBox>("faultSeed")->setValue(42);
        QTest::keyClick(board.field<QLineEdit>("faultType"), Qt::Key_Return);
        QCOMPARE(armed.size(), 2);
        expected.times = 0;
        expected.oneIn = 4;
        expected.seed = 42;
        QCOMPARE(armed.last().first().value<FaultRule>(), expected);

        board.choose("faultWhere", int(FaultPoint::MailMail));
        board.choose("faultWhat", int(FaultEffect::RateLimit));
        board.field<QSpinBox>("faultCount")->setValue(7);
        board.field<QDoubleSpinBox>("faultWindow")->setValue(2);
        click(board.button("armFault"));
        const auto limit = armed.last().first().value<FaultRule>();
        QCOMPARE(limit.count, 7);
        QCOMPARE(limit.window, 2000ms);
    }

    /// In the words with which the board would refuse it.
    void whatCannotBeArmedIsSaidWhileItIsTyped()
    {
        Board board;
        QSignalSpy armed(&board.panel, &FaultsPanel::armRequested);
        board.ownFault();
        auto *text = board.field<QLineEdit>("faultText");
        text->setText(u"Überlauf"_s);
        QCOMPARE(
            board.problem(),
            faultRule({{u"where"_s, u"mail.end"_s}, {u"what"_s, u"reply"_s}, {u"text"_s, text->text()}}).error().text);
        QVERIFY(!board.button("armFault")->isEnabled());
        QTest::keyClick(text, Qt::Key_Return);
        QCOMPARE(armed.size(), 0);
        text->clear();
        QVERIFY(board.problem().isEmpty());
        // Between two mails a server says nothing but 421: chosen by itself, and said when it is changed.
        board.choose("faultWhere", int(FaultPoint::MailNext));
        QCOMPARE(board.field<QSpinBox>("faultCode")->value(), 421);
        board.field<QSpinBox>("faultCode")->setValue(450);
        QVERIFY2(board.problem().contains(u"421"_s), qPrintable(board.problem()));
        board.choose("faultWhere", int(FaultPoint::MailData));
        QVERIFY(board.problem().isEmpty());
        board.choose("faultWhat", int(FaultEffect::Delay));
        board.field<QDoubleSpinBox>("faultDelay")->setValue(0);
        QVERIFY2(board.problem().contains(u"needs delayMs"_s), qPrintable(board.problem()));
    }

    void aPresetIsArmedByOneClickAndTheAnswerIsSaidThere()
    {
        Board board;
        QSignalSpy armed(&board.panel, &FaultsPanel::armRequested);
        click(board.button("preset.crashBeforeCommit"));
        QCOMPARE(armed.size(), 1);
        const auto wanted = armed.first().first().value<FaultRule>();
        QCOMPARE(wanted.where, FaultPoint::WorkerAccepted);
        QCOMPARE(wanted.what, FaultEffect::Crash);
        QCOMPARE(board.outcome(), u"Arming…"_s);
        board.panel.showArmed({rule(1, FaultPoint::WorkerAccepted, FaultEffect::Crash)}, Noon);
        QCOMPARE(board.outcome(), u"Armed: Worker · between mail and COMMIT: crash, next one"_s);
        click(board.button("preset.mailRefused"));
        board.panel.showActFailed(u"100 faults are armed, which is all"_s);
        QCOMPARE(board.outcome(), u"100 faults are armed, which is all"_s);
        QVERIFY(!board.panel.isActing());
    }

    void chosenOnesAndAllAreDisarmed()
    {
        Board board;
        QSignalSpy one(&board.panel, &FaultsPanel::disarmRequested);
        QSignalSpy all(&board.panel, &FaultsPanel::disarmAllRequested);
        QVERIFY(!board.button("disarmAll")->isEnabled());
        board.panel.showArmed({rule(4), rule(7), rule(9)}, Noon);
        QVERIFY(!board.button("disarmChosen")->isEnabled());
        board.panel.table()->selectRow(1);
        click(board.button("disarmChosen"));
        QCOMPARE(one.size(), 1);
        QCOMPARE(one.first().first().toInt(), 7);
        board.panel.showArmed({rule(4), rule(9)}, Noon);
        board.panel.table()->selectRow(0);
        board.panel.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&board.panel));
        board.panel.table()->setFocus();
        QTest::keyClick(board.panel.table(), Qt::Key_Delete);
        QCOMPARE(one.last().first().toInt(), 4);
        click(board.button("disarmAll"));
        QCOMPARE(all.size(), 1);
        board.panel.showArmed({}, Noon);
        QCOMPARE(board.panel.model()->rowCount(), 0);
        QVERIFY(!board.button("disarmAll")->isEnabled());
    }

    void whereNothingMayFailTheBoardIsOffAndSaysWhy()
    {
        WindowSetup somebodys;
        somebodys.profile = u"Staging"_s;
        somebodys.embedded = false;
        WindowSetup readOnly;
        readOnly.readOnly = true;
        MainWindow window(somebodys);
        window.show();
        window.showOpened();
        FaultsPanel *panel = window.faultsPanel();
        window.bringForward(panel);
        const QString words = panel->table()->emptyState()->text();
        QVERIFY2(words.contains(u"Staging"_s), qPrintable(words));
        for (const QPushButton *button : panel->findChildren<QPushButton *>())
            QVERIFY2(!button->isEnabled() || !button->isVisible(), qPrintable(button->text()));
        window.showProfile(readOnly);
        QVERIFY(panel->table()->emptyState()->text().contains(u"read-only"_s));
        QVERIFY(!panel->findChild<QPushButton *>(u"preset.mailRefused"_s)->isEnabled());
        window.showProfile({});
        QVERIFY(panel->findChild<QPushButton *>(u"preset.mailRefused"_s)->isEnabled());
    }

    void aRefusalIsShownWhereTheClickWas()
    {
        MainWindow window;
        window.show();
        window.showOpened();
        const auto *notice = window.findChild<Notice *>();
        window.bringForward(window.faultsPanel());
        click(window.faultsPanel()->findChild<QPushButton *>(u"preset.duplicate"_s));
        window.showActFailed(u"faults"_s, u"the services do not answer"_s);
        QCOMPARE(window.faultsPanel()->findChild<PlainLabel *>(u"faultOutcome"_s)->text(),
                 u"the services do not answer"_s);
        QVERIFY(!notice->isVisible());

        window.sendPanel()->askToFailMails();
        click(window.sendPanel()->findChild<QPushButton *>(u"armFailure"_s));
        window.showActFailed(u"faults"_s, u"no"_s);
        QVERIFY(!notice->isVisible());
        const auto labels = window.sendPanel()->findChildren<PlainLabel *>();
        QVERIFY(std::any_of(labels.cbegin(), labels.cend(), [](const PlainLabel *l) { return l->text() == "no"_L1; }));

        window.showArmed({rule(1)});
        click(window.findChild<QPushButton *>(u"armed"_s));
        window.showActFailed(u"faults"_s, u"gone"_s);
        QVERIFY(notice->isVisible());
        QCOMPARE(notice->text(), u"gone"_s);
    }

    void theNoticeOverTheWindowSaysOneFaultInWordsAndCountsDown_data()
    {
        QTest::addColumn<FaultRules>("rules");
        QTest::addColumn<QString>("words");
        FaultRule mails = rule(1);
        mails.times = 3;
        QTest::newRow("mails") << FaultRules{mails} << u"Next 3 mails fail"_s;
        mails.struck = 2;
        QTest::newRow("one left") << FaultRules{mails} << u"Next mail fails"_s;
        QTest::newRow("every mail") << FaultRules{ending(rule(1), 20s)} << u"Every mail fails · 12 s"_s;
        QTest::newRow("crash") << FaultRules{rule(1, FaultPoint::WorkerClaimed, FaultEffect::Crash)}
                               << u"Next delivery crashes"_s;
        QTest::newRow("commit") << FaultRules{rule(1, FaultPoint::DatabaseCommit, FaultEffect::Cut)}
                                << u"Next COMMIT fails"_s;
        QTest::newRow("queue") << FaultRules{ending(rule(1, FaultPoint::QueueRequest, FaultEffect::Close), 10s)}
                               << u"The queue is down · 2 s"_s;
        FaultRule some = rule(1);
        some.event = u"demo-*"_s;
        QTest::newRow("for some") << FaultRules{some} << u"1 fault armed"_s;
        QTest::newRow("two, one without an end") << FaultRules{rule(1), ending(rule(2), 20s)} << u"2 faults armed"_s;
        QTest::newRow("two with an end") << FaultRules{ending(rule(1), 9s), ending(rule(2), 20s)}
                                         << u"2 faults armed · 12 s"_s;
    }
    void theNoticeOverTheWindowSaysOneFaultInWordsAndCountsDown()
    {
        QFETCH(FaultRules, rules);
        QFETCH(QString, words);
        QCOMPARE(armedWords(rules, 8s), words);
    }

    void theNoticeGoesDownWhileTheWindowIsLookedAt()
    {
        MainWindow window;
        window.show();
        window.showOpened();
        auto *pill = window.findChild<QPushButton *>(u"armed"_s);
        QSignalSpy disarmed(&window, &MainWindow::disarmRequested);
        window.showArmed({ending(rule(1), 20s), ending(rule(2, FaultPoint::QueueSend, FaultEffect::Fail), 20s)});
        QCOMPARE(pill->text(), u"2 faults armed · 20 s · disarm"_s);
        QVERIFY(pill->toolTip().contains(u"Queue · when messages are sent"_s));
        QCOMPARE(window.dockOf(window.faultsPanel())->windowTitle(), u"Faults (2)"_s);
        QTRY_COMPARE_WITH_TIMEOUT(pill->text(), u"2 faults armed · 18 s · disarm"_s, 5000);
        click(pill);
        QCOMPARE(disarmed.size(), 1);
        window.showArmed({});
        QVERIFY(!pill->isVisible());
    }

    void textOfStrangersDoesNotAct()
    {
        Board board;
        FaultRule hostile = rule(1);
        hostile.text = hostile.event = u"<b>x</b>\n\u202Ey"_s;
        board.panel.showArmed({hostile}, Noon);
        for (int column = 0; column < FaultsModel::ColumnCount; ++column) {
            const QModelIndex index = board.panel.model()->index(0, column);
            QVERIFY(!index.data().toString().contains(u'\n') && !index.data().toString().contains(QChar(0x202e)));
            QVERIFY(!index.data(Qt::ToolTipRole).toString().contains(u"<b>x"_s));
        }
    }
};

QTEST_MAIN(TestFaultsPanel)
#include "tst_faultspanel.moc"
