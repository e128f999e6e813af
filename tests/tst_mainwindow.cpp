#include "ui/auditpanel.h"
#include "ui/controlbar.h"
#include "ui/deadletteracts.h"
#include "ui/deadletterspanel.h"
#include "ui/doubtspanel.h"
#include "ui/faultspanel.h"
#include "ui/helpwindow.h"
#include "ui/logmodel.h"
#include "ui/logpanel.h"
#include "ui/mailboxpanel.h"
#include "ui/mainwindow.h"
#include "ui/matrixpanel.h"
#include "ui/notice.h"
#include "ui/paneldock.h"
#include "ui/plainlabel.h"
#include "ui/processedmodel.h"
#include "ui/processedpanel.h"
#include "ui/queuepanel.h"
#include "ui/rowtable.h"
#include "ui/scenariospanel.h"
#include "ui/searchfield.h"
#include "ui/sendpanel.h"
#include "ui/statusline.h"
#include "ui/theme.h"
#include "ui/windowactions.h"

#include <QAccessible>
#include <QAction>
#include <QApplication>
#include <QDialog>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using namespace Qt::StringLiterals;
using namespace sendonce;
using namespace std::chrono_literals;

namespace {

const QDateTime Noon = QDateTime::fromString(u"2026-03-01T12:00:00Z"_s, Qt::ISODate);

ProcessedRow processed(qint64 id)
{
    ProcessedRow row;
    row.id = id;
    row.eventId = u"23e48c51-7f0e-4b7e-8c55-%1"_s.arg(id, 12, 10, QLatin1Char('0'));
    row.eventType = u"application.status_changed"_s;
    row.processedAt = Noon;
    row.result = u"mailed"_s;
    row.applicationId = u"3"_s;
    return row;
}

DeadLetter letter(const QString &eventId)
{
    DeadLetter dead;
    dead.message.messageId = u"m-"_s + eventId;
    dead.message.body = "{\"event_id\":\"" + eventId.toUtf8() + "\"}";
    dead.eventId = eventId;
    dead.eventType = u"application.status_changed"_s;
    dead.verdict = Verdict::NotHandled;
    dead.reason = u"451 4.3.0 mail server down"_s;
    dead.receiveCount = 3;
    dead.diedAt = Noon;
    return dead;
}

Doubt doubt(const QString &eventId)
{
    Doubt doubt;
    doubt.eventId = eventId;
    doubt.eventType = u"application.status_changed"_s;
    doubt.applicationId = u"3"_s;
    doubt.reason = u"no complete final reply within 60 s"_s;
    doubt.mailReply = u"354 go ahead"_s;
    doubt.mailMessageId = u"5f2d81c09ab3@jobboard.example"_s;
    doubt.messageId = u"m-"_s + eventId;
    doubt.worker = u"mailhost pid 4711"_s;
    doubt.lane = 2;
    doubt.since = Noon;
    return doubt;
}

FaultRule mailsFail(int times, const QString &text = u"4.3.0 mail server down"_s)
{
    FaultRule rule;
    rule.times = times;
    rule.text = text;
    return rule;
}

/// A window that is fed as a worker would, with something in every panel.
class FedWindow : public MainWindow
{
public:
    FedWindow()
    {
        connect(this, &MainWindow::processedQueried, this, [this](const ProcessedQuery &query) {
            ProcessedPage page;
            page.query = query;
            if (query.afterId == 0) {
                for (int id = 50; id > 0; --id)
                    page.rows += processed(id);
            }
            showProcessedPage(page);
        });
        connect(this, &MainWindow::mailboxQueried, this, [this] {
            MailRow row;
            row.id = u"1"_s;
            row.eventId = processed(7).eventId;
            row.to = u"sam@example.com"_s;
            row.subject = u"Your application for Backend engineer at Acme is now: interview"_s;
            row.copies = 2;
            row.receivedAt = Noon;
            showMailbox({{row}, 1, {}});
        });
    }
    void feed()
    {
        for (const auto &[service, address] : {std::pair(ServiceStatus::Service::Queue, u"127.0.0.1:9324"_s),
                                               std::pair(ServiceStatus::Service::Database, u"SQLite sendonce.db"_s),
                                               std::pair(ServiceStatus::Service::Mail, u"127.0.0.1:1025"_s)})
            showService({service, ServiceStatus::Health::Ok, address, {}});
        showOpened();
        showState(WorkerState::Running);
        showInHand(3);
        QueueDepth depth;
        depth.visible = 12;
        depth.inFlight = 3;
        depth.delayed = 0;
        depth.deadLetters = 6;
        depth.sampledAt = QDateTime::currentDateTimeUtc();
        showDepth(depth);
        showCounters({1204, 97, 3, 1, 1});
        showArmed({mailsFail(2)});
        DeadLetterList letters;
        letters.letters = {letter(processed(7).eventId), letter(u"only-dead"_s)};
        letters.about = 2;
        letters.finished = true;
        letters.browsedAt = Noon;
        showDeadLetters(letters);
        DoubtList doubts;
        doubts.doubts = {doubt(u"only-doubted"_s), doubt(processed(7).eventId)};
        doubts.waiting = 2;
        doubts.maildir = u"/home/sam/.local/share/sendonce/mailbox"_s;
        showDoubts(doubts);
        addLogLine({Noon, LogLevel::Info, u"Emailed user 5 about application 3"_s, processed(7).eventId});
        addLogLine({Noon, LogLevel::Error, u"Failed to handle message"_s, u"only-dead"_s});
        addLogLine({Noon, LogLevel::Warning, u"gone"_s, u"nowhere"_s});
    }
};

QList<QAction *> menuActions(const QMenu *menu)
{
    QList<QAction *> result;
    for (QAction *action : menu->actions()) {
        if (action->menu())
            result += menuActions(action->menu());
        else if (!action->isSeparator())
            result += action;
    }
    return result;
}

QList<QAction *> menuActions(const QMainWindow &window)
{
    QList<QAction *> result;
    for (const QAction *action : window.menuBar()->actions())
        result += menuActions(action->menu());
    return result;
}

void press(QWidget &window, const QKeySequence &keys)
{
    QTest::keySequence(&window, keys);
}

QTabBar *dockTabs(const QMainWindow &window)
{
    const QList<QTabBar *> bars = window.findChildren<QTabBar *>(QString(), Qt::FindDirectChildrenOnly);
    for (QTabBar *bar : bars) {
        if (bar->isVisible())
            return bar;
    }
    return nullptr;
}

} // namespace

class TestMainWindow : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { applyTheme(*qApp, ThemeChoice::Light); }
    void init() { QTest::failOnWarning(QRegularExpression(u"^(?!This plugin does not support)"_s)); }
    void cleanup() { applyTheme(*qApp, ThemeChoice::Light); }

    /// A window is made before its theme is known, and its text size comes from the last start: every label must
    /// follow.
    void everyLabelFollowsTheTextSize()
    {
        MainWindow window;
        QList<std::pair<QLabel *, int>> before;
        for (QLabel *label : window.findChildren<QLabel *>())
            before.append({label, label->font().pixelSize()});
        QVERIFY(before.size() > 10);
        window.setTextPercent(150);
        for (const auto &[label, pixels] : before) {
            QVERIFY2(label->font().pixelSize() > pixels, qPrintable(label->text()));
        }
    }

    void aWiderWindowWidensTheTablesNotTheColumn()
    {
        MainWindow window;
        window.resize(1280, 800);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QTRY_COMPARE(window.queuePanel()->width(), 268);
        window.resize(1900, 1000);
        QTRY_COMPARE(window.width(), 1900);
        QTRY_COMPARE(window.queuePanel()->width(), 268);
        QVERIFY(window.processedPanel()->width() > 1500);
    }

    void shortcutsAreUnique()
    {
        MainWindow window;
        QHash<QString, QString> owners;
        for (const QAction *action : menuActions(window)) {
            for (const QKeySequence &keys : action->shortcuts()) {
                const QString text = keys.toString();
                QVERIFY2(!owners.contains(text),
                         qPrintable(u"%1: %2 and %3"_s.arg(text, owners.value(text), action->text())));
                owners.insert(text, action->text());
            }
        }
        for (const char *keys : {"F1", "F5", "Ctrl+F", "Ctrl+Q"})
            QVERIFY2(owners.contains(QLatin1StringView(keys)), keys);
    }

    void everyActionIsInAMenuWithAMnemonicOrShortcut()
    {
        MainWindow window;
        const QList<QAction *> inMenus = menuActions(window);
        for (const QAction *action : window.findChildren<QAction *>()) {
            // Actions of the widgets' own, such as of the docks and line edits, have no text of ours.
            if (action->text().isEmpty() || action->menu() || action->isSeparator()
                || qobject_cast<QDockWidget *>(action->parent()) || qobject_cast<QToolBar *>(action->parent())
                || qobject_cast<QLineEdit *>(action->parent()))
                continue;
            QVERIFY2(inMenus.contains(const_cast<QAction *>(action)), qPrintable(action->text()));
        }
        for (const QAction *action : inMenus) {
            const bool reachable =
                action->text().contains(u'&') || !action->shortcut().isEmpty() || action->text().startsWith("Show "_L1);
            QVERIFY2(reachable, qPrintable(action->text()));
        }
    }

    void mnemonicsAreUniqueInTheirMenu()
    {
        MainWindow window;
        QList<const QMenu *> menus;
        for (const QMenu *menu : window.findChildren<QMenu *>())
            menus += menu;
        for (const QMenu *menu : menus) {
            QSet<QChar> seen;
            for (const QAction *action : menu->actions()) {
                const qsizetype at = action->text().indexOf(u'&');
                if (at < 0)
                    continue;
                const QChar key = action->text().at(at + 1).toLower();
                QVERIFY2(!seen.contains(key), qPrintable(menu->title() + u": "_s + action->text()));
                seen.insert(key);
            }
        }
    }

    void helpNamesEveryPanelAndWorkspace()
    {
        MainWindow window;
        window.actions().help->trigger();
        const auto *help = window.findChild<HelpWindow *>();
        QVERIFY(help);
        // Of a sentence each; the keyboard's list names whatever has a shortcut.
        QString text;
        for (const PlainLabel *label : help->findChildren<PlainLabel *>()) {
            if (label->wordWrap())
                text += label->text() + u'\n';
        }
        QStringList names;
        for (const PanelDock *dock : window.findChildren<PanelDock *>())
            names += dock->plainTitle();
        QVERIFY(names.size() >= 12);
        for (const QAction *workspace : window.actions().workspaces->actions())
            names += workspace->text().remove(u'&') + u':';
        for (const QString &name : std::as_const(names))
            QVERIFY2(text.contains(QRegularExpression(u"\\b%1"_s.arg(name))), qPrintable(name));
    }

    void everyFocusableWidgetHasAName()
    {
        FedWindow window;
        window.show();
        window.feed();
        int focusable = 0;
        for (Panel *panel : std::initializer_list<Panel *>{
                 window.processedPanel(), window.deadLettersPanel(), window.doubtsPanel(), window.mailboxPanel(),
                 window.logPanel(), window.faultsPanel(), window.scenariosPanel(), window.matrixPanel()}) {
            window.bringForward(panel);
            if (panel->table())
                panel->table()->selectRow(0);
            window.sendPanel()->askToFailMails();
            QTest::qWait(60); // one round of coalesced updates
            for (QWidget *widget : window.findChildren<QWidget *>()) {
                // The line edit inside a spin box is reached as that spin box.
                if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisible()
                    || widget->objectName() == "qt_spinbox_lineedit"_L1)
                    continue;
                ++focusable;
                QAccessibleInterface *face = QAccessible::queryAccessibleInterface(widget);
                QVERIFY(face);
                QVERIFY2(
                    !face->text(QAccessible::Name).isEmpty(),
                    qPrintable(QLatin1StringView(widget->metaObject()->className()) + u' ' + widget->objectName()));
            }
        }
        QVERIFY(focusable > 40);
    }

    void nothingIsClippedAt1280x800_data()
    {
        QTest::addColumn<int>("textPercent");
        QTest::addColumn<QString>("panel");
        for (const int percent : {100, 150}) {
            for (const char *panel : {"Processed events", "Dead letters", "In doubt", "Mailbox", "Log", "Faults",
                                      "Scenarios", "Guarantee matrix"})
                QTest::addRow("%s at %d %%", panel, percent) << percent << QString(QLatin1StringView(panel));
        }
    }
    void nothingIsClippedAt1280x800()
    {
        QFETCH(int, textPercent);
        QFETCH(QString, panel);
        applyTheme(*qApp, ThemeChoice::Light, textPercent);
        FedWindow window;
        window.setTextPercent(textPercent);
        window.resize(1280, 800);
        window.show();
        window.feed();
        for (Panel *each : std::initializer_list<Panel *>{
                 window.processedPanel(), window.deadLettersPanel(), window.doubtsPanel(), window.mailboxPanel(),
                 window.logPanel(), window.faultsPanel(), window.scenariosPanel(), window.matrixPanel()}) {
            if (window.dockOf(each)->plainTitle() == panel) {
                window.bringForward(each);
                if (each->table())
                    each->table()->selectRow(0);
            }
        }
        window.sendPanel()->askToFailMails();
        QTest::qWait(150);
        QCOMPARE(window.size(), QSize(1280, 800)); // and not larger because something needs it
        int seen = 0;
        for (const QWidget *widget : window.findChildren<QWidget *>()) {
            if (!widget->isVisible())
                continue;
            if (const auto *label = qobject_cast<const QLabel *>(widget)) {
                const bool wraps = label->wordWrap();
                const QSize wanted = wraps ? QSize(0, label->heightForWidth(label->width())) : label->sizeHint();
                const bool elides =
                    label->minimumSizeHint().width() < label->sizeHint().width() && !wraps; // says "…" with a tool tip
                const bool fits = label->height() >= wanted.height() && (elides || label->width() >= wanted.width());
                QVERIFY2(fits,
                         qPrintable(u"label \"%1\" is %2x%3, wants %4x%5"_s.arg(label->text())
                                        .arg(label->width())
                                        .arg(label->height())
                                        .arg(wanted.width())
                                        .arg(wanted.height())));
                ++seen;
            } else if (const auto *button = qobject_cast<const QAbstractButton *>(widget)) {
                const QSize wanted = button->sizeHint();
                // The buttons of line edits and tab bars are drawn by those, as small as they are.
                if (qobject_cast<const QLineEdit *>(button->parentWidget())
                    || qobject_cast<const QTabBar *>(button->parentWidget()))
                    continue;
                QVERIFY2(button->width() >= wanted.width() && button->height() >= wanted.height(),
                         qPrintable(u"button \"%1\" is %2x%3, wants %4x%5"_s.arg(button->text())
                                        .arg(button->width())
                                        .arg(button->height())
                                        .arg(wanted.width())
                                        .arg(wanted.height())));
                ++seen;
            }
        }
        QVERIFY(seen > 25);
    }

    void theToolBarFollowsTheWorker()
    {
        MainWindow window;
        window.show();
        auto *start = window.findChild<QPushButton *>(u"start"_s);
        auto *stop = window.findChild<QPushButton *>(u"stop"_s);
        QSignalSpy started(&window, &MainWindow::startRequested);
        QSignalSpy stopped(&window, &MainWindow::stopRequested);
        QVERIFY(!start->isEnabled() && !stop->isEnabled()); // nothing is open yet
        window.showOpened();
        QVERIFY(start->isEnabled() && !stop->isEnabled());
        QTest::mouseClick(start, Qt::LeftButton);
        QCOMPARE(started.size(), 1);
        window.showState(WorkerState::Running);
        QVERIFY(!start->isEnabled() && stop->isEnabled());
        QTest::mouseClick(stop, Qt::LeftButton);
        QCOMPARE(stopped.size(), 1);
        window.showState(WorkerState::Stopping);
        QVERIFY(start->isEnabled() && !stop->isEnabled()); // start again after it
        window.showOpenFailed(u"the disk is full"_s);
        QVERIFY(!start->isEnabled());
        QCOMPARE(window.findChild<Notice *>()->text(), u"the disk is full"_s);
    }

    void thePillIsThereOnlyWhileSomethingIsArmed()
    {
        MainWindow window;
        window.show();
        window.showOpened();
        auto *pill = window.findChild<QPushButton *>(u"armed"_s);
        QSignalSpy disarmed(&window, &MainWindow::disarmRequested);
        QVERIFY(!pill->isVisible());
        window.showArmed({mailsFail(2, u"<b>down</b>"_s)});
        QVERIFY(pill->isVisible());
        QCOMPARE(pill->text(), u"Next 2 mails fail · disarm"_s);
        QVERIFY2(pill->toolTip().contains(u"&lt;b&gt;down"_s), qPrintable(pill->toolTip()));
        QTest::mouseClick(pill, Qt::LeftButton);
        QCOMPARE(disarmed.size(), 1);
        window.showArmed({mailsFail(1)});
        QCOMPARE(pill->text(), u"Next mail fails · disarm"_s);
        window.showArmed({});
        QVERIFY(!pill->isVisible());
    }

    void shortcutsDoTheActs()
    {
        FedWindow window;
        window.show();
        window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        window.feed();
        window.showState(WorkerState::Stopped);
        QSignalSpy started(&window, &MainWindow::startRequested);
        QSignalSpy sent(&window, &MainWindow::sendRequested);
        QSignalSpy duplicated(&window, &MainWindow::injectDuplicateRequested);
        QSignalSpy failed(&window, &MainWindow::failNextMailsRequested);
        QSignalSpy browsed(&window, &MainWindow::browseRequested);
        QSignalSpy replayed(window.letterActs(), &DeadLetterActs::replayOrdered);
        press(window, QKeySequence(u"Ctrl+R"_s));
        QCOMPARE(started.size(), 1);
        press(window, QKeySequence(u"Ctrl+N"_s));
        QCOMPARE(sent.size(), 1);
        press(window, QKeySequence(u"Ctrl+D"_s));
        QCOMPARE(duplicated.size(), 1);
        press(window, QKeySequence(u"Ctrl+M"_s));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
        QCOMPARE(failed.size(), 1);
        press(window, QKeySequence(u"Ctrl+4"_s));
        QCOMPARE(window.frontPanel(), window.deadLettersPanel());
        window.deadLettersPanel()->table()->selectAll();
        press(window, QKeySequence(u"Ctrl+Return"_s));
        auto *asked = window.findChild<QDialog *>(u"replayDialog"_s);
        QVERIFY(asked && QTest::qWaitForWindowActive(asked));
        QTest::keyClick(asked, Qt::Key_Return);
        QCOMPARE(replayed.size(), 1);
        QCOMPARE(replayed.first().first().value<ReplayOrder>().messageIds.size(), 2);
        QTRY_VERIFY(window.isActiveWindow());
        press(window, QKeySequence(u"Ctrl+B"_s));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
        QCOMPARE(browsed.size(), 1);
    }

    void ctrlFSearchesThePanelInFrontAndEscEmptiesIt()
    {
        FedWindow window;
        window.show();
        window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        window.feed();
        for (Panel *panel : std::initializer_list<Panel *>{window.processedPanel(), window.deadLettersPanel(),
                                                           window.mailboxPanel(), window.logPanel()}) {
            window.bringForward(panel);
            QCOMPARE(window.frontPanel(), panel);
            press(window, QKeySequence(u"Ctrl+F"_s));
            QVERIFY(panel->searchField()->hasFocus());
            QTest::keyClicks(panel->searchField(), u"abc"_s);
            QTest::keyClick(panel->searchField(), Qt::Key_Escape);
            QVERIFY(panel->searchField()->text().isEmpty());
            QTest::keyClick(panel->searchField(), Qt::Key_Escape);
            QVERIFY(panel->table()->hasFocus());
        }
    }

    void oneSelectionEverywhere()
    {
        FedWindow window;
        window.show();
        window.feed();
        const QString eventId = processed(7).eventId;
        QSignalSpy selected(&window, &MainWindow::eventSelected);
        QSignalSpy stories(&window, &MainWindow::storyRequested);
        QTRY_COMPARE(window.logPanel()->model()->rowCount(), 3);
        window.bringForward(window.mailboxPanel());
        QTRY_COMPARE(window.mailboxPanel()->table()->model()->rowCount(), 1);
        window.mailboxPanel()->table()->selectRow(0);
        QCOMPARE(selected.size(), 1);
        QCOMPARE(selected.first().first().toString(), eventId);
        QCOMPARE(window.processedPanel()->table()->currentEventId(), eventId);
        QCOMPARE(window.deadLettersPanel()->table()->currentEventId(), eventId);
        window.showStory({eventId, {{Noon, u"received 1 of 3"_s}}, {}});
        for (const auto &asked : stories)
            QCOMPARE(asked.first().toString(), eventId);
        // Something happens to it: the story is read again, once for the burst.
        const qsizetype before = stories.size();
        DeliveryReport report;
        report.eventId = eventId;
        for (int i = 0; i < 100; ++i)
            window.addDelivery(report);
        QTRY_COMPARE(stories.size(), before + 1);
    }

    void theLogJumpsToWhereTheEventIs()
    {
        FedWindow window;
        window.show();
        window.feed();
        QTRY_COMPARE(window.logPanel()->model()->rowCount(), 3);
        Q_EMIT window.logPanel()->jumpRequested(u"only-dead"_s);
        QCOMPARE(window.frontPanel(), window.deadLettersPanel());
        Q_EMIT window.logPanel()->jumpRequested(processed(3).eventId);
        QCOMPARE(window.frontPanel(), window.processedPanel());
        QCOMPARE(window.processedPanel()->table()->currentEventId(), processed(3).eventId);
        Q_EMIT window.logPanel()->jumpRequested(u"nowhere"_s);
        QCOMPARE(window.processedPanel()->searchField()->text(), u"nowhere"_s);
    }

    void burstsAreCoalesced()
    {
        MainWindow window;
        window.show();
        window.showOpened();
        QSignalSpy inserted(window.logPanel()->model(), &QAbstractItemModel::rowsInserted);
        QElapsedTimer timer;
        timer.start();
        int sent = 0;
        while (timer.elapsed() < 500) {
            for (int i = 0; i < 50; ++i, ++sent)
                window.addLogLine({Noon, LogLevel::Info, u"line"_s, {}});
            window.showCounters({sent, 0, 0, 0, 0});
            QCoreApplication::processEvents();
        }
        QTRY_COMPARE(window.logPanel()->model()->rowCount(), std::min(sent, LogModel::Bound));
        QVERIFY2(inserted.size() <= 12, qPrintable(QString::number(inserted.size()))); // 20 a second, and one
        QTRY_VERIFY(window.findChild<StatusLine *>()->countersText().startsWith("sent"_L1));
    }

    void tabsCountDeadLettersAndDocksTabbedHaveNoTitle()
    {
        FedWindow window;
        window.show();
        window.feed();
        QTRY_VERIFY(dockTabs(window));
        QTabBar *tabs = dockTabs(window);
        QCOMPARE(tabs->count(), 9);
        QTRY_COMPARE(tabs->tabText(1), u"Dead letters (6)"_s);
        QTRY_COMPARE(tabs->tabText(2), u"In doubt (2)"_s);
        QCOMPARE(tabs->accessibleName(), u"Panels"_s);
        QTRY_COMPARE(window.dockOf(window.processedPanel())->titleBarWidget()->height(), 0);
        QVERIFY(window.dockOf(window.queuePanel())->titleBarWidget()->height() > 10);
        PanelDock *log = window.dockOf(window.logPanel());
        log->setFloating(true);
        QTRY_VERIFY(log->titleBarWidget()->height() > 10);
        window.resetLayout();
        QTRY_COMPARE(log->titleBarWidget()->height(), 0);
        QVERIFY(!log->isFloating());
        QTRY_COMPARE(dockTabs(window)->count(), 9);
        QCOMPARE(window.height(), 800); // not as high as all panels over one another
    }

    void workspacesArrangeThePanelsForWhatSomebodyIsHereFor()
    {
        FedWindow window;
        window.show();
        window.feed();
        const auto shown = [&window] {
            QStringList names;
            for (const PanelDock *dock : window.findChildren<PanelDock *>()) {
                if (dock->isVisible() && !dock->panel()->visibleRegion().isEmpty())
                    names += dock->plainTitle();
            }
            names.sort();
            return names;
        };
        const auto isOffered = [&window](const Panel *panel) { return !window.dockOf(panel)->isHidden(); };
        window.actions().demo->trigger();
        QTRY_COMPARE(shown(), QStringList({u"Log"_s, u"Mailbox"_s, u"Queue"_s, u"Scenarios"_s, u"Send and inject"_s}));
        QVERIFY(window.dockOf(window.scenariosPanel())->y() < window.dockOf(window.logPanel())->y());
        QVERIFY(!isOffered(window.faultsPanel()));
        const auto widthOf = [&window](const Panel *panel) { return window.dockOf(panel)->width(); };
        QTRY_VERIFY(std::abs(widthOf(window.mailboxPanel()) - widthOf(window.logPanel())) <= 2);
        QVERIFY(std::abs(widthOf(window.queuePanel()) - 268) <= 2);
        window.actions().support->trigger();
        QTRY_COMPARE(shown(), QStringList({u"Dead letters"_s, u"Queue"_s}));
        for (const Panel *panel : std::initializer_list<Panel *>{window.faultsPanel(), window.scenariosPanel(),
                                                                 window.matrixPanel(), window.sendPanel()})
            QVERIFY(!isOffered(panel));
        QVERIFY(isOffered(window.processedPanel()) && isOffered(window.auditPanel()));
        window.actions().testing->trigger();
        QTRY_COMPARE(shown(), QStringList({u"Faults"_s, u"Log"_s, u"Queue"_s, u"Send and inject"_s}));
        QVERIFY(isOffered(window.scenariosPanel()) && isOffered(window.matrixPanel()));
        // What is hidden has its place, beside the others as a tab.
        window.bringForward(window.auditPanel());
        QTRY_VERIFY(!window.auditPanel()->visibleRegion().isEmpty());
        QVERIFY(window.tabifiedDockWidgets(window.dockOf(window.auditPanel()))
                    .contains(window.dockOf(window.faultsPanel())));
        window.resetLayout();
        QTRY_COMPARE(shown(), QStringList({u"Processed events"_s, u"Queue"_s, u"Send and inject"_s}));
        QTRY_COMPARE(dockTabs(window)->count(), 9);
        QTRY_VERIFY(std::abs(window.queuePanel()->width() - 268) <= 2);
        QCOMPARE(window.size(), QSize(1280, 800));
    }

    void theArrangementIsThereAgainAtTheNextStart()
    {
        QTemporaryDir folder;
        {
            MainWindow window;
            window.keepStateIn(folder.path());
            window.show();
            window.actions().testing->trigger();
            QVERIFY(window.close());
        }
        MainWindow window;
        window.keepStateIn(folder.path());
        window.show();
        QTRY_VERIFY(!window.faultsPanel()->visibleRegion().isEmpty() && !window.logPanel()->visibleRegion().isEmpty());
        QVERIFY(window.processedPanel()->visibleRegion().isEmpty());
        window.close();
    }

    void theLeftColumnHasItsWidth()
    {
        MainWindow window;
        window.show();
        QTRY_VERIFY(std::abs(window.dockOf(window.queuePanel())->width() - 268) <= 2);
        QVERIFY(window.dockOf(window.sendPanel())->y() > window.dockOf(window.queuePanel())->y());
    }

    void closingWaitsForTheWorker()
    {
        MainWindow window;
        window.show();
        QSignalSpy closing(&window, &MainWindow::closeRequested);
        QVERIFY(!window.close());
        QCOMPARE(closing.size(), 1);
        QVERIFY(window.isVisible());
        QVERIFY(window.findChild<Curtain *>()->isVisible());
        QVERIFY(!window.close()); // asked again: nothing new
        QCOMPARE(closing.size(), 1);
        window.workerClosed();
        QVERIFY(!window.isVisible());
    }

    void closingWaitsNoLongerThanItsBound()
    {
        MainWindow window;
        window.setCloseBound(50ms);
        window.show();
        QSignalSpy closing(&window, &MainWindow::closeRequested);
        QVERIFY(!window.close());
        QTRY_VERIFY(!window.isVisible());
    }

    void aWindowWithoutAWorkerClosesAtOnce()
    {
        MainWindow window;
        window.show();
        QVERIFY(window.close());
    }

    void themeAndTextSizeAreKept()
    {
        QTemporaryDir folder;
        {
            MainWindow window;
            window.keepStateIn(folder.path());
            window.setTheme(ThemeChoice::Dark);
            window.setTextPercent(125);
        }
        applyTheme(*qApp, ThemeChoice::Light);
        const int pixels = qApp->font().pixelSize();
        MainWindow window;
        window.keepStateIn(folder.path());
        QCOMPARE(&tokensOf(qApp->palette()), &darkTokens());
        QCOMPARE(qApp->font().pixelSize(), qRound(pixels * 1.25));
        window.show();
        window.close();
    }

    void theProfileIsOnScreen()
    {
        MainWindow window({.profile = u"Staging"_s,
                           .profileTone = Tone::InDoubt,
                           .embedded = false,
                           .queueName = u"jobs"_s,
                           .strategy = {}});
        window.show();
        QCOMPARE(window.windowTitle(), u"Sendonce — Staging"_s);
        window.showOpened();
        QVERIFY(!window.actions().failMails->isEnabled());
        window.showProfile({});
        QCOMPARE(window.windowTitle(), u"Sendonce — Local"_s);
        QVERIFY(window.actions().failMails->isEnabled());
    }

    void theFirstPictureIsFast()
    {
        QElapsedTimer timer;
        timer.start();
        MainWindow window;
        window.show();
        QVERIFY(!window.grab().isNull());
        QVERIFY2(timer.elapsed() < 1500,
                 qPrintable(QString::number(timer.elapsed()))); // with room for a slow or sanitized run
    }
};

QTEST_MAIN(TestMainWindow)
#include "tst_mainwindow.moc"
