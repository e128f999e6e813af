#include "ui/celldelegate.h"
#include "ui/doubtsmodel.h"
#include "ui/doubtspanel.h"
#include "ui/emptystate.h"
#include "ui/inlineconfirm.h"
#include "ui/mainwindow.h"
#include "ui/paneldock.h"
#include "ui/plainlabel.h"
#include "ui/rowtable.h"
#include "ui/searchfield.h"
#include "ui/storyview.h"
#include "ui/theme.h"
#include "ui/windowactions.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;

namespace {

using Ended = DoubtOutcome::State;

const QDateTime Noon = QDateTime::fromString(u"2026-03-01T12:00:00Z"_s, Qt::ISODate);

Doubt doubt(const QString &eventId, Doubt::State state = Doubt::State::Waiting, int age = 0)
{
    Doubt doubt;
    doubt.eventId = eventId;
    doubt.eventType = u"application.status_changed"_s;
    doubt.applicationId = u"3"_s;
    doubt.messageId = u"m-"_s + eventId;
    doubt.worker = u"mailhost pid 4711"_s;
    doubt.lane = 2;
    doubt.mailReply = u"354 go ahead"_s;
    doubt.recipient = u"sam@example.com"_s;
    doubt.mailMessageId = eventId + u"@jobboard.example"_s;
    doubt.strategy = u"transaction"_s;
    doubt.state = state;
    doubt.since = Noon.addSecs(-age);
    doubt.reason = u"no complete final reply within 60 s"_s;
    return doubt;
}

DoubtList list(const QList<Doubt> &doubts, const QString &maildir = u"/mail"_s)
{
    DoubtList list;
    list.doubts = doubts;
    for (const Doubt &each : doubts)
        list.waiting += each.state == Doubt::State::Waiting ? 1 : 0;
    list.maildir = maildir;
    list.readAt = Noon;
    return list;
}

} // namespace

/// The console's events in doubt: the panel by itself, and what the window makes of it.
class TestDoubtsPanel : public QObject
{
    Q_OBJECT

    struct Act
    {
        DoubtAct act;
        QString button;
        QString question; ///< part of it
        Ended state;
        QString outcome; ///< beside the buttons
        Tone tone;
    };
    static QList<Act> acts()
    {
        return {
            {DoubtAct::Arrived, u"doubtArrived"_s, u"counts as arrived"_s, Ended::Settled, u"1 handled"_s, Tone::Sent},
            {DoubtAct::SendAgain, u"doubtAgain"_s, u"gets a second one"_s, Ended::Released, u"1 to be sent again"_s,
             Tone::InFlight},
            {DoubtAct::Ask, u"doubtAsk"_s, u"/mail"_s, Ended::Settled, u"1 handled"_s, Tone::Sent},
            {DoubtAct::Ask, u"doubtAsk"_s, u"nothing changes"_s, Ended::NotThere, u"not in /mail"_s, Tone::InDoubt},
            {DoubtAct::SendAgain, u"doubtAgain"_s, u"Nothing is sent now"_s, Ended::Refused, u"it is being sent"_s,
             Tone::Failed},
        };
    }
    static QString outcomeOf(const DoubtsPanel &panel)
    {
        return panel.findChild<PlainLabel *>(u"doubtOutcome"_s)->text();
    }
    static QPushButton *button(const DoubtsPanel &panel, const QString &name)
    {
        return panel.findChild<QPushButton *>(name);
    }
    static QString done(const DoubtsPanel &panel, int row)
    {
        return panel.model()->index(row, DoubtsModel::Done).data().toString();
    }
    static bool shows(const QWidget &widget, const QString &text)
    {
        for (const PlainLabel *label : widget.findChildren<PlainLabel *>()) {
            if (label->isVisibleTo(&widget) && label->text() == text)
                return true;
        }
        return false;
    }

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u"^(?!This plugin does not support)"_s)); }

    void emptyItSaysWhatItIsFor()
    {
        DoubtsPanel panel;
        QSignalSpy queried(&panel, &DoubtsPanel::queried);
        panel.refresh();
        QCOMPARE(queried.size(), 0); // nobody could answer
        panel.setReady();
        QCOMPARE(queried.size(), 1);
        panel.showList(list({}));
        QCOMPARE(panel.table()->emptyState()->title(), u"No event is in doubt"_s);
        QVERIFY(panel.table()->emptyState()->text().contains(u"last answer was lost"_s));
        panel.showList(list({doubt(u"a"_s, Doubt::State::Over)}));
        QVERIFY(panel.table()->emptyState()->text().contains(u"1 such event is settled"_s));
        Q_EMIT panel.table()->emptyState()->acted();
        QCOMPARE(panel.model()->rowCount(), 1);
        QVERIFY(button(panel, u"doubtsOver"_s)->isChecked());
    }

    void aReadBeginsOnlyAfterTheLastOneEnded()
    {
        DoubtsPanel panel;
        QSignalSpy queried(&panel, &DoubtsPanel::queried);
        panel.setReady();
        panel.refresh();
        panel.refresh();
        QCOMPARE(queried.size(), 1);
        panel.showList(list({}));
        QCOMPARE(queried.size(), 2); // once for both
        panel.showList(list({}));
        QCOMPARE(queried.size(), 2);
    }

    void aDeliveryInDoubtIsReadSoon()
    {
        DoubtsPanel panel;
        panel.setReady();
        panel.showList(list({doubt(u"a"_s)}));
        QSignalSpy queried(&panel, &DoubtsPanel::queried);
        DeliveryReport report;
        report.eventId = u"b"_s;
        report.outcome = Outcome::Sent;
        panel.noteDeliveries({report});
        report.outcome = Outcome::InDoubt;
        panel.noteDeliveries({report});
        QTRY_COMPARE(queried.size(), 1);
        panel.showList(list({doubt(u"a"_s)}));
        report.eventId = u"a"_s; // of an event that is shown
        report.outcome = Outcome::Sent;
        panel.noteDeliveries({report});
        QTRY_COMPARE(queried.size(), 2);
    }

    void rowsSayWhatIsKnown()
    {
        DoubtsPanel panel;
        QAbstractItemModelTester tester(panel.model());
        panel.setReady();
        Doubt held = doubt(u"held"_s, Doubt::State::Waiting, 20);
        held.done = u"held at 2 redeliveries"_s;
        panel.showList(list({doubt(u"new"_s), held, doubt(u"decided"_s, Doubt::State::SendAgain, 10),
                             doubt(u"over"_s, Doubt::State::Over, 5)}));
        panel.setNow(Noon.addSecs(40));
        const DoubtsModel &model = *panel.model();
        QCOMPARE(model.rowCount(), 3); // newest first, those that are over not
        QCOMPARE(model.index(0, DoubtsModel::Event).data().toString(), u"new"_s);
        QCOMPARE(model.index(0, DoubtsModel::Application).data().toString(), u"3"_s);
        QCOMPARE(model.index(0, DoubtsModel::Since).data().toString(), u"40 s ago"_s);
        QCOMPARE(model.index(0, DoubtsModel::Known).data().toString(), u"no complete final reply within 60 s"_s);
        QCOMPARE(model.index(0, DoubtsModel::MailId).data().toString(), u"new@jobboard.example"_s);
        QCOMPARE(done(panel, 0), u"nothing yet"_s);
        QCOMPARE(done(panel, 2), u"held at 2 redeliveries"_s);
        QCOMPARE(model.index(0, DoubtsModel::Glyph).data(GlyphRole).toString(), u"question"_s);
        QCOMPARE(model.index(1, DoubtsModel::Glyph).data(GlyphRole).toString(), u"replay"_s);
        button(panel, u"doubtsOver"_s)->click();
        QCOMPARE(model.rowCount(), 4);
        QCOMPARE(model.index(1, DoubtsModel::Event).data().toString(), u"over"_s);
        QCOMPARE(model.index(1, DoubtsModel::Glyph).data(ToneRole).toInt(), int(Tone::Skipped));
    }

    void theChosenOneIsToldWholeWithItsStory()
    {
        DoubtsPanel panel;
        panel.setReady();
        panel.showList(list({doubt(u"a"_s)}));
        QSignalSpy asked(&panel, &DoubtsPanel::storyRequested);
        panel.table()->selectRow(0);
        QCOMPARE(asked.size(), 1);
        for (const QString &fact :
             {u"a"_s, u"status changed · application 3"_s, u"sam@example.com"_s, u"354 go ahead"_s,
              u"a@jobboard.example"_s, u"message m-a · lane 2"_s, u"mailhost pid 4711 · transaction"_s})
            QVERIFY2(shows(panel, fact), qPrintable(fact));
        EventStory story;
        story.eventId = u"a"_s;
        story.lines = {{Noon, u"perhaps mailed"_s}};
        panel.showStory(story);
        QVERIFY(panel.findChild<StoryView *>()->text().contains(u"perhaps mailed"_s));
    }

    void eachActAsksThenTellsItsOutcome_data()
    {
        QTest::addColumn<int>("number");
        const char *const names[] = {"it arrived", "send again", "ask, there", "ask, not there", "refused"};
        for (int i = 0; i < acts().size(); ++i)
            QTest::newRow(names[i]) << i;
    }
    void eachActAsksThenTellsItsOutcome()
    {
        QFETCH(int, number);
        const Act act = acts().at(number);
        DoubtsPanel panel;
        panel.show();
        panel.setReady();
        panel.showList(list({doubt(u"a"_s), doubt(u"b"_s, Doubt::State::Waiting, 5)}));
        QSignalSpy settled(&panel, &DoubtsPanel::settleRequested);
        QPushButton *const wish = button(panel, act.button);
        QVERIFY(!wish->isEnabled()); // nothing is chosen
        panel.table()->selectRow(0);
        QVERIFY(wish->isEnabled());
        auto *confirm = panel.findChild<InlineConfirm *>();
        QTest::mouseClick(wish, Qt::LeftButton);
        QVERIFY(confirm->isVisible());
        QVERIFY2(confirm->text().contains(act.question), qPrintable(confirm->text()));
        QVERIFY(!wish->isEnabled()); // while it asks
        QTest::mouseClick(button(panel, u"confirmNo"_s), Qt::LeftButton);
        QCOMPARE(settled.size(), 0);
        QVERIFY(wish->isEnabled());

        QTest::mouseClick(wish, Qt::LeftButton);
        panel.table()->selectRow(1); // the question is about what was chosen then
        QTest::mouseClick(button(panel, u"confirmYes"_s), Qt::LeftButton);
        QCOMPARE(settled.size(), 1);
        QCOMPARE(settled.first().at(0).toStringList(), QStringList{u"a"_s});
        QCOMPARE(settled.first().at(1).value<DoubtAct>(), act.act);
        QCOMPARE(done(panel, 0), u"deciding…"_s);
        panel.table()->selectRow(0);
        QVERIFY(!wish->isEnabled()); // no second click
        panel.showOutcomes(
            {{u"a"_s, act.act, act.state, act.state == Ended::NotThere ? u"not in /mail"_s : u"it is being sent"_s}});
        QCOMPARE(outcomeOf(panel), act.outcome);
        QCOMPARE(panel.model()->index(0, DoubtsModel::Done).data(ToneRole).toInt(), int(act.tone));
        QCOMPARE(wish->isEnabled(), act.state != Ended::Settled);
        // And stays in its row when the list comes anew.
        panel.showList(list({doubt(u"a"_s, act.state == Ended::Settled ? Doubt::State::Over : Doubt::State::Waiting),
                             doubt(u"b"_s, Doubt::State::Waiting, 5)}));
        QCOMPARE(panel.model()->rowCount(), 2);
        QCOMPARE(panel.table()->currentEventId(), u"a"_s);
    }

    void manyAreDecidedAtOnce()
    {
        DoubtsPanel panel;
        panel.show();
        panel.setReady();
        panel.showList(
            list({doubt(u"a"_s), doubt(u"b"_s, Doubt::State::Waiting, 5), doubt(u"over"_s, Doubt::State::Over, 6)}));
        button(panel, u"doubtsOver"_s)->click();
        QSignalSpy settled(&panel, &DoubtsPanel::settleRequested);
        panel.table()->selectAll();
        button(panel, u"doubtArrived"_s)->click();
        QVERIFY(panel.findChild<InlineConfirm *>()->text().startsWith(u"Mark 2 chosen events"_s));
        button(panel, u"confirmYes"_s)->click();
        QCOMPARE(settled.first().at(0).toStringList(), (QStringList{u"a"_s, u"b"_s}));
        panel.showOutcomes({{u"a"_s, DoubtAct::Arrived, Ended::Settled, u"it arrived"_s},
                            {u"b"_s, DoubtAct::Arrived, Ended::Failed, u"the disk is full"_s}});
        QCOMPARE(outcomeOf(panel), u"1 handled · 1 failed"_s);
        QCOMPARE(done(panel, 1), u"failed · the disk is full"_s);
    }

    void withoutAMaildirNobodyIsAsked()
    {
        DoubtsPanel panel;
        panel.setReady();
        panel.showList(list({doubt(u"a"_s)}, {}));
        panel.table()->selectRow(0);
        QVERIFY(button(panel, u"doubtArrived"_s)->isEnabled());
        QVERIFY(!button(panel, u"doubtAsk"_s)->isEnabled());
        QVERIFY(button(panel, u"doubtAsk"_s)->toolTip().contains(u"--ask-maildir"_s));
    }

    void anErrorIsSaidAndWhatWasReadStays()
    {
        DoubtsPanel panel;
        panel.setReady();
        DoubtList failed;
        failed.error = u"the server went away"_s;
        panel.showList(failed);
        QCOMPARE(panel.table()->emptyState()->text(), u"the server went away"_s);
        panel.showList(list({doubt(u"a"_s)}));
        panel.showList(failed);
        QCOMPARE(panel.model()->rowCount(), 1);
        QSignalSpy settled(&panel, &DoubtsPanel::settleRequested);
        panel.table()->selectRow(0);
        panel.ask(DoubtAct::Arrived);
        button(panel, u"confirmYes"_s)->click();
        QVERIFY(!panel.canSettle(DoubtAct::Arrived));
        panel.showActFailed(u"browse"_s); // somebody else's
        QVERIFY(!panel.canSettle(DoubtAct::Arrived));
        panel.showActFailed(u"settle"_s);
        QVERIFY(panel.canSettle(DoubtAct::Arrived));
    }

    void textOfStrangersDoesNotAct()
    {
        DoubtsPanel panel;
        panel.setReady();
        Doubt hostile = doubt(u"<b>x</b>\u202Ey"_s);
        hostile.reason = hostile.mailReply = hostile.mailMessageId = u"<img src='file:///x'>\n\u202Ez"_s;
        panel.showList(list({hostile}));
        panel.table()->selectRow(0);
        for (int column = 0; column < DoubtsModel::ColumnCount; ++column) {
            const QString text = panel.model()->index(0, column).data().toString();
            QVERIFY2(!text.contains(u'\n') && !text.contains(QChar(0x202e)), qPrintable(text));
        }
        for (const PlainLabel *label : panel.findChildren<PlainLabel *>())
            QCOMPARE(label->textFormat(), Qt::PlainText);
    }

    void theSearchFindsByReplyAndMessageId()
    {
        DoubtsPanel panel;
        panel.setReady();
        Doubt other = doubt(u"b"_s);
        other.mailReply = u"250 queued as needle"_s;
        panel.showList(list({doubt(u"a"_s), other}));
        panel.searchField()->search(u"NEEDLE"_s);
        QCOMPARE(panel.table()->model()->rowCount(), 1);
        panel.searchField()->search(u"a@jobboard"_s);
        QCOMPARE(panel.table()->model()->rowCount(), 1);
        panel.searchField()->search(u"nothing"_s);
        QCOMPARE(panel.table()->emptyState()->title(), u"No event in doubt matches"_s);
    }

    void theWindowCountsThemAndItsMenuActs()
    {
        MainWindow window;
        window.show();
        QSignalSpy queried(&window, &MainWindow::doubtsQueried);
        QSignalSpy settled(&window, &MainWindow::settleDoubtsRequested);
        window.showOpened();
        QCOMPARE(queried.size(), 1);
        window.showDoubts(list({doubt(u"a"_s), doubt(u"b"_s, Doubt::State::SendAgain, 9)}));
        QCOMPARE(window.dockOf(window.doubtsPanel())->windowTitle(), u"In doubt (1)"_s);
        QVERIFY(!window.actions().doubtArrived->isEnabled());
        window.selectEvent(u"a"_s); // chosen elsewhere
        QCOMPARE(window.doubtsPanel()->table()->currentEventId(), u"a"_s);
        for (QAction *action :
             {window.actions().doubtArrived, window.actions().doubtAgain, window.actions().doubtAsk}) {
            QVERIFY(action->isEnabled());
            action->trigger();
            QVERIFY(window.doubtsPanel()->isVisible());
            window.doubtsPanel()->findChild<InlineConfirm *>()->dismiss();
        }
        window.actions().doubtAgain->trigger();
        window.doubtsPanel()->findChild<QPushButton *>(u"confirmYes"_s)->click();
        QCOMPARE(settled.size(), 1);
        QCOMPARE(settled.first().at(1).value<DoubtAct>(), DoubtAct::SendAgain);
        window.showDoubtsSettled({{u"a"_s, DoubtAct::SendAgain, Ended::Released, u"ok"_s}});
        QCOMPARE(queried.size(), 2); // the list anew
        window.showDoubts(list({}));
        QCOMPARE(window.dockOf(window.doubtsPanel())->windowTitle(), u"In doubt"_s);
    }
};

QTEST_MAIN(TestDoubtsPanel)
#include "tst_doubtspanel.moc"
