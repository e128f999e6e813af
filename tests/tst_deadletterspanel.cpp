#include "ui/deadlettersmodel.h"
#include "ui/deadletterspanel.h"
#include "ui/displaytext.h"
#include "ui/inlineconfirm.h"
#include "ui/letterfacets.h"
#include "ui/letterfiltermenu.h"
#include "ui/lettertext.h"
#include "ui/plainlabel.h"
#include "ui/plaintextview.h"
#include "ui/rowtable.h"
#include "ui/searchfield.h"
#include "ui/texttabs.h"
#include "ui/theme.h"

#include <QAction>
#include <QApplication>
#include <QContextMenuEvent>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;

namespace {

const QDateTime Noon = QDateTime::fromString(u"2026-03-01T12:00:00Z"_s, Qt::ISODate);

DeadLetter letter(const QString &id, Verdict verdict, const QString &reason)
{
    DeadLetter dead;
    dead.message.messageId = u"m-"_s + id;
    dead.eventId = id;
    dead.eventType = u"application.status_changed"_s;
    dead.applicationId = u"3"_s;
    dead.verdict = verdict;
    dead.reason = reason;
    dead.receiveCount = 3;
    dead.firstFailedAt = Noon.addSecs(-3600);
    dead.diedAt = Noon.addSecs(-130);
    dead.sentAt = Noon.addSecs(-2 * 86400 - 3 * 3600);
    dead.expiresAt = Noon.addSecs(3 * 86400 + 4 * 3600 + 60);
    dead.timesBack = 2;
    return dead;
}

/// Two that wait for the mail server, one that was handled, one that is broken.
DeadLetterList letters()
{
    DeadLetterList list;
    list.letters = {letter(u"a"_s, Verdict::NotHandled, u"451 4.3.0 mail server down"_s),
                    letter(u"b"_s, Verdict::NotHandled, u"451 4.3.0 mail server down"_s),
                    letter(u"c"_s, Verdict::Handled, u"550 5.1.1 <kim@example.com> no such mailbox"_s),
                    letter(u"d"_s, Verdict::Invalid, u"the body is not JSON"_s)};
    list.letters[3].eventType = u"application.archived"_s;
    list.browse = 1;
    list.seen = list.about = 4;
    list.finished = true;
    list.browsedAt = Noon;
    return list;
}

QPushButton *button(const QWidget &panel, const char *name)
{
    auto *found = panel.findChild<QPushButton *>(QLatin1StringView(name));
    if (!found)
        qFatal("no button %s", name);
    return found;
}

void click(const QWidget &panel, const char *name)
{
    QTest::mouseClick(button(panel, name), Qt::LeftButton);
}

QString textOf(const QWidget &panel, const QString &accessibleName)
{
    for (const PlainTextView *view : panel.findChildren<PlainTextView *>()) {
        if (view->accessibleName() == accessibleName)
            return view->toPlainText();
    }
    return u"no such view"_s;
}

QString progress(const QWidget &panel)
{
    return panel.findChild<PlainLabel *>(u"browseProgress"_s)->text();
}

QStringList shown(const DeadLettersPanel &panel)
{
    QStringList ids;
    for (int row = 0; row < panel.model()->rowCount(); ++row)
        ids += panel.model()->letter(row).eventId;
    return ids;
}

LetterFacets *groups(const DeadLettersPanel &panel)
{
    return panel.findChild<LetterFacets *>();
}

/// Each line with its count: "not handled 2".
QStringList groupLines(const DeadLettersPanel &panel)
{
    QStringList lines;
    for (int i = 0; i < groups(panel)->count(); ++i) {
        const QListWidgetItem *item = groups(panel)->item(i);
        lines += item->text() + u' ' + item->data(Qt::UserRole + 1).toString();
    }
    return lines;
}

void clickGroup(const DeadLettersPanel &panel, const QString &name)
{
    const QList<QListWidgetItem *> found = groups(panel)->findItems(name, Qt::MatchExactly);
    QVERIFY2(!found.isEmpty(), qPrintable(name));
    groups(panel)->scrollToItem(found.last());
    QTest::mouseClick(groups(panel)->viewport(), Qt::LeftButton, {},
                      groups(panel)->visualItemRect(found.last()).center());
}

QAction *filterAction(const DeadLettersPanel &panel, const QString &text)
{
    for (QAction *action : panel.filterMenu()->actions()) {
        if (action->text().remove(u'&') == text)
            return action;
    }
    return nullptr;
}

struct ShownPanel : DeadLettersPanel
{
    ShownPanel()
    {
        resize(1400, 800);
        show();
        setReady();
        setNow(Noon);
    }
};

} // namespace

class TestDeadLettersPanel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { applyTheme(*qApp, ThemeChoice::Light); }
    void init() { QTest::failOnWarning(QRegularExpression(u"^(?!This plugin does not support)"_s)); }

    // ---- the look

    void aQueueWithAPolicyOfItsOwnWantsATypedYes()
    {
        ShownPanel panel;
        QSignalSpy browsed(&panel, &DeadLettersPanel::browseRequested);
        click(panel, "browse");
        click(panel, "confirmYes");
        QCOMPARE(browsed.size(), 1);
        QCOMPARE(browsed.last().first().toBool(), false);
        DeadLetterList refused;
        refused.browse = 1;
        refused.finished = refused.needsYes = true;
        refused.error = u"this dead letter queue has a redrive policy of its own"_s;
        panel.showList(refused);
        auto *confirm = panel.findChild<InlineConfirm *>();
        QVERIFY(confirm->isVisible());
        QVERIFY(confirm->text().contains("redrive policy of its own"_L1));
        auto *field = panel.findChild<QLineEdit *>(u"confirmField"_s);
        QVERIFY(!button(panel, "confirmYes")->isEnabled());
        QTest::keyClicks(field, u"ye"_s);
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(browsed.size(), 1);
        QTest::keyClicks(field, u"s"_s);
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(browsed.size(), 2);
        QCOMPARE(browsed.last().first().toBool(), true);
        QVERIFY(panel.isBrowsing());
    }

    void theCostSaysWhatAKilledConsoleLeaves()
    {
        ShownPanel panel;
        panel.showDepth(250'000);
        click(panel, "browse");
        const QString text = panel.findChild<InlineConfirm *>()->text();
        QVERIFY2(text.contains("10 minutes"_L1), qPrintable(text));
        QVERIFY2(text.contains("250,000, of which a look takes 100,000"_L1), qPrintable(text));
    }

    void theEndOfALookIsSaid_data()
    {
        QTest::addColumn<DeadLetterList>("list");
        QTest::addColumn<QString>("said");
        DeadLetterList list = letters();
        QTest::newRow("whole") << list << u"seen 4 of about 4 · just now"_s;
        list.cancelled = true;
        QTest::newRow("cancelled") << list << u"cancelled: seen 4 of about 4 · just now"_s;
        list.cancelled = false;
        list.full = true;
        QTest::newRow("full") << list << u"seen 4 of about 4 · no more are taken at once, there are more"_s;
        list.full = false;
        list.error = u"the queue went away"_s;
        QTest::newRow("failed") << list << u"the look ended early: seen 4 of about 4"_s;
    }
    void theEndOfALookIsSaid()
    {
        QFETCH(DeadLetterList, list);
        ShownPanel panel;
        panel.showList(list);
        QTEST(progress(panel), "said");
        QCOMPARE(panel.model()->rowCount(), 4); // what was seen stays
    }

    // ---- rows

    void aRowSaysWhenAndHowOften()
    {
        ShownPanel panel;
        panel.showList(letters());
        const auto text = [&panel](int column) { return panel.model()->index(0, column).data().toString(); };
        QCOMPARE(text(DeadLettersModel::FirstFailed), u"1 h ago"_s);
        QCOMPARE(text(DeadLettersModel::Died), u"2 min ago"_s);
        QCOMPARE(text(DeadLettersModel::Age), u"2 d 3 h"_s);
        QCOMPARE(text(DeadLettersModel::Left), u"3 d 4 h"_s);
        QCOMPARE(text(DeadLettersModel::Back), u"2"_s);
        QCOMPARE(text(DeadLettersModel::Received), u"3"_s);
        panel.setNow(Noon.addDays(4));
        QCOMPARE(text(DeadLettersModel::Left), u"over"_s);
    }

    void aCopyThatWasLeftIsMarked()
    {
        ShownPanel panel;
        DeadLetterList list = letters();
        list.letters[0].replayedAs = u"m-new"_s;
        list.letters[0].verdictText = u"replayed, copy left · handled 14:02:11, mailed · a replay is skipped"_s;
        panel.showList(list);
        QVERIFY(
            panel.model()->index(0, DeadLettersModel::Verdict).data().toString().startsWith(u"replayed, copy left"_s));
        panel.lockLetters({u"m-b"_s});
        QVERIFY(panel.model()->index(1, DeadLettersModel::Verdict).data().toString().startsWith(u"locked"_s));
        QCOMPARE(panel.shownIds(), QStringList({u"m-a"_s, u"m-c"_s, u"m-d"_s}));
        QCOMPARE(panel.shownCount(), 3);
        panel.unlockLetters({u"m-b"_s});
        QCOMPARE(panel.shownCount(), 4);
    }

    // ---- search, groups, filters

    void groupsAreCountedAndFilter()
    {
        ShownPanel panel;
        panel.showList(letters());
        QTRY_VERIFY(groups(panel)->count() > 0);
        QCOMPARE(groupLines(panel),
                 QStringList({u"Verdict "_s, u"not handled 2"_s, u"handled 1"_s, u"invalid 1"_s, u"Reason "_s,
                              u"451 4.3.0 mail server down 2"_s, u"550 5.1.1 <…> no such mailbox 1"_s,
                              u"the body is not JSON 1"_s, u"Type "_s, u"status changed 3"_s, u"archived 1"_s}));
        clickGroup(panel, u"not handled"_s);
        QCOMPARE(shown(panel), QStringList({u"a"_s, u"b"_s}));
        QCOMPARE(button(panel, "letterFilter")->text(), u"Filter · 1"_s);
        QVERIFY2(progress(panel).startsWith(u"2 shown"_s), qPrintable(progress(panel)));
        clickGroup(panel, u"invalid"_s); // one more of the same kind adds
        QCOMPARE(shown(panel), QStringList({u"a"_s, u"b"_s, u"d"_s}));
        clickGroup(panel, u"archived"_s); // one of another kind narrows
        QCOMPARE(shown(panel), QStringList{u"d"_s});
        clickGroup(panel, u"archived"_s);
        clickGroup(panel, u"not handled"_s);
        QCOMPARE(shown(panel), QStringList{u"d"_s});
        filterAction(panel, u"Show all"_s)->trigger();
        QCOMPARE(shown(panel).size(), 4);
    }

    void aGroupIsActedOnAsAWhole()
    {
        ShownPanel panel;
        panel.showList(letters());
        QTRY_VERIFY(groups(panel)->count() > 0);
        QSignalSpy wanted(&panel, &DeadLettersPanel::actWanted);
        groups(panel)->setCurrentItem(
            groups(panel)->findItems(u"451 4.3.0 mail server down"_s, Qt::MatchExactly).first(),
            QItemSelectionModel::NoUpdate);
        QContextMenuEvent keys(QContextMenuEvent::Keyboard, QPoint(5, 5), groups(panel)->mapToGlobal(QPoint(5, 5)));
        QApplication::sendEvent(groups(panel), &keys);
        auto *menu = groups(panel)->findChild<QMenu *>();
        QVERIFY(menu);
        for (QAction *action : menu->actions()) {
            if (action->text().remove(u'&').startsWith(u"Replay this group"_s))
                action->trigger();
        }
        menu->close();
        QCOMPARE(wanted.size(), 1);
        QCOMPARE(wanted.first().at(0).value<LetterAct>(), LetterAct::Replay);
        QCOMPARE(wanted.first().at(1).toStringList(), QStringList({u"m-a"_s, u"m-b"_s}));
    }

    void whatIsChosenStaysChosenWhenTheFilterChanges()
    {
        ShownPanel panel;
        panel.showList(letters());
        panel.table()->selectRow(1);
        QCOMPARE(panel.chosenIds(), QStringList{u"m-b"_s});
        panel.table()->sortByColumn(DeadLettersModel::Event, Qt::DescendingOrder);
        QCOMPARE(shown(panel), QStringList({u"d"_s, u"c"_s, u"b"_s, u"a"_s}));
        QCOMPARE(panel.chosenIds(), QStringList{u"m-b"_s});
        panel.searchField()->search(u"451"_s);
        QCOMPARE(panel.chosenIds(), QStringList{u"m-b"_s});
        panel.searchField()->search(u"550"_s);
        QCOMPARE(panel.chosenIds(), QStringList()); // not shown, not chosen
    }

    void bodiesAreSearchedWhereTheyAre()
    {
        ShownPanel panel;
        QSignalSpy searched(&panel, &DeadLettersPanel::searchRequested);
        panel.showList(letters());
        panel.searchField()->search(u"needle"_s);
        QCOMPARE(searched.size(), 1);
        QCOMPARE(shown(panel), QStringList());
        QCOMPARE(progress(panel), u"searching the bodies…"_s);
        const quint64 old = searched.last().at(1).toULongLong();
        panel.searchField()->search(u"needles"_s);
        QCOMPARE(searched.size(), 2);
        panel.showMatches({old, {u"m-a"_s}, {}}); // of what was typed before
        QCOMPARE(shown(panel), QStringList());
        panel.showMatches({searched.last().at(1).toULongLong(), {u"m-b"_s}, {}});
        QCOMPARE(shown(panel), QStringList{u"b"_s});
        QVERIFY(!progress(panel).contains("searching"_L1));
        DeadLetterList next = letters(); // another look is searched again
        next.browse = 2;
        panel.showList(next);
        QCOMPARE(searched.size(), 3);
    }

    void savedFiltersSurviveARestart()
    {
        QTemporaryDir dir;
        const QString name = u"Friday & co/\\ü"_s;
        {
            QSettings settings(dir.filePath(u"console.ini"_s), QSettings::IniFormat);
            ShownPanel panel;
            panel.keepStateIn(&settings);
            panel.showList(letters());
            QVERIFY(!filterAction(panel, u"Save this filter…"_s)->isEnabled()); // nothing to save
            QTRY_VERIFY(groups(panel)->count() > 0);
            clickGroup(panel, u"not handled"_s);
            panel.searchField()->search(u"451"_s);
            filterAction(panel, u"Save this filter…"_s)->trigger();
            auto *field = panel.findChild<QLineEdit *>(u"confirmField"_s);
            QVERIFY(field->isVisible());
            QVERIFY(!button(panel, "confirmYes")->isEnabled());
            field->setText(name);
            click(panel, "confirmYes");
            QCOMPARE(panel.filterMenu()->saved().all().size(), 1);
        }
        QSettings settings(dir.filePath(u"console.ini"_s), QSettings::IniFormat);
        ShownPanel panel;
        panel.keepStateIn(&settings);
        panel.showList(letters());
        QCOMPARE(shown(panel).size(), 4);
        QAction *saved = nullptr;
        for (QAction *action : panel.filterMenu()->actions()) {
            if (action->text().contains("Friday"_L1))
                saved = action;
        }
        QVERIFY(saved);
        saved->trigger();
        QCOMPARE(shown(panel), QStringList({u"a"_s, u"b"_s}));
        QCOMPARE(panel.searchField()->text(), u"451"_s);
        QVERIFY(saved->isChecked());
        QAction *gone = nullptr;
        for (QMenu *menu : panel.filterMenu()->findChildren<QMenu *>()) {
            if (!menu->actions().isEmpty())
                gone = menu->actions().first();
        }
        QVERIFY(gone);
        gone->trigger();
        QTRY_VERIFY(panel.filterMenu()->saved().all().isEmpty());
        QVERIFY(!QSettings(dir.filePath(u"console.ini"_s), QSettings::IniFormat).contains(u"letterFilters/1/name"_s));
    }

    // ---- details

    void everythingAboutALetterIsShown()
    {
        ShownPanel panel;
        QSignalSpy wanted(&panel, &DeadLettersPanel::letterRequested);
        QSignalSpy story(&panel, &DeadLettersPanel::storyRequested);
        panel.showList(letters());
        panel.table()->selectRow(0);
        QCOMPARE(wanted.size(), 1);
        QCOMPARE(wanted.first().first().toString(), u"m-a"_s);
        QCOMPARE(story.size(), 1);
        DeadLetterDetail detail;
        detail.letter = letters().letters.first();
        Message &message = detail.letter.message;
        message.body = R"({"event_id":"a","n":1.50})";
        message.attributes = {{u"locale"_s, {u"String"_s, u"de-DE"_s, {}}},
                              {u"tries"_s, {u"Number.int"_s, u"007"_s, {}}},
                              {u"trace"_s, {u"Binary"_s, {}, QByteArray("\x00\xff\x7f", 3)}}};
        message.systemAttributes = {{u"SentTimestamp"_s, u"1764590400000"_s}, {u"SenderId"_s, u"AIDA"_s}};
        DeliveryReport failed;
        failed.outcome = Outcome::Failed;
        failed.failedStage = Stage::HandedOver;
        failed.reason = u"451 4.3.0 mail server down"_s;
        failed.mailReply = u"451 4.3.0 try later"_s;
        failed.receiveCount = 2;
        failed.lane = 4;
        failed.receivedAt = Noon;
        failed.stageUsec[0] = 1500;
        detail.attempts = {{failed, u"mailhost pid 4711"_s}};
        detail.hasMailbox = true;
        panel.showLetter(detail);
        QCOMPARE(textOf(panel, u"Body"_s), u"{\n  \"event_id\": \"a\",\n  \"n\": 1.50\n}"_s);
        const QString attributes = textOf(panel, u"Attributes"_s);
        for (const QString &part : {u"locale  String      de-DE"_s, u"tries   Number.int  007"_s,
                                    u"trace   Binary      3 bytes"_s, u"00 ff 7f"_s})
            QVERIFY2(attributes.contains(part), qPrintable(attributes));
        QVERIFY(textOf(panel, u"System attributes"_s).contains(u"1764590400000  (2025-12-01 12:00:00)"_s));
        const QString attempts = textOf(panel, u"Attempts"_s);
        for (const QString &part :
             {u"2026-03-01 12:00:00  failed at handing over"_s, u"received 2 · mailhost pid 4711 · lane 4 · 1.5 ms"_s,
              u"451 4.3.0 mail server down"_s, u"server: 451 4.3.0 try later"_s})
            QVERIFY2(attempts.contains(part), qPrintable(attempts));
        QVERIFY(textOf(panel, u"E-mails"_s).contains(u"No e-mail was sent"_s));
        QStringList tabs;
        for (const TextTabs *each : panel.findChildren<TextTabs *>()) {
            for (int i = 0; i < each->bar()->count(); ++i)
                tabs += each->bar()->tabText(i);
        }
        QVERIFY(tabs.contains(u"Attributes · 3"_s));
        QVERIFY(tabs.contains(u"Attempts · 1"_s));

        panel.table()->selectRow(1);
        QVERIFY(!textOf(panel, u"Attempts"_s).contains(u"4711"_s)); // of the other one
        panel.showLetter(detail); // late
        QVERIFY(!textOf(panel, u"Attempts"_s).contains(u"4711"_s));
    }

    void whatNobodySawIsSaid()
    {
        QVERIFY(attemptsText({}).startsWith(u"No worker of ours saw it"_s));
        DeadLetterDetail detail;
        QVERIFY(mailsText(detail).contains(u"as far as this console knows"_s));
        QCOMPARE(mailCount(detail), 0);
        DeliveryReport sent;
        sent.outcome = Outcome::Sent;
        sent.recipient = u"kim@example.com"_s;
        sent.receivedAt = Noon;
        sent.mailMessageId = u"x@jobboard.example"_s;
        detail.attempts = {{sent, {}}};
        detail.hasMailbox = true;
        MailRow mail;
        mail.to = u"kim@example.com"_s;
        mail.subject = u"Your application"_s;
        mail.receivedAt = Noon;
        detail.mails = {mail, mail};
        QCOMPARE(mailCount(detail), 2);
        const QString text = mailsText(detail);
        QVERIFY2(text.contains(u"sent to kim@example.com"_s) && text.contains(u"In the embedded mailbox: 2"_s),
                 qPrintable(text));
    }
};

QTEST_MAIN(TestDeadLettersPanel)
#include "tst_deadletterspanel.moc"
