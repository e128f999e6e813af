#include "ui/celldelegate.h"
#include "ui/deadlettersmodel.h"
#include "ui/deadletterspanel.h"
#include "ui/depthchart.h"
#include "ui/emptystate.h"
#include "ui/figuretile.h"
#include "ui/inlineconfirm.h"
#include "ui/logmodel.h"
#include "ui/logpanel.h"
#include "ui/mailboxmodel.h"
#include "ui/mailboxpanel.h"
#include "ui/plainlabel.h"
#include "ui/plaintextview.h"
#include "ui/processedmodel.h"
#include "ui/processedpanel.h"
#include "ui/queuepanel.h"
#include "ui/rowtable.h"
#include "ui/searchfield.h"
#include "ui/sendpanel.h"
#include "ui/statusline.h"
#include "ui/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QHelpEvent>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolTip>

using namespace Qt::StringLiterals;
using namespace sendonce;

namespace {

const QDateTime Noon = QDateTime::fromString(u"2026-03-01T12:00:00Z"_s, Qt::ISODate);
const QString Hostile =
    u"<img src='/etc/hostname'><a href='http://evil.example'>click</a>&lt;b&gt;\u202Egpj.exe\nsecond"_s;

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

void chooseRow(const Panel &panel, int row)
{
    RowTable *table = panel.table();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(row, 1)).center());
}

ProcessedRow processed(qint64 id)
{
    ProcessedRow row;
    row.id = id;
    row.eventId = u"event-%1"_s.arg(id);
    row.eventType = u"application.status_changed"_s;
    row.processedAt = Noon;
    row.result = u"mailed"_s;
    row.applicationId = u"3"_s;
    return row;
}

DeadLetter letter(const QString &id, Verdict verdict = Verdict::NotHandled)
{
    DeadLetter dead;
    dead.message.messageId = u"m-"_s + id;
    dead.message.body = "{\"event_id\":\"" + id.toUtf8() + "\"}";
    dead.bodyExcerpt = QString::fromUtf8(dead.message.body);
    dead.eventId = id;
    dead.eventType = u"application.status_changed"_s;
    dead.verdict = verdict;
    dead.reason = u"451 4.3.0 mail server down"_s;
    return dead;
}

DeadLetterList list(const QList<DeadLetter> &letters, bool finished = true)
{
    DeadLetterList result;
    result.letters = letters;
    result.about = letters.size();
    result.finished = finished;
    result.browsedAt = Noon;
    return result;
}

MailRow mail(const QString &id)
{
    MailRow row;
    row.id = id;
    row.eventId = u"event-"_s + id;
    row.to = u"sam@example.com"_s;
    row.subject = u"Your application"_s;
    row.receivedAt = Noon;
    return row;
}

QString bodyShown(const QWidget &panel, const QString &accessibleName)
{
    for (const PlainTextView *view : panel.findChildren<PlainTextView *>()) {
        if (view->accessibleName() == accessibleName)
            return view->toPlainText();
    }
    return u"no such view"_s;
}

/// Everything a person could see of a widget and its children must be plain.
void verifyPlain(const QWidget &root)
{
    for (const QLabel *label : root.findChildren<QLabel *>()) {
        QCOMPARE(label->textFormat(), Qt::PlainText);
        QVERIFY2(!label->text().contains(QChar(0x202e)), qPrintable(label->text()));
        QVERIFY(label->pixmap().isNull());
    }
    for (const QWidget *widget : root.findChildren<QWidget *>()) {
        const QString tip = widget->toolTip();
        QVERIFY2(!tip.contains("<img"_L1) && !tip.contains("<a "_L1) && !tip.contains(QChar(0x202e)), qPrintable(tip));
        QVERIFY(!widget->accessibleName().contains(QChar(0x202e)));
    }
    for (const PlainTextView *view : root.findChildren<PlainTextView *>())
        QVERIFY(!view->toPlainText().contains(QChar(0x202e)));
    for (const RowTable *table : root.findChildren<RowTable *>()) {
        const QAbstractItemModel *model = table->model();
        for (int row = 0; row < model->rowCount(); ++row) {
            for (int column = 0; column < model->columnCount(); ++column) {
                const QModelIndex index = model->index(row, column);
                const QString shown = index.data().toString();
                QVERIFY2(!shown.contains(QChar(0x202e)) && !shown.contains(u'\n'), qPrintable(shown));
                const QString tip = index.data(Qt::ToolTipRole).toString();
                QVERIFY2(!tip.contains("<img"_L1) && !tip.contains("<a "_L1) && !tip.contains(QChar(0x202e)),
                         qPrintable(tip));
            }
        }
    }
}

} // namespace

class TestPanels : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { applyTheme(*qApp, ThemeChoice::Light); }
    void init() { QTest::failOnWarning(QRegularExpression(u"^(?!This plugin does not support)"_s)); }

    // ---- send

    void sendOneEventAsksForTheDefaultEvent()
    {
        SendPanel panel;
        panel.show();
        QSignalSpy sent(&panel, &SendPanel::sendRequested);
        click(panel, "sendOneEvent");
        QCOMPARE(sent.size(), 0); // not before the worker is open
        panel.setReady(true);
        click(panel, "sendOneEvent");
        QCOMPARE(sent.size(), 1);
        QCOMPARE(sent.first().first().value<SendRequest>(), SendRequest());
    }

    void injectDuplicateAsksForANewEventSentTwice()
    {
        SendPanel panel;
        panel.show();
        panel.setReady(true);
        QSignalSpy duplicated(&panel, &SendPanel::injectDuplicateRequested);
        click(panel, "injectDuplicate");
        QCOMPARE(duplicated.size(), 1);
        QCOMPARE(duplicated.first().first().toString(), QString());
    }

    void failNextMailsIsArmedWithItsFields()
    {
        SendPanel panel;
        panel.show();
        panel.setReady(true);
        QSignalSpy armed(&panel, &SendPanel::failNextMailsRequested);
        auto *times = panel.findChild<QSpinBox *>(u"failTimes"_s);
        auto *code = panel.findChild<QSpinBox *>(u"failCode"_s);
        QVERIFY(!times->isVisible());
        click(panel, "failNextMails");
        QVERIFY(times->isVisible());
        QCOMPARE(times->value(), 3);
        QCOMPARE(code->value(), 451);
        click(panel, "armFailure");
        QCOMPARE(armed.first(), QVariantList({3, 451}));
        QVERIFY(!times->isVisible());
        panel.askToFailMails();
        times->setValue(1);
        code->setValue(550);
        QTest::keyClick(times, Qt::Key_Return);
        QCOMPARE(armed.last(), QVariantList({1, 550}));
        panel.askToFailMails();
        QTest::keyClick(times, Qt::Key_Escape);
        QVERIFY(!times->isVisible());
        QCOMPARE(armed.size(), 2);
    }

    void faultsAreNotOfferedElsewhere()
    {
        SendPanel panel;
        panel.show();
        panel.setReady(true);
        panel.setFaultsOffered(false);
        QVERIFY(!button(panel, "failNextMails")->isVisible());
        panel.askToFailMails();
        QVERIFY(!panel.findChild<QSpinBox *>(u"failTimes"_s)->isVisible());
    }

    void whatBecameOfASendIsSaid()
    {
        SendPanel panel;
        panel.show();
        const auto words = [&panel] {
            QStringList texts;
            for (const PlainLabel *label : panel.findChildren<PlainLabel *>())
                texts += label->text();
            return texts.join(u'|');
        };
        panel.showReport({{}, u"23e48c51-7f0e-4b7e-8c55-1f0e6a5d9a41"_s, {u"a"_s, u"b"_s}, {}});
        QVERIFY(words().contains(u"Sent 23e48c51-7f0e…9a41 as 2 messages"_s));
        panel.showReport({{}, {}, {}, u"127.0.0.1:9324 refused the connection"_s});
        QVERIFY(words().contains("Not sent: 127.0.0.1:9324 refused the connection"_L1));
    }

    // ---- processed events

    void processedAsksWhenItIsShownAndReady()
    {
        ProcessedPanel panel;
        QSignalSpy queried(&panel, &ProcessedPanel::queried);
        panel.setReady();
        QCOMPARE(queried.size(), 0); // nobody looks
        panel.show();
        QCOMPARE(queried.size(), 1);
        ProcessedPage page;
        page.query = queried.first().first().value<ProcessedQuery>();
        page.rows = {processed(2), processed(1)};
        panel.showPage(page);
        QCOMPARE(panel.table()->model()->rowCount(), 2);
        QVERIFY(!panel.table()->emptyState()->isVisible());
    }

    void theEmptyTableSaysWhatToDo()
    {
        ProcessedPanel panel;
        panel.show();
        const EmptyState *words = panel.table()->emptyState();
        QVERIFY(words->isVisible());
        QCOMPARE(words->title(), u"Opening the database…"_s);
        QSignalSpy queried(&panel, &ProcessedPanel::queried);
        panel.setReady();
        QCOMPARE(words->title(), u"Reading the processed events…"_s);
        ProcessedPage page;
        page.query = queried.last().first().value<ProcessedQuery>();
        panel.showPage(page);
        QCOMPARE(words->title(), u"No event has been processed yet"_s);
        QSignalSpy sent(&panel, &ProcessedPanel::sendRequested);
        QTest::mouseClick(words->findChild<QPushButton *>(), Qt::LeftButton);
        QCOMPARE(sent.size(), 1);
        panel.refresh();
        page.query = queried.last().first().value<ProcessedQuery>();
        page.error = u"database disk image is malformed"_s;
        panel.showPage(page);
        QVERIFY(words->text().contains(page.error));
        panel.setUnavailable(u"the disk is full"_s);
        QVERIFY(words->text().contains("the disk is full"_L1));
    }

    void processedIsSearched()
    {
        ProcessedPanel panel;
        panel.show();
        panel.setReady();
        QSignalSpy queried(&panel, &ProcessedPanel::queried);
        QTest::keyClicks(panel.searchField(), u"event-7"_s);
        QTRY_COMPARE(queried.size(), 1); // after a rest, once
        QCOMPARE(queried.first().first().value<ProcessedQuery>().search, u"event-7"_s);
        QTest::keyClick(panel.searchField(), Qt::Key_Escape);
        QCOMPARE(queried.size(), 2);
        QCOMPARE(queried.last().first().value<ProcessedQuery>().search, QString());
        QVERIFY(panel.searchField()->text().isEmpty());
    }

    void choosingAnEventShowsItAndAsksForItsStory()
    {
        ProcessedPanel panel;
        panel.resize(1000, 700);
        panel.show();
        QSignalSpy queried(&panel, &ProcessedPanel::queried);
        QSignalSpy selected(&panel, &Panel::eventSelected);
        QSignalSpy stories(&panel, &ProcessedPanel::storyRequested);
        QSignalSpy duplicated(&panel, &ProcessedPanel::duplicateRequested);
        panel.setReady();
        ProcessedPage page;
        page.query = queried.last().first().value<ProcessedQuery>();
        page.rows = {processed(2), processed(1)};
        panel.showPage(page);
        chooseRow(panel, 1);
        QCOMPARE(selected.size(), 1);
        QCOMPARE(selected.first().first().toString(), u"event-1"_s);
        QCOMPARE(stories.size(), 1);
        panel.showStory({u"another"_s, {{Noon, u"of another event"_s}}, {}});
        QVERIFY(!bodyShown(panel, u"Story of this event"_s).contains("another"_L1));
        panel.showStory({u"event-1"_s, {{Noon, u"received 1 of 3"_s}}, {}});
        QCOMPARE(bodyShown(panel, u"Story of this event"_s), u"12:00:00  received 1 of 3"_s);
        click(panel, "injectDuplicateOfThis");
        QCOMPARE(duplicated.first().first().toString(), u"event-1"_s);
        // Chosen elsewhere: shown, but not told again.
        QVERIFY(panel.revealEvent(u"event-2"_s));
        QCOMPARE(selected.size(), 1);
        QCOMPARE(stories.last().first().toString(), u"event-2"_s);
        QVERIFY(!panel.revealEvent(u"event-9"_s));
    }

    void deliveriesMakeItReadWhatIsNew()
    {
        ProcessedPanel panel;
        panel.show();
        QSignalSpy queried(&panel, &ProcessedPanel::queried);
        panel.setReady();
        ProcessedPage page;
        page.query = queried.last().first().value<ProcessedQuery>();
        page.rows = {processed(2), processed(1)};
        panel.showPage(page);
        DeliveryReport report;
        report.eventId = u"event-3"_s;
        report.outcome = Outcome::Sent;
        QList<DeliveryReport> reports(500, report);
        for (int i = 0; i < 20; ++i)
            panel.addDeliveries(reports);
        QTRY_COMPARE(queried.size(), 2); // one question for the burst
        QCOMPARE(queried.last().first().value<ProcessedQuery>().afterId, 2);
    }

    void rowsAreCopiedWhole()
    {
        ProcessedPanel panel;
        panel.show();
        QSignalSpy queried(&panel, &ProcessedPanel::queried);
        panel.setReady();
        ProcessedPage page;
        page.query = queried.last().first().value<ProcessedQuery>();
        page.rows = {processed(2), processed(1)};
        panel.showPage(page);
        panel.table()->selectAll();
        QTest::keyClick(panel.table(), Qt::Key_C, Qt::ControlModifier);
        const QStringList lines = QGuiApplication::clipboard()->text().split(u'\n');
        QCOMPARE(lines.size(), 2);
        QCOMPARE(lines.first(),
                 u"mailed\tevent-2\tapplication.status_changed\t3\tmailed\t0\t2026-03-01 12:00:00.000 UTC"_s);
    }

    // ---- dead letters

    void browsingStatesItsCostFirst()
    {
        DeadLettersPanel panel;
        panel.show();
        QSignalSpy browsed(&panel, &DeadLettersPanel::browseRequested);
        QSignalSpy cancelled(&panel, &DeadLettersPanel::browseCancelled);
        auto *confirm = panel.findChild<InlineConfirm *>();
        click(panel, "browse");
        QVERIFY(!confirm->isVisible()); // not open yet
        panel.setReady();
        panel.showDepth(6);
        click(panel, "browse");
        QVERIFY(confirm->isVisible());
        QVERIFY(confirm->text().contains("Each look counts as a receive"_L1));
        QVERIFY(confirm->text().contains("about 6"_L1));
        QCOMPARE(browsed.size(), 0);
        click(panel, "confirmNo");
        QVERIFY(!confirm->isVisible());
        QCOMPARE(browsed.size(), 0);
        click(panel, "browse");
        QTest::keyClick(confirm, Qt::Key_Escape);
        QVERIFY(!confirm->isVisible());
        click(panel, "browse");
        click(panel, "confirmYes");
        QCOMPARE(browsed.size(), 1);
        QVERIFY(panel.isBrowsing());
        click(panel, "browse"); // now it cancels
        QCOMPARE(cancelled.size(), 1);
        DeadLetterList letters = list({letter(u"a"_s)}, false);
        letters.about = 6;
        panel.showList(letters);
        const auto progress = [&panel] {
            for (const PlainLabel *label : panel.findChildren<PlainLabel *>()) {
                if (label->text().startsWith("seen"_L1))
                    return label->text();
            }
            return QString();
        };
        QCOMPARE(progress(), u"seen 1 of about 6…"_s);
        letters.finished = true;
        letters.letters += letter(u"b"_s);
        panel.setNow(Noon.addSecs(20));
        panel.showList(letters);
        QCOMPARE(progress(), u"seen 2 of about 6 · 20 s ago"_s);
        QVERIFY(!panel.isBrowsing());
    }

    void aLetterIsLockedFromTheClickToItsOutcome()
    {
        DeadLettersPanel panel;
        panel.resize(1000, 700);
        panel.show();
        panel.setReady();
        QSignalSpy wanted(&panel, &DeadLettersPanel::actWanted);
        QPushButton *replay = button(panel, "replay");
        QVERIFY(!replay->isEnabled());
        QVERIFY(replay->toolTip().contains("browse first"_L1));
        panel.showList(list({letter(u"a"_s), letter(u"b"_s), letter(u"c"_s)}));
        QCOMPARE(replay->text(), u"Replay all 3…"_s); // nothing chosen: what the filter shows
        QTest::mouseClick(replay, Qt::LeftButton);
        QCOMPARE(wanted.last().at(1).toStringList(), QStringList({u"m-a"_s, u"m-b"_s, u"m-c"_s}));
        panel.searchField()->search(u"m-none"_s);
        QTRY_VERIFY(panel.shownIds().isEmpty());
        QTRY_VERIFY(!replay->isEnabled());
        panel.searchField()->search({});
        QTRY_COMPARE(panel.shownIds().size(), 3);
        chooseRow(panel, 1);
        QCOMPARE(replay->text(), u"Replay 1…"_s);
        QTest::mouseClick(replay, Qt::LeftButton);
        QCOMPARE(wanted.last().at(1).toStringList(), QStringList{u"m-b"_s});
        panel.lockLetters({u"m-b"_s});
        QCOMPARE(panel.model()->index(1, DeadLettersModel::Verdict).data().toString(), u"locked · on its way…"_s);
        QVERIFY(panel.chosenIds().isEmpty());
        panel.table()->selectAll();
        QCOMPARE(panel.chosenIds(), QStringList({u"m-a"_s, u"m-c"_s}));
        panel.unlockLetters({u"m-b"_s}); // nothing came of it
        QCOMPARE(panel.chosenIds().size(), 3);
        panel.showReplays({{u"m-b"_s, u"b"_s, ReplayItem::State::Mailed, {}, 7}});
        QCOMPARE(panel.model()->index(1, DeadLettersModel::Verdict).data().toString(), u"mailed"_s);
        QCOMPARE(panel.chosenIds().size(), 2);
        panel.showReplays({{u"m-a"_s, u"a"_s, ReplayItem::State::Failed, u"the queue did not answer"_s, 7}});
        QCOMPARE(panel.chosenIds().size(), 2); // that one can be tried again
        panel.showReplays({{u"m-c"_s, u"c"_s, ReplayItem::State::Sending, {}, 7}});
        panel.unlockLetters({u"m-c"_s}); // the worker has it already
        QCOMPARE(panel.chosenIds(), QStringList{u"m-a"_s});
    }

    void theBodyIsLaidOutOrRaw()
    {
        DeadLettersPanel panel;
        panel.show();
        panel.setReady();
        DeadLetter broken = letter(u"b"_s);
        broken.message.body = "hello <img src=x>";
        panel.showList(list({letter(u"a"_s), broken}));
        panel.table()->selectRow(0);
        QCOMPARE(bodyShown(panel, u"Body"_s), u"{\n  \"event_id\": \"a\"\n}"_s);
        click(panel, "rawBody");
        QCOMPARE(bodyShown(panel, u"Body"_s), u"{\"event_id\":\"a\"}"_s);
        panel.table()->selectRow(1);
        QCOMPARE(bodyShown(panel, u"Body"_s), u"hello <img src=x>"_s);
        QVERIFY(!button(panel, "rawBody")->isEnabled());
    }

    void deadLettersAreSearchedInTheirBodies()
    {
        DeadLettersPanel panel;
        panel.show();
        panel.setReady();
        panel.showList(list({letter(u"a"_s), letter(u"needle"_s)}));
        panel.searchField()->search(u"\"event_id\":\"NEEDLE"_s);
        QCOMPARE(panel.table()->model()->rowCount(), 1);
        QSignalSpy asked(&panel, &DeadLettersPanel::searchRequested);
        panel.searchField()->search(u"no such"_s);
        QCOMPARE(asked.size(), 1);
        QCOMPARE(panel.table()->emptyState()->title(), u"Searching the bodies…"_s);
        panel.showMatches({asked.last().at(1).toULongLong(), {}, {}});
        QCOMPARE(panel.table()->emptyState()->title(), u"No dead letter matches"_s);
        QTest::mouseClick(panel.table()->emptyState()->findChild<QPushButton *>(), Qt::LeftButton);
        QCOMPARE(panel.table()->model()->rowCount(), 2);
    }

    void theEmptyQueueIsGoodNews()
    {
        DeadLettersPanel panel;
        panel.show();
        panel.setReady();
        const EmptyState *words = panel.table()->emptyState();
        QCOMPARE(words->title(), u"The dead letters have not been looked at"_s);
        panel.showDepth(2);
        QCOMPARE(words->title(), u"About 2 dead letters"_s);
        panel.showDepth(0);
        QCOMPARE(words->title(), u"No dead letters"_s);
    }

    // ---- mailbox

    void theMailboxAsksOneQuestionAtATime()
    {
        MailboxPanel panel;
        panel.show();
        QSignalSpy queried(&panel, &MailboxPanel::queried);
        panel.setReady();
        QCOMPARE(queried.size(), 1);
        for (int i = 0; i < 50; ++i)
            panel.noteChange();
        QTest::qWait(250);
        QCOMPARE(queried.size(), 1); // the first is still open
        panel.showSnapshot({{mail(u"1"_s)}, 1, {}});
        QTRY_COMPARE(queried.size(), 2);
        panel.showSnapshot({{mail(u"2"_s), mail(u"1"_s)}, 2, {}});
        QCOMPARE(panel.table()->model()->rowCount(), 2);
        panel.hide();
        panel.noteChange();
        QTest::qWait(250);
        QCOMPARE(queried.size(), 2); // nobody looks
        panel.show();
        QCOMPARE(queried.size(), 3);
    }

    /// As beside the log in the workspace Demo.
    void aSmallMailboxStillShowsTheProof()
    {
        MailboxPanel panel;
        panel.resize(1000, 700);
        panel.show();
        panel.setReady();
        panel.showSnapshot({{mail(u"1"_s), mail(u"2"_s), mail(u"3"_s), mail(u"4"_s)}, 4, {}});
        panel.resize(396, 310);
        const RowTable *table = panel.table();
        const auto right = [table](int column) {
            return table->columnViewportPosition(column) + table->columnWidth(column);
        };
        QTRY_VERIFY(table->viewport()->width() < 400 && table->columnWidth(MailboxModel::Subject) < 200);
        const int height = table->viewport()->height();
        const int subject = table->columnWidth(MailboxModel::Subject);
        QVERIFY2(right(MailboxModel::Copies) <= table->viewport()->width(), "the copies can be seen");
        QVERIFY2(subject >= 100, qPrintable(u"a subject of %1 pixels cannot be read"_s.arg(subject)));
        QVERIFY2(height >= 3 * table->rowHeight(0), qPrintable(u"%1 pixels for e-mails are too low"_s.arg(height)));
    }

    void aMailIsOpenedShownAndSaved()
    {
        QTemporaryDir folder;
        MailboxPanel panel;
        panel.resize(1000, 700);
        panel.show();
        panel.setReady();
        panel.showSnapshot({{mail(u"1"_s), mail(u"2"_s)}, 2, {}});
        QSignalSpy opened(&panel, &MailboxPanel::openRequested);
        QSignalSpy selected(&panel, &Panel::eventSelected);
        QVERIFY(!panel.canSave());
        chooseRow(panel, 1);
        QCOMPARE(opened.first().first().toString(), u"2"_s);
        QCOMPARE(selected.first().first().toString(), u"event-2"_s);
        MailDetail detail;
        detail.row = mail(u"1"_s);
        detail.text = u"of another mail"_s;
        panel.showMail(detail); // late, and not the one chosen
        QVERIFY(!bodyShown(panel, u"E-mail"_s).contains("another"_L1));
        detail.row = mail(u"2"_s);
        detail.headers = {{u"Subject"_s, u"Your application"_s}, {u"X-Sendonce-Event"_s, u"event-2"_s}};
        detail.text = u"Hello Sam"_s;
        detail.html = u"<p>Hello <img src='http://evil.example/x.png'></p>"_s;
        detail.raw = "Subject: Your application\r\n\r\nHello Sam\r\n";
        panel.showMail(detail);
        auto *parts = panel.findChild<QTabBar *>();
        QCOMPARE(bodyShown(panel, u"E-mail"_s), u"Hello Sam"_s);
        parts->setCurrentIndex(0);
        QCOMPARE(bodyShown(panel, u"E-mail"_s), u"Subject           Your application\nX-Sendonce-Event  event-2"_s);
        parts->setCurrentIndex(2);
        QCOMPARE(bodyShown(panel, u"E-mail"_s), detail.html); // its source, not a page
        parts->setCurrentIndex(3);
        QCOMPARE(bodyShown(panel, u"E-mail"_s), u"Subject: Your application\n\nHello Sam\n"_s);
        QVERIFY(panel.canSave());
        const QString path = folder.filePath(u"mail.eml"_s);
        panel.saveTo(path);
        QTRY_VERIFY(QFile::exists(path));
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), detail.raw);
        const auto said = [&panel](const QString &words) {
            const QList<PlainLabel *> labels = panel.findChildren<PlainLabel *>();
            return std::any_of(labels.cbegin(), labels.cend(),
                               [&](const PlainLabel *label) { return label->text().contains(words); });
        };
        QTRY_VERIFY(said(u"saved as"_s));
        panel.saveTo(folder.filePath(u"no/such/folder/mail.eml"_s));
        QTRY_VERIFY(said(u"not saved"_s));
    }

    // ---- log

    void theLogFollowsOnlyAtItsEnd()
    {
        LogPanel panel;
        panel.resize(800, 400);
        panel.show();
        const auto lines = [](int count) {
            QList<LogLine> result;
            for (int i = 0; i < count; ++i)
                result += LogLine{Noon, LogLevel::Info, u"line %1"_s.arg(i), {}};
            return result;
        };
        QScrollBar *bar = panel.table()->verticalScrollBar();
        QPushButton *fresh = button(panel, "newLines");
        panel.append(lines(100));
        QCOMPARE(bar->value(), bar->maximum());
        panel.append(lines(100));
        QCOMPARE(bar->value(), bar->maximum());
        QVERIFY(!fresh->isVisible());
        bar->setValue(20);
        panel.append(lines(37));
        QCOMPARE(bar->value(), 20);
        QVERIFY(fresh->isVisible());
        QCOMPARE(fresh->text(), u"37 new"_s);
        panel.append(lines(LogModel::Bound - 237 + 10)); // ten of the oldest go
        QCOMPARE(bar->value(), 10); // the lines being read stay
        QTest::mouseClick(fresh, Qt::LeftButton);
        QCOMPARE(bar->value(), bar->maximum());
        QVERIFY(!fresh->isVisible());
    }

    void thePausedLogHoldsLinesBack()
    {
        LogPanel panel;
        panel.show();
        QSignalSpy paused(&panel, &LogPanel::pausedChanged);
        click(panel, "pauseLog");
        QCOMPARE(paused.size(), 1);
        panel.append({{Noon, LogLevel::Info, u"a"_s, {}}, {Noon, LogLevel::Info, u"b"_s, {}}});
        QCOMPARE(panel.model()->rowCount(), 0);
        QCOMPARE(button(panel, "pauseLog")->text(), u"Resume · 2 new"_s);
        click(panel, "pauseLog");
        QCOMPARE(panel.model()->rowCount(), 2);
        QCOMPARE(button(panel, "pauseLog")->text(), u"Pause"_s);
    }

    void theLogIsFilteredCopiedAndJumpsToItsEvent()
    {
        LogPanel panel;
        panel.resize(800, 400);
        panel.show();
        panel.append({{Noon, LogLevel::Debug, u"quiet"_s, {}}, {Noon, LogLevel::Error, u"loud"_s, u"event-7"_s}});
        panel.findChild<QComboBox *>()->setCurrentIndex(2);
        QCOMPARE(panel.table()->model()->rowCount(), 1);
        click(panel, "copyLog");
        QCOMPARE(QGuiApplication::clipboard()->text(), u"2026-03-01 12:00:00.000 UTC\terror\tloud"_s);
        QSignalSpy jumped(&panel, &LogPanel::jumpRequested);
        const QPoint place = panel.table()->visualRect(panel.table()->model()->index(0, 2)).center();
        QTest::mouseClick(panel.table()->viewport(), Qt::LeftButton, {}, place);
        QTest::mouseDClick(panel.table()->viewport(), Qt::LeftButton, {}, place);
        QCOMPARE(jumped.size(), 1);
        QCOMPARE(jumped.first().first().toString(), u"event-7"_s);
    }

    // ---- queue

    void theQueuesNumbersHaveTheirAge()
    {
        QueuePanel panel;
        panel.show();
        const QList<FigureTile *> tiles = panel.findChildren<FigureTile *>();
        QCOMPARE(tiles.size(), 4);
        for (const FigureTile *tile : tiles)
            QCOMPARE(tile->figureText(), u"–"_s); // not known is not zero
        QueueDepth depth;
        depth.visible = 1204;
        depth.inFlight = 3;
        depth.delayed = 0;
        depth.deadLetters = 6;
        depth.sampledAt = Noon;
        panel.showDepth(depth);
        panel.setNow(Noon.addSecs(4));
        QStringList figures;
        for (const FigureTile *tile : tiles)
            figures += tile->figureText();
        figures.sort();
        QCOMPARE(figures, QStringList({u"0"_s, u"1,204"_s, u"3"_s, u"6"_s}));
        const QList<PlainLabel *> labels = panel.findChildren<PlainLabel *>();
        QVERIFY(std::any_of(labels.cbegin(), labels.cend(),
                            [](const PlainLabel *label) { return label->text() == u"approximate · 4 s ago"_s; }));
        QSignalSpy wanted(&panel, &QueuePanel::deadLettersRequested);
        for (FigureTile *tile : tiles)
            QTest::mouseClick(tile, Qt::LeftButton);
        QCOMPARE(wanted.size(), 1);
        QVERIFY(panel.chart()
                    ->textAt(panel.chart()->width() - 1)
                    .contains("visible 1,204, in flight 3, dead letters 6"_L1));
        QVERIFY(panel.chart()->textAt(2).isEmpty());
    }

    void theStatusLineCountsDoubles()
    {
        StatusLine line;
        line.show();
        line.showCounters({1204, 97, 3, 0, 0});
        QCOMPARE(line.countersText(), u"sent 1,204 · skipped 97 · failed 3 · in doubt 0"_s);
        line.showCounters({1204, 97, 3, 1, 2});
        QCOMPARE(line.countersText(), u"sent 1,204 · skipped 97 · failed 3 · in doubt 1 · possibly mailed twice 2"_s);
    }

    void aCutCellShowsTheWholeOfItInItsToolTip()
    {
        LogPanel panel;
        panel.resize(500, 400);
        panel.show();
        const QString text =
            u"Failed to handle message (event e): 451 <b>mail server down</b>, and a good deal more than fits"_s;
        panel.append({{Noon, LogLevel::Error, text, {}}, {Noon, LogLevel::Error, u"short"_s, {}}});
        const auto tipOf = [&panel](int row) {
            QToolTip::hideText();
            const QModelIndex index = panel.table()->model()->index(row, LogModel::Text);
            const QPoint place = panel.table()->visualRect(index).center();
            QHelpEvent help(QEvent::ToolTip, place, panel.table()->viewport()->mapToGlobal(place));
            QApplication::sendEvent(panel.table()->viewport(), &help);
            return QToolTip::text();
        };
        QVERIFY(tipOf(0).contains("&lt;b&gt;mail server down"_L1));
        QVERIFY(!tipOf(1).contains("short"_L1));
    }

    // ---- strangers' text

    void hostileTextIsPlainTextEverywhere()
    {
        ProcessedPanel events;
        events.resize(1000, 700);
        events.show();
        QSignalSpy queried(&events, &ProcessedPanel::queried);
        events.setReady();
        ProcessedPage page;
        page.query = queried.last().first().value<ProcessedQuery>();
        page.rows = {processed(1)};
        page.rows[0].eventId = page.rows[0].eventType = page.rows[0].applicationId = page.rows[0].result = Hostile;
        events.showPage(page);
        events.table()->selectRow(0);
        events.showStory({Hostile, {{Noon, Hostile}}, {}});
        verifyPlain(events);

        DeadLettersPanel dead;
        dead.resize(1000, 700);
        dead.show();
        dead.setReady();
        DeadLetter bad = letter(Hostile);
        bad.eventType = bad.applicationId = bad.verdictText = bad.reason = bad.message.messageId = Hostile;
        bad.message.body = Hostile.toUtf8();
        DeadLetterList letters = list({bad});
        letters.error = Hostile;
        dead.showList(letters);
        dead.table()->selectRow(0);
        dead.showReplays({{Hostile, Hostile, ReplayItem::State::Failed, Hostile}});
        dead.showStory({Hostile, {}, Hostile});
        verifyPlain(dead);
        dead.setUnavailable(Hostile);
        verifyPlain(dead);

        MailboxPanel mailbox;
        mailbox.show();
        mailbox.setReady();
        MailRow row = mail(u"1"_s);
        row.to = row.subject = row.eventId = row.from = Hostile;
        mailbox.showSnapshot({{row}, 1, {}});
        mailbox.table()->selectRow(0);
        mailbox.showMail({row, {{Hostile, Hostile}}, Hostile, Hostile, Hostile.toUtf8(), {}});
        for (int part = 0; part < 4; ++part) {
            mailbox.findChild<QTabBar *>()->setCurrentIndex(part);
            verifyPlain(mailbox);
        }

        LogPanel log;
        log.show();
        log.append({{Noon, LogLevel::Error, Hostile, Hostile}});
        verifyPlain(log);

        SendPanel send;
        send.show();
        send.showReport({{}, Hostile, {Hostile}, Hostile});
        FaultRule rule;
        rule.text = rule.event = rule.recipient = rule.type = Hostile;
        send.showArmed({rule});
        verifyPlain(send);

        StatusLine status;
        status.show();
        status.showService({ServiceStatus::Service::Mail, ServiceStatus::Health::Failing, Hostile, Hostile});
        verifyPlain(status);

        // The pictures too: a cell of it is as high as any other, so nothing was laid out or loaded.
        QCOMPARE(events.table()->rowHeight(0), dead.table()->rowHeight(0));
        QVERIFY(!events.grab().isNull());
    }

    void aVeryLongLineDoesNotHurt()
    {
        LogPanel log;
        log.show();
        log.append({{Noon, LogLevel::Error, QString(1024 * 1024, u'x'), {}}});
        QVERIFY(log.model()->index(0, LogModel::Text).data().toString().size() < 2000);
        QVERIFY(!log.grab().isNull());
    }
};

QTEST_MAIN(TestPanels)
#include "tst_panels.moc"
