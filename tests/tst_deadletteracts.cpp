#include "tests/world/consoleworld.h"
#include "ui/actdialog.h"
#include "ui/deadletteracts.h"
#include "ui/displaytext.h"
#include "ui/doubtspanel.h"
#include "ui/figuretile.h"
#include "ui/letteractions.h"
#include "ui/letterfacets.h"
#include "ui/letterfiltermenu.h"
#include "ui/plainlabel.h"
#include "ui/plaintextview.h"
#include "ui/processedpanel.h"
#include "ui/queuepanel.h"
#include "ui/runstrip.h"
#include "ui/theme.h"
#include "ui/windowactions.h"

#include <QAction>
#include <QCheckBox>
#include <QContextMenuEvent>
#include <QLayout>
#include <QLineEdit>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStatusBar>
#include <QStatusTipEvent>
#include <QStyle>
#include <QTextDocumentFragment>
#include <QtSql/QSqlDatabase>
#include <QtSql/QSqlError>
#include <QtSql/QSqlQuery>

using namespace sendonce;
using namespace sendonce::world;
using namespace Qt::StringLiterals;

namespace {

const QDateTime Noon = QDateTime::fromString(u"2026-03-01T12:00:00Z"_s, Qt::ISODate);
const QString Outage = u"451 4.3.0 mail server down"_s;
const QString NoMailbox = u"550 5.1.1 <kim@example.com> no such mailbox"_s;
const QString ReadOnly = u"read-only"_s;

DeadLetter letter(const QString &id, Verdict verdict, const QString &reason = Outage)
{
    DeadLetter dead;
    dead.message.messageId = u"m-"_s + id;
    dead.eventId = id;
    dead.eventType = u"application.status_changed"_s;
    dead.applicationId = u"3"_s;
    dead.verdict = verdict;
    dead.reason = reason;
    dead.receiveCount = 3;
    dead.diedAt = Noon;
    return dead;
}

/// Two reasons, and behind the first of them every verdict that has a forecast of its own.
QList<DeadLetter> twoReasons()
{
    return {letter(u"a"_s, Verdict::NotHandled),
            letter(u"x"_s, Verdict::NotHandled, NoMailbox),
            letter(u"b"_s, Verdict::Handled),
            letter(u"c"_s, Verdict::Invalid),
            letter(u"y"_s, Verdict::InDoubt, NoMailbox),
            letter(u"d"_s, Verdict::NotHandled)};
}

DeadLetterList listOf(const QList<DeadLetter> &letters, quint64 browse = 1)
{
    DeadLetterList list;
    list.letters = letters;
    list.browse = browse;
    list.seen = list.about = letters.size();
    list.finished = true;
    list.browsedAt = Noon;
    return list;
}

/// The window as a worker would feed it.
class FedWindow : public MainWindow
{
public:
    explicit FedWindow(const WindowSetup &setup = {}) : MainWindow(setup)
    {
        resize(1400, 900);
        show();
        letterActs()->setQueueNames({u"job-board-events"_s, u"job-board-events-dlq"_s, 3});
        showMoveTasks({MoveTaskSupport::Answer::Yes, {}});
        showState(WorkerState::Stopped);
        showOpened();
        bringForward(deadLettersPanel());
    }

    QAction *action(LetterAct act) const { return deadLettersPanel()->acts()->of(act); }
    ActDialog *dialog(const char *name) const
    {
        for (auto *each : findChildren<ActDialog *>(QString::fromLatin1(name))) {
            if (each->isVisible())
                return each;
        }
        return nullptr;
    }
    LetterFacets *groups() const { return deadLettersPanel()->findChild<LetterFacets *>(); }
    QString verdictOf(const QString &eventId) const
    {
        const auto *model = deadLettersPanel()->model();
        return model->index(model->rowOfEvent(eventId), DeadLettersModel::Verdict).data().toString();
    }

    /// The look has ended; groups are shown.
    void showLetters(const QList<DeadLetter> &letters)
    {
        showDeadLetters(listOf(letters));
        if (!groups()->isVisible())
            deadLettersPanel()->filterMenu()->actions().first()->trigger();
        QTRY_VERIFY(groups()->isVisible() && groups()->width() > 100 && groups()->count() > 0);
    }
};

template <typename T = QPushButton>
T *in(const QWidget *parent, const char *name)
{
    auto *found = parent ? parent->findChild<T *>(QLatin1StringView(name)) : nullptr;
    if (!found)
        qFatal("no %s", name);
    return found;
}

void click(const QWidget *parent, const char *name)
{
    QVERIFY2(in(parent, name)->isEnabled() && in(parent, name)->isVisible(), name);
    QTest::mouseClick(in(parent, name), Qt::LeftButton);
}

/// The menu that a right click on this line of the groups opens.
QMenu *menuOf(const FedWindow &window, const QString &group)
{
    LetterFacets *groups = window.groups();
    const QList<QListWidgetItem *> found = groups->findItems(group, Qt::MatchExactly);
    if (found.isEmpty())
        return nullptr;
    groups->scrollToItem(found.first());
    const QPoint at = groups->visualItemRect(found.first()).center();
    QTest::mouseClick(groups->viewport(), Qt::RightButton, {}, at);
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, groups->viewport()->mapToGlobal(at));
    QApplication::sendEvent(groups->viewport(), &event);
    for (QMenu *menu : groups->findChildren<QMenu *>()) {
        if (menu->isVisible())
            return menu;
    }
    return nullptr;
}

void choose(QMenu *menu, const QString &text)
{
    QVERIFY(menu);
    for (QAction *action : menu->actions()) {
        if (action->text().remove(u'&') == text) {
            QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
            return;
        }
    }
    QFAIL(qPrintable(u"no entry “%1”"_s.arg(text)));
}

QString plain(const QString &toolTip)
{
    return QTextDocumentFragment::fromHtml(toolTip).toPlainText();
}

QColor colourOf(const QLabel *label)
{
    return label->palette().color(label->foregroundRole());
}

} // namespace

/// What is asked before an act on dead letters, and what it asks for then. Where the worker is not what is tested, the
/// window is fed by hand; clean-up and move tasks have the true worker and services behind them.
class TestDeadLetterActs : public QObject
{
    Q_OBJECT

    std::unique_ptr<ConsoleWorld> m_world;

    /// In the table of the world's job board.
    QVariant sql(const QString &statement) const
    {
        QVariant first;
        {
            QSqlDatabase database = QSqlDatabase::addDatabase(u"QSQLITE"_s, u"test"_s);
            database.setConnectOptions(u"QSQLITE_BUSY_TIMEOUT=10000"_s);
            database.setDatabaseName(m_world->dir->filePath(u"sendonce.db"_s));
            if (!database.open())
                qWarning("%s", qPrintable(database.lastError().text()));
            QSqlQuery query(database);
            if (!query.exec(statement))
                qWarning("%s", qPrintable(query.lastError().text()));
            if (query.next())
                first = query.value(0);
        }
        QSqlDatabase::removeDatabase(u"test"_s);
        return first;
    }

private Q_SLOTS:
    void initTestCase() { applyTheme(*qApp, ThemeChoice::Light); }
    void init() { QTest::failOnWarning(QRegularExpression(u"^(?!This plugin does not support)"_s)); }
    void cleanup() { m_world.reset(); }

    // ---- a group

    void aGroupsReplayIsOfExactlyItsLettersFrozenAtTheQuestion()
    {
        FedWindow window;
        window.showLetters(twoReasons());
        QSignalSpy ordered(window.letterActs(), &DeadLetterActs::replayOrdered);
        choose(menuOf(window, Outage), u"Replay this group…"_s);
        ActDialog *dialog = window.dialog("replayDialog");
        QVERIFY(dialog);
        QCOMPARE(dialog->windowTitle(), u"Replay 4 dead letters?"_s);
        QVERIFY2(dialog->words().startsWith(u"2 will send, 1 will be skipped, 1 will fail again.\n"_s),
                 qPrintable(dialog->words()));
        QCOMPARE(in(dialog, "yes")->text(), u"Replay 4"_s);
        QCOMPARE(ordered.size(), 0);

        // One more of the group dies, one of it is judged anew, and one is gone at the next look.
        QList<DeadLetter> later = twoReasons();
        later.removeLast();
        later += letter(u"late"_s, Verdict::NotHandled);
        window.showDeadLetters(listOf(later, 2));
        window.updateDeadLetters({letter(u"b"_s, Verdict::NotHandled), letter(u"late"_s, Verdict::Handled)});
        QCOMPARE(dialog->windowTitle(), u"Replay 4 dead letters?"_s);
        QVERIFY2(dialog->words().startsWith(u"3 will send, 1 will fail again.\n"_s), qPrintable(dialog->words()));

        click(dialog, "yes");
        QCOMPARE(ordered.size(), 1);
        const auto order = ordered.first().first().value<ReplayOrder>();
        QCOMPARE(order.messageIds, QStringList({u"m-a"_s, u"m-b"_s, u"m-c"_s, u"m-d"_s}));
        QVERIFY(!order.canary);
        QCOMPARE(order.stopAfter, 0);
        QVERIFY(!window.dialog("replayDialog"));
        window.deadLettersPanel()->setFilter({}); // all, to see which are locked
        QCOMPARE(window.deadLettersPanel()->model()->rowCount(), 6);
        for (const QString &id : {u"a"_s, u"b"_s, u"c"_s})
            QVERIFY2(window.verdictOf(id).startsWith(u"locked"_s), qPrintable(window.verdictOf(id)));
        for (const QString &id : {u"x"_s, u"y"_s, u"late"_s})
            QVERIFY2(!window.verdictOf(id).startsWith(u"locked"_s), qPrintable(window.verdictOf(id)));
    }

    void aGroupsReplayThatIsCancelledAsksForNothing_data()
    {
        QTest::addColumn<bool>("byKey");
        QTest::newRow("Cancel") << false;
        QTest::newRow("Escape") << true;
    }
    void aGroupsReplayThatIsCancelledAsksForNothing()
    {
        QFETCH(bool, byKey);
        FedWindow window;
        window.showLetters(twoReasons());
        QSignalSpy ordered(window.letterActs(), &DeadLetterActs::replayOrdered);
        choose(menuOf(window, Outage), u"Replay this group…"_s);
        ActDialog *dialog = window.dialog("replayDialog");
        QVERIFY(dialog);
        if (byKey)
            QTest::keyClick(dialog, Qt::Key_Escape);
        else
            click(dialog, "no");
        QTRY_VERIFY(!window.findChild<ActDialog *>(u"replayDialog"_s)); // gone, not hidden
        QCOMPARE(ordered.size(), 0);
        window.deadLettersPanel()->setFilter({});
        QCOMPARE(window.deadLettersPanel()->shownIds().size(), 6); // none is locked
    }

    void aRightClickOnAGroupFiltersNothing()
    {
        FedWindow window;
        window.showLetters(twoReasons());
        QMenu *menu = menuOf(window, Outage);
        QVERIFY(menu);
        menu->close();
        QCOMPARE(window.deadLettersPanel()->shownIds().size(), 6);
    }

    void aGroupIsDeletedAndExportedAsAWhole()
    {
        FedWindow window;
        window.showLetters(twoReasons());
        QSignalSpy deleted(window.letterActs(), &DeadLetterActs::deleteRequested);
        QSignalSpy exported(window.letterActs(), &DeadLetterActs::exportRequested);
        const QStringList group{u"m-x"_s, u"m-y"_s};
        const QString name = u"550 5.1.1 <…> no such mailbox"_s;

        choose(menuOf(window, name), u"Export this group…"_s);
        ActDialog *dialog = window.dialog("exportDialog");
        QVERIFY(dialog);
        QCOMPARE(dialog->windowTitle(), u"Export 2 dead letters"_s);
        in<QLineEdit>(dialog, "filePath")->setText(u"/nowhere/out.jsonl"_s);
        click(dialog, "yes");
        QCOMPARE(exported.size(), 1);
        QCOMPARE(exported.first().first().toStringList(), group);
        dialog->close();

        choose(menuOf(window, name), u"Delete this group…"_s);
        dialog = window.dialog("deleteDialog");
        QVERIFY(dialog);
        QCOMPARE(dialog->windowTitle(), u"Delete 2 dead letters?"_s);
        click(dialog, "no");
        QCOMPARE(deleted.size(), 0);
        choose(menuOf(window, name), u"Delete this group…"_s);
        click(window.dialog("deleteDialog"), "yes");
        QCOMPARE(deleted.size(), 1);
        QCOMPARE(deleted.first().first().toStringList(), group);
    }

    /// What is on its way, or gone already, is acted on by no other button either.
    void aGroupsReplayLeavesOutWhatIsUnderWay()
    {
        FedWindow window;
        window.showLetters(twoReasons());
        window.showReplays({{u"m-a"_s, u"a"_s, ReplayItem::State::Mailed, u"mailed"_s, 1},
                            {u"m-b"_s, u"b"_s, ReplayItem::State::Sending, {}, 1}});
        choose(menuOf(window, Outage), u"Replay this group…"_s);
        const ActDialog *dialog = window.dialog("replayDialog");
        QVERIFY(dialog);
        QCOMPARE(in(dialog, "yes")->text(), u"Replay 2"_s);
    }

    void aGroupThatIsAllUnderWayOffersNothing()
    {
        FedWindow window;
        window.showLetters(twoReasons());
        window.showReplays({{u"m-x"_s, u"x"_s, ReplayItem::State::Sending, {}, 1},
                            {u"m-y"_s, u"y"_s, ReplayItem::State::Mailed, u"mailed"_s, 1}});
        QMenu *menu = menuOf(window, u"550 5.1.1 <…> no such mailbox"_s);
        QVERIFY(menu);
        for (const QAction *action : menu->actions()) {
            QVERIFY2(!action->isEnabled(), qPrintable(action->text()));
            QCOMPARE(action->toolTip(), u"All of this group are under way, or gone"_s);
        }
        menu->close();
    }

    void aGroupCanBeActedOnOnlyWhenEveryLetterCan_data()
    {
        QTest::addColumn<bool>("readOnly");
        QTest::newRow("read-only profile") << true;
        QTest::newRow("while a look is under way") << false;
    }
    void aGroupCanBeActedOnOnlyWhenEveryLetterCan()
    {
        QFETCH(bool, readOnly);
        WindowSetup setup;
        setup.readOnly = readOnly;
        FedWindow window(setup);
        window.showLetters(twoReasons());
        if (!readOnly) {
            DeadLetterList begun = listOf(twoReasons().mid(0, 4), 2);
            begun.finished = false;
            window.showDeadLetters(begun);
        }
        QVERIFY(!window.action(LetterAct::Replay)->isEnabled());
        QMenu *menu = menuOf(window, Outage);
        QVERIFY(menu);
        for (const QAction *action : menu->actions()) {
            if (readOnly && action->text().contains(u"xport"_s))
                continue; // looks
            QVERIFY2(!action->isEnabled(), qPrintable(action->text()));
        }
        menu->close();
    }

    // ---- verdicts

    void everyVerdictIsSaidInItsRow_data()
    {
        QTest::addColumn<Verdict>("verdict");
        QTest::addColumn<QString>("words");
        QTest::addColumn<QString>("forecast");
        QTest::addColumn<Tone>("tone");
        QTest::newRow("not handled") << Verdict::NotHandled << u"not handled · a replay sends"_s << u"1 will send."_s
                                     << Tone::Failed;
        QTest::newRow("handled") << Verdict::Handled << u"handled · a replay is skipped"_s << u"1 will be skipped."_s
                                 << Tone::Sent;
        QTest::newRow("in doubt") << Verdict::InDoubt << u"in doubt · perhaps mailed"_s
                                  << u"1 in doubt: perhaps a second e-mail."_s << Tone::InDoubt;
        QTest::newRow("unknown") << Verdict::Unknown << u"unknown · a replay may mail again"_s
                                 << u"1 unknown: perhaps a second e-mail."_s << Tone::Muted;
        QTest::newRow("invalid") << Verdict::Invalid << u"invalid · a replay will fail again"_s
                                 << u"1 will fail again."_s << Tone::Dead;
    }
    void everyVerdictIsSaidInItsRow()
    {
        QFETCH(Verdict, verdict);
        QFETCH(QString, words);
        QFETCH(Tone, tone);
        FedWindow window;
        window.showLetters({letter(u"a"_s, verdict)});
        const auto *model = window.deadLettersPanel()->model();
        const QModelIndex glyph = model->index(0, DeadLettersModel::Glyph);
        QCOMPARE(window.verdictOf(u"a"_s), words);
        QCOMPARE(glyph.data(Qt::AccessibleTextRole).toString(), words); // the glyph is never alone
        QCOMPARE(plain(glyph.data(Qt::ToolTipRole).toString()), words);
        QCOMPARE(model->index(0, DeadLettersModel::Verdict).data(ToneRole).value<int>(), int(tone));

        click(window.deadLettersPanel(), "replay");
        ActDialog *dialog = window.dialog("replayDialog");
        QVERIFY(dialog);
        QTEST(dialog->words().section(u'\n', 0, 0), "forecast");
        QCOMPARE(dialog->windowTitle(), u"Replay 1 dead letter?"_s);
        dialog->close();

        // The worker's own words stand there instead, where it has some.
        DeadLetter told = letter(u"a"_s, verdict);
        told.verdictText = u"as of 14:02:11 · by mailhost"_s;
        window.updateDeadLetters({told});
        QCOMPARE(window.verdictOf(u"a"_s), told.verdictText);
    }

    /// The column is wide enough for each of them at a window of the usual size, and at the smallest one.
    void everyVerdictIsReadWhole_data()
    {
        QTest::addColumn<QSize>("size");
        QTest::newRow("usual") << QSize(1920, 1080);
        QTest::newRow("smallest") << QSize(1280, 800);
    }
    void everyVerdictIsReadWhole()
    {
        QFETCH(QSize, size);
        FedWindow window;
        window.resize(size);
        window.showLetters({letter(u"a"_s, Verdict::NotHandled), letter(u"b"_s, Verdict::Handled),
                            letter(u"c"_s, Verdict::InDoubt), letter(u"d"_s, Verdict::Unknown),
                            letter(u"e"_s, Verdict::Invalid)});
        const RowTable *table = window.deadLettersPanel()->table();
        int widest = 0;
        for (const QString &id : {u"a"_s, u"b"_s, u"c"_s, u"d"_s, u"e"_s})
            widest = std::max(widest, table->fontMetrics().horizontalAdvance(window.verdictOf(id)));
        QVERIFY(widest <= table->columnWidth(DeadLettersModel::Verdict));
    }

    void theQuestionCountsEveryVerdict()
    {
        FedWindow window;
        DeadLetter forgotten = letter(u"f"_s, Verdict::Unknown);
        forgotten.forgotten = true;
        window.showLetters({letter(u"a"_s, Verdict::NotHandled), letter(u"b"_s, Verdict::Handled),
                            letter(u"c"_s, Verdict::InDoubt), letter(u"d"_s, Verdict::Unknown),
                            letter(u"e"_s, Verdict::Invalid), letter(u"a2"_s, Verdict::NotHandled), forgotten});
        QSignalSpy ordered(window.letterActs(), &DeadLetterActs::replayOrdered);
        click(window.deadLettersPanel(), "replay"); // nothing chosen: all
        ActDialog *dialog = window.dialog("replayDialog");
        QVERIFY(dialog);
        QCOMPARE(dialog->words().section(u'\n', 0, 0),
                 u"2 will send, 1 will be skipped, 1 will fail again, 1 in doubt: perhaps a second e-mail, "
                 "1 unknown: perhaps a second e-mail, 1 forgotten: stopped unless you give a reason."_s);
        auto *reason = in<QLineEdit>(dialog, "replayReason");
        QVERIFY(reason->isVisible());
        QTest::keyClicks(reason, u"checked by phone"_s);
        click(dialog, "yes");
        QCOMPARE(ordered.size(), 1);
        const auto order = ordered.first().first().value<ReplayOrder>();
        QCOMPARE(order.messageIds.size(), 7);
        QCOMPARE(order.overrideReason, u"checked by phone"_s);
    }

    // ---- move tasks

    void aMoveTaskIsFollowedAndCancelled()
    {
        FedWindow window;
        QSignalSpy queried(window.letterActs(), &DeadLetterActs::moveTaskQueried);
        QSignalSpy started(window.letterActs(), &DeadLetterActs::moveTaskStarted);
        QSignalSpy cancelled(window.letterActs(), &DeadLetterActs::moveTaskCancelled);
        const auto show = [&window](MoveTaskProgress::State state, int moved, bool canCancel = false) {
            MoveTaskProgress progress;
            progress.state = state;
            progress.moved = moved;
            progress.toMove = 10;
            progress.canCancel = canCancel;
            window.letterActs()->showMoveTask(progress);
        };
        using State = MoveTaskProgress::State;
        window.action(LetterAct::MoveAll)->trigger();
        ActDialog *dialog = window.dialog("moveDialog");
        QVERIFY(dialog);
        QTRY_COMPARE(queried.size(), 1);
        window.letterActs()->showMoveTask({}); // there never was one
        const auto *bar = in<QProgressBar>(dialog, "moveBar");
        const auto *cancel = in(dialog, "moveCancel");
        QVERIFY(bar->isHidden());
        QVERIFY(!cancel->isEnabled());

        QTest::mouseClick(in<QCheckBox>(dialog, "moveLimit"), Qt::LeftButton, {}, QPoint(8, 8));
        in<QSpinBox>(dialog, "movePerSecond")->setValue(5);
        click(dialog, "yes");
        QCOMPARE(started.size(), 1);
        QCOMPARE(started.first().first().toInt(), 5);
        QVERIFY(!in(dialog, "yes")->isEnabled()); // not twice

        show(State::Running, 3, true);
        QVERIFY(bar->isVisible());
        QCOMPARE(bar->value(), 3);
        QCOMPARE(bar->maximum(), 10);
        QCOMPARE(dialog->note(), u"Moving: about 3 of 10 moved"_s);
        click(dialog, "moveCancel");
        QCOMPARE(cancelled.size(), 1);
        show(State::Cancelling, 4);
        QCOMPARE(dialog->note(), u"Cancelling: about 4 of 10 moved"_s);
        QVERIFY(!cancel->isEnabled());
        show(State::Cancelled, 4);
        QCOMPARE(dialog->note(), u"Cancelled: about 4 of 10 moved"_s);
        QVERIFY(bar->isHidden());
        QVERIFY(!cancel->isEnabled());
        QVERIFY(in(dialog, "yes")->isEnabled()); // the rest can be moved
        QCOMPARE(started.size(), 1);
    }

    void aMoveTaskThatFailsSaysWhy()
    {
        FedWindow window;
        window.action(LetterAct::MoveAll)->trigger();
        ActDialog *dialog = window.dialog("moveDialog");
        click(dialog, "yes");
        MoveTaskProgress progress;
        progress.state = MoveTaskProgress::State::Failed;
        progress.text = u"the queue it came from is gone"_s;
        window.letterActs()->showMoveTask(progress);
        QCOMPARE(dialog->note(), progress.text);
        const auto *note = in<PlainLabel>(dialog, "note");
        QCOMPARE(colourOf(note), tokensOf(note).of(Tone::Failed));
        QVERIFY(in(dialog, "yes")->isEnabled());
    }

    void aTrueMoveTaskIsCancelledHalfway()
    {
        m_world = std::make_unique<ConsoleWorld>();
        QVERIFY2(m_world->start(false, 1), qPrintable(m_world->why));
        MainWindow &window = *m_world->window;
        const auto action = [this](LetterAct act) { return m_world->panel()->acts()->of(act); };
        QTRY_VERIFY(window.actions().start->isEnabled());
        window.actions().start->trigger();

        // Only what died by itself knows where it came from; nobody knows this type.
        const int count = 6;
        QList<QByteArray> bodies;
        for (int i = 0; i < count; ++i)
            bodies += "{\"type\": \"application.archived\", \"event_id\": \"e-" + QByteArray::number(i) + "\"}";
        QTRY_VERIFY(action(LetterAct::Import)->isEnabled());
        action(LetterAct::Import)->trigger();
        QDialog *import = m_world->dialog("importDialog");
        in<QLineEdit>(import, "filePath")->setText(m_world->lettersFile(bodies));
        m_world->in(import, "fileSecond")->click(); // into the queue itself
        QVERIFY(m_world->click(import, "yes"));
        const FigureTile *dead = nullptr;
        for (const FigureTile *tile : window.queuePanel()->findChildren<FigureTile *>()) {
            if (tile->toolTip().contains(u"Dead letters"_s))
                dead = tile;
        }
        QVERIFY(dead);
        QTRY_COMPARE_WITH_TIMEOUT(dead->figureText(), QString::number(count), 40'000);
        import->close();
        window.actions().stop->trigger(); // what is moved stays moved
        QTRY_VERIFY(window.actions().start->isEnabled());

        QTRY_VERIFY(action(LetterAct::MoveAll)->isEnabled());
        action(LetterAct::MoveAll)->trigger();
        auto *dialog = qobject_cast<ActDialog *>(m_world->dialog("moveDialog"));
        QVERIFY(dialog);
        m_world->in<QCheckBox>(dialog, "moveLimit")->click();
        m_world->in<QSpinBox>(dialog, "movePerSecond")->setValue(1);
        QVERIFY(m_world->click(dialog, "yes"));
        static const QRegularExpression Moving(u"^Moving: about [1-9] of 6 moved"_s); // asked once a second
        QTRY_VERIFY2_WITH_TIMEOUT(dialog->note().contains(Moving), qPrintable(dialog->note()), 10'000);
        QVERIFY(in<QProgressBar>(dialog, "moveBar")->isVisible());
        QVERIFY(m_world->click(dialog, "moveCancel"));
        QTRY_VERIFY2_WITH_TIMEOUT(dialog->note().startsWith(u"Cancelled: about "_s), qPrintable(dialog->note()),
                                  10'000);
        static const QRegularExpression Moved(u"^Cancelled: about (\\d+) of 6 moved$"_s);
        const QRegularExpressionMatch match = Moved.match(dialog->note());
        QVERIFY2(match.hasMatch(), qPrintable(dialog->note()));
        const int moved = match.captured(1).toInt();
        QVERIFY2(moved >= 1 && moved < count, qPrintable(dialog->note()));
        QTRY_COMPARE_WITH_TIMEOUT(dead->figureText(), QString::number(count - moved), 10'000);
    }

    // ---- clean-up

    void aTrueCleanUpIsPreviewedCancelledAndDone()
    {
        m_world = std::make_unique<ConsoleWorld>();
        QVERIFY2(m_world->start(), qPrintable(m_world->why));
        MainWindow &window = *m_world->window;
        QAction *cleanUp = window.actions().cleanUp;
        QTRY_VERIFY(cleanUp->isEnabled());
        const QDateTime oldest = QDateTime::fromString(u"2020-01-02T03:04:05Z"_s, Qt::ISODate);
        const QDateTime newest = QDateTime::fromString(u"2021-06-07T08:09:10Z"_s, Qt::ISODate);
        for (const auto &[id, at] :
             {std::pair(u"newest"_s, u"'2021-06-07 08:09:10'"_s), std::pair(u"oldest"_s, u"'2020-01-02 03:04:05'"_s),
              std::pair(u"between"_s, u"'2020-12-12 12:12:12'"_s),
              std::pair(u"young"_s, u"datetime('now', '-20 days')"_s)})
            sql(u"INSERT INTO jobs_processedevent (event_id, event_type, processed_at) VALUES "
                "('%1', 'application.status_changed', %2)"_s.arg(id, at));
        const auto rows = [this] { return sql(u"SELECT count(*) FROM jobs_processedevent"_s).toInt(); };
        QCOMPARE(rows(), 4);

        const auto preview = [&]() -> ActDialog * {
            cleanUp->trigger();
            auto *dialog = qobject_cast<ActDialog *>(m_world->dialog("cleanUpDialog"));
            if (!dialog || m_world->in(dialog, "yes")->isEnabled()) // nothing is known yet
                return nullptr;
            (void)QTest::qWaitFor([&] { return m_world->in(dialog, "yes")->isEnabled(); }, 10'000);
            return dialog;
        };
        ActDialog *dialog = preview();
        QVERIFY(dialog);
        QVERIFY2(dialog->words().startsWith(u"3 events were processed more than 45 days ago"_s),
                 qPrintable(dialog->words()));
        QVERIFY2(dialog->words().contains(u"\nOldest %1, newest %2."_s.arg(dayAndTime(oldest), dayAndTime(newest))),
                 qPrintable(dialog->words()));
        QCOMPARE(m_world->in(dialog, "yes")->text(), u"Forget 3"_s);
        QVERIFY(m_world->click(dialog, "no"));
        QTRY_VERIFY(!window.findChild<QDialog *>(u"cleanUpDialog"_s));

        dialog = preview(); // asked and answered behind whatever the first one had asked for
        QVERIFY(dialog);
        QCOMPARE(m_world->in(dialog, "yes")->text(), u"Forget 3"_s);
        QCOMPARE(rows(), 4);
        QVERIFY(m_world->click(dialog, "yes"));
        QTRY_VERIFY2(dialog->note().startsWith(u"Forgot 3 events and "_s), qPrintable(dialog->note()));
        const auto *note = m_world->in<PlainLabel>(dialog, "note");
        QCOMPARE(colourOf(note), tokensOf(note).of(Tone::Sent));
        QVERIFY(!m_world->in(dialog, "yes")->isVisible()); // there is only closing
        QCOMPARE(m_world->in(dialog, "no")->text(), u"Close"_s);
        QCOMPARE(rows(), 1);
        QCOMPARE(sql(u"SELECT event_id FROM jobs_processedevent"_s).toString(), u"young"_s);
        window.bringForward(window.processedPanel());
        QTRY_COMPARE(window.processedPanel()->table()->model()->rowCount(), 1);
    }

    void aCleanUpThatEndedEarlyIsAnError_data()
    {
        QTest::addColumn<int>("rows");
        QTest::addColumn<QString>("note");
        QTest::newRow("some") << 5 << u"Forgot 5 events and 0 rows of the journal · 1 failed"_s;
        QTest::newRow("one") << 1 << u"Forgot 1 event and 0 rows of the journal · 1 failed"_s;
        QTest::newRow("none") << 0 << u"Forgot 0 events and 0 rows of the journal"_s;
    }
    void aCleanUpThatEndedEarlyIsAnError()
    {
        QFETCH(int, rows);
        FedWindow window;
        QSignalSpy wanted(&window, &MainWindow::cleanUpRequested);
        ActDialog *dialog = openCleanUp(window);
        QVERIFY(dialog);
        click(dialog, "yes");
        QCOMPARE(wanted.size(), 1);
        QVERIFY(!in(dialog, "yes")->isEnabled());
        CleanUp report;
        report.rows = rows;
        report.error = u"the disk is full"_s;
        window.showCleanUpDone(report);
        QTEST(dialog->note(), "note");
        const auto *note = in<PlainLabel>(dialog, "note");
        QCOMPARE(colourOf(note), tokensOf(note).of(Tone::Failed));
        const auto *problems = in<PlainTextView>(dialog, "problems");
        QVERIFY(problems->isVisible());
        QCOMPARE(problems->toPlainText(), report.error);
        QCOMPARE(in(dialog, "yes")->isVisible() && in(dialog, "yes")->isEnabled(), rows == 0); // once more
    }

    void aScheduledCleanUpIsNoAnswerToWhatWasAskedFor()
    {
        FedWindow window;
        ActDialog *dialog = openCleanUp(window);
        QVERIFY(dialog);
        click(dialog, "yes");
        CleanUp report;
        report.scheduled = true;
        report.rows = 7;
        window.showCleanUpDone(report);
        QCOMPARE(dialog->note(), u"Forgetting…"_s);
        report.scheduled = false;
        report.rows = 3;
        report.journalRows = 1;
        window.showCleanUpDone(report);
        QCOMPARE(dialog->note(), u"Forgot 3 events and 1 row of the journal"_s);
    }

    void aCleanUpThatCannotBeDoneIsSaidWhereItWasAskedFor()
    {
        FedWindow window;
        ActDialog *dialog = openCleanUp(window);
        QVERIFY(dialog);
        click(dialog, "yes");
        window.showActFailed(u"clean up"_s, u"the database is not open"_s);
        const auto *problems = in<PlainTextView>(dialog, "problems");
        QVERIFY2(dialog->note().contains(u"the database is not open"_s)
                     || (problems->isVisible() && problems->toPlainText() == u"the database is not open"_s),
                 qPrintable(dialog->note()));
        const auto *note = in<PlainLabel>(dialog, "note");
        QCOMPARE(colourOf(note), tokensOf(note).of(Tone::Failed));
        QVERIFY(in(dialog, "yes")->isEnabled()); // once more
    }

    void aPreviewThatFailedPromisesNothing()
    {
        FedWindow window;
        window.actions().cleanUp->trigger();
        ActDialog *dialog = window.dialog("cleanUpDialog");
        QVERIFY(dialog);
        CleanUp refused;
        refused.error = u"a clean-up is running already"_s;
        window.showCleanUpPreview(refused);
        QCOMPARE(dialog->note(), refused.error);
        QVERIFY(!in(dialog, "yes")->isEnabled());
        QVERIFY2(!dialog->words().contains(u"Nothing is older"_s), qPrintable(dialog->words()));
    }

    void aForeignProfileWantsTheCountTyped()
    {
        WindowSetup setup;
        setup.embedded = false;
        FedWindow window(setup);
        QSignalSpy wanted(&window, &MainWindow::cleanUpRequested);
        QSignalSpy deleted(window.letterActs(), &DeadLetterActs::deleteRequested);
        window.actions().cleanUp->trigger();
        ActDialog *dialog = window.dialog("cleanUpDialog");
        window.showCleanUpPreview(oldRows());
        QVERIFY(!in(dialog, "yes")->isEnabled());
        QTest::keyClicks(in<QLineEdit>(dialog, "cleanUpTyped"), u"1240"_s);
        QVERIFY(!in(dialog, "yes")->isEnabled());
        QTest::keyClicks(in<QLineEdit>(dialog, "cleanUpTyped"), u"8"_s);
        click(dialog, "yes");
        QCOMPARE(wanted.size(), 1);
        dialog->close();

        window.showLetters(twoReasons());
        choose(menuOf(window, Outage), u"Delete this group…"_s);
        dialog = window.dialog("deleteDialog");
        QVERIFY(dialog);
        QVERIFY(!in(dialog, "yes")->isEnabled());
        QTest::keyClick(in<QLineEdit>(dialog, "typed"), Qt::Key_Return);
        QCOMPARE(deleted.size(), 0);
        QTest::keyClicks(in<QLineEdit>(dialog, "typed"), u"4"_s);
        QTest::keyClick(in<QLineEdit>(dialog, "typed"), Qt::Key_Return);
        QCOMPARE(deleted.size(), 1);
        QCOMPARE(deleted.first().first().toStringList().size(), 4);
        // Only the embedded queue is purged.
        QVERIFY(!window.action(LetterAct::Purge)->isEnabled());
        QVERIFY(window.action(LetterAct::Purge)->statusTip().contains(u"Only the embedded queue"_s));
    }

    // ---- rights

    void aReadOnlyProfileOffersNoActAndSaysWhy()
    {
        WindowSetup setup;
        setup.readOnly = true;
        FedWindow window(setup);
        window.showLetters(twoReasons());
        window.deadLettersPanel()->table()->selectRow(0); // else some are disabled for another reason
        for (const LetterAct act : {LetterAct::Replay, LetterAct::Canary, LetterAct::EditAndReplay, LetterAct::Delete,
                                    LetterAct::Import, LetterAct::MoveAll, LetterAct::ForgetClaim, LetterAct::Purge}) {
            const QAction *action = window.action(act);
            QVERIFY2(!action->isEnabled(), qPrintable(action->text()));
            QVERIFY2(action->statusTip().contains(ReadOnly), qPrintable(action->text()));
        }
        for (const LetterAct act : {LetterAct::Export, LetterAct::KeptCopies, LetterAct::Runs})
            QVERIFY2(window.action(act)->isEnabled(), qPrintable(window.action(act)->text()));
        for (const char *name : {"replay", "canary", "sendOneEvent", "injectDuplicate", "failNextMails", "compose"}) {
            QVERIFY2(!in(&window, name)->isEnabled(), name);
            QVERIFY2(in(&window, name)->toolTip().contains(ReadOnly), name);
        }
        QVERIFY(!window.actions().compose->isEnabled());

        ReplayProgress run;
        run.run = 1;
        run.state = ReplayProgress::State::Paused;
        run.total = run.left = 3;
        window.letterActs()->showProgress(run);
        for (const char *name : {"runResume", "runCancel"}) {
            const auto *button = in(window.deadLettersPanel(), name);
            QVERIFY2(button->isVisible() && !button->isEnabled(), name);
            QVERIFY2(button->toolTip().contains(ReadOnly), name);
        }

        window.action(LetterAct::KeptCopies)->trigger();
        ActDialog *kept = window.dialog("keptDialog");
        QVERIFY(kept);
        KeptLetters copies;
        copies.letters = {{1, Noon, u"sam"_s, u"m-1"_s, u"e-1"_s, {}, {}}};
        window.letterActs()->showKeptLetters(copies);
        kept->findChild<RowTable *>()->selectRow(0);
        QVERIFY(!in(kept, "yes")->isEnabled());
        QVERIFY(in(kept, "yes")->toolTip().contains(ReadOnly));
        kept->close();

        window.actions().cleanUp->trigger();
        ActDialog *dialog = window.dialog("cleanUpDialog");
        window.showCleanUpPreview(oldRows());
        QVERIFY(!in(dialog, "yes")->isEnabled());
        QVERIFY(in(dialog, "yes")->toolTip().contains(ReadOnly));
    }

    void whoMayActReadsWhatACancelLeaves()
    {
        FedWindow window;
        ReplayProgress run;
        run.run = 1;
        run.state = ReplayProgress::State::Running;
        run.total = run.left = 3;
        window.letterActs()->showProgress(run);
        const auto *cancel = in(window.deadLettersPanel(), "runCancel");
        QVERIFY(cancel->isVisible() && cancel->isEnabled());
        QCOMPARE(plain(cancel->toolTip()), u"What is on its way is settled; the others stay dead letters"_s);
    }

    void aReadOnlyProfilesStartSaysWhyNot()
    {
        WindowSetup setup;
        setup.readOnly = true;
        FedWindow window(setup);
        const auto *start = in<QAbstractButton>(&window, "start");
        QVERIFY(!start->isEnabled());
        QVERIFY2(start->toolTip().contains(ReadOnly), qPrintable(start->toolTip()));
    }

    /// A hint takes the line's place only where it can be read there.
    void aMenusHintIsReadInTheStatusLineOrLeavesItAlone()
    {
        FedWindow window;
        QStatusBar *line = window.statusBar();
        const QImage before = line->grab().toImage();
        const auto hinted = [&](const QString &text) {
            QStatusTipEvent tip(text);
            QApplication::sendEvent(&window, &tip);
            return line->grab().toImage();
        };
        const QImage one = hinted(u"Begin to receive messages"_s);
        const QImage other = hinted(u"Everything else"_s);
        QVERIFY(one == before || one != other);
    }

    /// Menus show the tool tips of their entries where they were told to: of the acts they say why not.
    void whatAMenuOffersNotSaysWhyThere()
    {
        WindowSetup setup;
        setup.readOnly = true;
        FedWindow window(setup);
        window.showLetters(twoReasons());
        window.deadLettersPanel()->table()->selectRow(0);
        const QMenu *more = in(window.deadLettersPanel(), "moreActs")->menu();
        QVERIFY(more->toolTipsVisible());
        for (const QAction *action : more->actions()) {
            if (action->isSeparator() || action->isEnabled())
                continue;
            QVERIFY2(action->toolTip().contains(ReadOnly), qPrintable(action->text()));
        }
    }

    void aReadOnlyProfilesOtherMenusOfferNothingEither_data()
    {
        QTest::addColumn<QAction * WindowActions::*>("action");
        QTest::newRow("send") << &WindowActions::send;
        QTest::newRow("duplicate") << &WindowActions::duplicate;
        QTest::newRow("fail next mails") << &WindowActions::failMails;
        QTest::newRow("start") << &WindowActions::start;
        QTest::newRow("in doubt: it arrived") << &WindowActions::doubtArrived;
        QTest::newRow("in doubt: send again") << &WindowActions::doubtAgain;
    }
    void aReadOnlyProfilesOtherMenusOfferNothingEither()
    {
        typedef QAction *WindowActions::*Member;
        QFETCH(Member, action);
        WindowSetup setup;
        setup.readOnly = true;
        FedWindow window(setup);
        DoubtList doubts;
        Doubt doubt;
        doubt.eventId = u"e-1"_s;
        doubt.since = Noon;
        doubts.doubts = {doubt};
        doubts.waiting = 1;
        window.showDoubts(doubts);
        window.bringForward(window.doubtsPanel());
        window.doubtsPanel()->table()->selectRow(0);
        QVERIFY(!(window.actions().*action)->isEnabled());
    }

    // ---- looks

    void aDialogIsAsHighAsItsWords()
    {
        FedWindow window;
        window.action(LetterAct::Purge)->trigger();
        const ActDialog *dialog = window.dialog("purgeDialog");
        QVERIFY(dialog);
        QCOMPARE(dialog->height(), dialog->layout()->totalHeightForWidth(dialog->width()));
    }

    void checkBoxesGrowWithTheText()
    {
        FedWindow window;
        const auto edge = [&] { return window.style()->pixelMetric(QStyle::PM_IndicatorWidth, nullptr, &window); };
        const int before = edge();
        window.setTextPercent(150);
        const int larger = edge();
        window.setTextPercent(100);
        QVERIFY2(larger * 10 >= before * 14, qPrintable(u"%1 of %2"_s.arg(larger).arg(before)));
    }

    // ---- purge

    void aQueueWithoutAKnownNameIsNotPurged()
    {
        MainWindow window{WindowSetup()};
        window.showOpened();
        const auto *purge = window.deadLettersPanel()->acts()->of(LetterAct::Purge);
        QVERIFY(!purge->isEnabled());
        QCOMPARE(purge->toolTip(), u"The name of the dead letter queue is not known yet"_s);
        window.letterActs()->setQueueNames({u"job-board-events"_s, {}, 0});
        QVERIFY(!purge->isEnabled());
        QCOMPARE(purge->toolTip(), u"The queue has no dead letter queue"_s);
        window.letterActs()->setQueueNames({u"job-board-events"_s, u"job-board-events-dlq"_s, 3});
        QVERIFY(purge->isEnabled());
    }

    void aPurgeWantsTheNameToTheLetter()
    {
        FedWindow window;
        QSignalSpy purged(window.letterActs(), &DeadLetterActs::purgeRequested);
        window.action(LetterAct::Purge)->trigger();
        ActDialog *dialog = window.dialog("purgeDialog");
        QVERIFY(dialog);
        QVERIFY2(dialog->words().startsWith(u"Everything in job-board-events-dlq is deleted for good"_s),
                 qPrintable(dialog->words()));
        const auto *yes = in(dialog, "yes");
        auto *field = in<QLineEdit>(dialog, "typed");
        QVERIFY(!yes->isEnabled());
        QCOMPARE(plain(yes->toolTip()), u"Type job-board-events-dlq to go on"_s);
        const QString name = u"job-board-events-dlq"_s;
        for (const QChar letter : name) { // only the last one of them enables it
            QVERIFY2(!yes->isEnabled(), qPrintable(field->text()));
            QTest::keyClick(field, Qt::Key_Return);
            QTest::keyClicks(field, QString(letter));
        }
        QCOMPARE(field->text(), name);
        QVERIFY(yes->isEnabled());
        for (const QString &other :
             {u"Job-board-events-dlq"_s, u"job-board-events-dlq2"_s, u" job-board-events-dlq"_s, QString()}) {
            field->setText(other);
            QVERIFY2(!yes->isEnabled(), qPrintable(other));
            QTest::keyClick(field, Qt::Key_Return);
        }
        QCOMPARE(purged.size(), 0);
        field->setText(name);
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(purged.size(), 1);
        QCOMPARE(purged.first().first().toString(), name);
        QVERIFY(!yes->isEnabled());
        window.showActDone({u"purge"_s, 1, 0, u"the dead letter queue was purged"_s, {}});
        QCOMPARE(dialog->note(), u"the dead letter queue was purged"_s);
        QVERIFY(!yes->isVisible());
        click(dialog, "no");

        window.action(LetterAct::Purge)->trigger();
        in<QLineEdit>(window.dialog("purgeDialog"), "typed")->setText(name);
        click(window.dialog("purgeDialog"), "no");
        QCOMPARE(purged.size(), 1);
    }

private:
    static CleanUp oldRows()
    {
        CleanUp preview;
        preview.keepDays = 45;
        preview.rows = 12'408;
        preview.before = Noon.addDays(-45);
        preview.oldest = Noon.addDays(-210);
        preview.newest = Noon.addDays(-46);
        return preview;
    }
    /// With the answer to its preview.
    static ActDialog *openCleanUp(FedWindow &window)
    {
        QSignalSpy queried(&window, &MainWindow::cleanUpPreviewQueried);
        window.actions().cleanUp->trigger();
        ActDialog *dialog = window.dialog("cleanUpDialog");
        if (!dialog || !QTest::qWaitFor([&] { return queried.size() == 1; }) || in(dialog, "yes")->isEnabled())
            return nullptr;
        window.showCleanUpPreview(oldRows());
        return dialog;
    }
};

QTEST_MAIN(TestDeadLetterActs)
#include "tst_deadletteracts.moc"
