#include "tests/world/consoleworld.h"
#include "ui/actdialog.h"
#include "ui/auditmodel.h"
#include "ui/auditpanel.h"
#include "ui/deadletteracts.h"
#include "ui/eventeditor.h"
#include "ui/keptmodel.h"
#include "ui/letteractions.h"
#include "ui/plainlabel.h"
#include "ui/runsmodel.h"
#include "ui/runstrip.h"
#include "ui/windowactions.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QProcess>
#include <QSpinBox>

using namespace sendonce;
using namespace sendonce::world;
using namespace Qt::StringLiterals;

/// What support staff do about dead letters, by clicks on the true window with the true worker and services behind it.
class LetterActsTest : public QObject
{
    Q_OBJECT

    std::unique_ptr<ConsoleWorld> m_world;

    void trigger(LetterAct act) const { m_world->panel()->acts()->of(act)->trigger(); }
    QAction *action(LetterAct act) const { return m_world->panel()->acts()->of(act); }

    void startWorker()
    {
        QTRY_VERIFY(m_world->window->actions().start->isEnabled());
        m_world->window->actions().start->trigger();
        QTRY_VERIFY(m_world->window->actions().stop->isEnabled());
    }

    /// By the import dialog, which is one of the acts.
    void import(const QList<QByteArray> &bodies)
    {
        QTRY_VERIFY(action(LetterAct::Import)->isEnabled());
        trigger(LetterAct::Import);
        QDialog *dialog = m_world->dialog("importDialog");
        QVERIFY(dialog);
        m_world->in<QLineEdit>(dialog, "filePath")->setText(m_world->lettersFile(bodies));
        QVERIFY(m_world->click(dialog, "yes"));
        QTRY_VERIFY(m_world->in<PlainLabel>(dialog, "note")->text().contains(QString::number(bodies.size())));
        QVERIFY(m_world->click(dialog, "no"));
    }
    void browse(int expected)
    {
        QVERIFY(m_world->click(m_world->panel(), "browse"));
        QVERIFY(m_world->click(m_world->panel(), "confirmYes"));
        QTRY_VERIFY_WITH_TIMEOUT(!m_world->panel()->isBrowsing(), 20'000);
        QTRY_COMPARE(m_world->panel()->model()->rowCount(), expected);
    }
    void choose(const QStringList &eventIds)
    {
        RowTable *table = m_world->panel()->table();
        table->clearSelection();
        for (const QString &eventId : eventIds) {
            const int row = m_world->rowOf(eventId);
            QVERIFY(row >= 0);
            table->selectionModel()->select(table->model()->index(row, 0),
                                            QItemSelectionModel::Select | QItemSelectionModel::Rows);
        }
        QCOMPARE(m_world->panel()->chosenIds().size(), eventIds.size());
    }
    static QList<QByteArray> letters(int count)
    {
        QList<QByteArray> bodies;
        for (int i = 0; i < count; ++i)
            bodies += ConsoleWorld::body(event(i));
        return bodies;
    }
    static QString event(int number) { return u"event-%1"_s.arg(number); }
    QString strip(const char *name) const { return m_world->in<PlainLabel>(m_world->panel(), name)->text(); }

private Q_SLOTS:
    void init()
    {
        m_world = std::make_unique<ConsoleWorld>();
        QVERIFY2(m_world->start(), qPrintable(m_world->why));
    }
    void cleanup() { m_world.reset(); }

    void replayOfAllSaysWhatWillHappenAndTellsEachOutcome()
    {
        startWorker();
        import({ConsoleWorld::body(event(0)), ConsoleWorld::body(event(1)), "{\"event_id\": \"broken\"}"});
        browse(3);
        QVERIFY(m_world->click(m_world->panel(), "replay"));
        QDialog *dialog = m_world->dialog("replayDialog");
        QVERIFY(dialog);
        const QString words = qobject_cast<ActDialog *>(dialog)->words();
        QVERIFY2(words.contains(u"1 will fail again"_s) && words.contains(u"frozen"_s), qPrintable(words));
        QCOMPARE(m_world->in(dialog, "yes")->text(), u"Replay 3"_s);
        QVERIFY(m_world->click(dialog, "yes"));
        QVERIFY(!action(LetterAct::Replay)->isEnabled()); // locked from the click on
        QTRY_VERIFY_WITH_TIMEOUT(m_world->outcomeOf(event(0)).contains(u"mailed"_s), 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(m_world->outcomeOf(event(1)).contains(u"mailed"_s), 20'000);
        QTRY_COMPARE(m_world->mails(), 2);
        QTRY_VERIFY_WITH_TIMEOUT(strip("runCounts").contains(u"1 dead again"_s), 30'000);
        QVERIFY(strip("runCounts").contains(u"2 mailed"_s));
    }

    void onlyTheChosenAreReplayedAndAHandledOneIsSkipped()
    {
        startWorker();
        import({ConsoleWorld::body(event(0))});
        browse(1);
        QVERIFY(m_world->click(m_world->panel(), "replay"));
        QVERIFY(m_world->click(m_world->dialog("replayDialog"), "yes"));
        QTRY_COMPARE_WITH_TIMEOUT(m_world->mails(), 1, 20'000);
        import({ConsoleWorld::body(event(0)), ConsoleWorld::body(event(1)), ConsoleWorld::body(event(2))});
        browse(3);
        choose({event(0), event(1)});
        QVERIFY(m_world->click(m_world->panel(), "replay"));
        auto *dialog = qobject_cast<ActDialog *>(m_world->dialog("replayDialog"));
        QVERIFY2(dialog->words().contains(u"1 will be skipped"_s), qPrintable(dialog->words()));
        QVERIFY(m_world->click(dialog, "yes"));
        QTRY_VERIFY_WITH_TIMEOUT(m_world->outcomeOf(event(0)).contains(u"skipped"_s), 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(m_world->outcomeOf(event(1)).contains(u"mailed"_s), 20'000);
        QTRY_COMPARE(m_world->mails(), 2); // the mailbox is a panel of its own
        QTRY_COMPARE(m_world->panel()->shownIds().size(), 1); // the third one was not touched
    }

    void aCanaryThatDiesAgainHoldsTheOthersBack()
    {
        startWorker();
        import(letters(3));
        browse(3);
        Q_EMIT m_world->window->failNextMailsRequested(100, 451);
        QTRY_VERIFY(m_world->window->actions().disarm->isEnabled());
        QVERIFY(m_world->click(m_world->panel(), "canary"));
        QDialog *dialog = m_world->dialog("replayDialog");
        QVERIFY(m_world->in<QCheckBox>(dialog, "replayCanary")->isChecked());
        QVERIFY(m_world->click(dialog, "yes"));
        QTRY_VERIFY_WITH_TIMEOUT(strip("runState").startsWith(u"halted"_s), 40'000);
        QVERIFY(strip("runCounts").startsWith(u"1 done · 2 left"_s));
        QCOMPARE(m_world->mails(), 0);
        m_world->window->actions().disarm->trigger();
        QVERIFY(m_world->click(m_world->panel(), "runCancel"));
        QTRY_COMPARE(strip("runState"), u"cancelled"_s);
        QTRY_COMPARE(m_world->panel()->shownIds().size(), 2);
    }

    void failuresStopTheRunWhereItWasAskedTo()
    {
        startWorker();
        import(letters(40));
        browse(40);
        Q_EMIT m_world->window->failNextMailsRequested(1000, 451);
        QTRY_VERIFY(m_world->window->actions().disarm->isEnabled());
        QVERIFY(m_world->click(m_world->panel(), "replay"));
        QDialog *dialog = m_world->dialog("replayDialog");
        m_world->in<QCheckBox>(dialog, "replayStop")->click();
        m_world->in<QSpinBox>(dialog, "replayFailures")->setValue(1);
        m_world->in<QCheckBox>(dialog, "replayLimit")->click();
        m_world->in<QDoubleSpinBox>(dialog, "replayPerSecond")->setValue(1);
        QVERIFY(m_world->click(dialog, "yes"));
        QTRY_VERIFY_WITH_TIMEOUT(strip("runState").startsWith(u"halted"_s), 60'000);
        m_world->window->actions().disarm->trigger();
        QVERIFY(m_world->click(m_world->panel(), "runCancel"));
        QTRY_COMPARE(strip("runState"), u"cancelled"_s);
        QVERIFY(!m_world->panel()->shownIds().isEmpty()); // those that it never began
    }

    void pauseResumeAndCancel()
    {
        import(letters(30));
        browse(30);
        QVERIFY(m_world->click(m_world->panel(), "replay"));
        QDialog *dialog = m_world->dialog("replayDialog");
        m_world->in<QCheckBox>(dialog, "replayLimit")->click();
        m_world->in<QDoubleSpinBox>(dialog, "replayPerSecond")->setValue(4);
        QVERIFY(m_world->click(dialog, "yes"));
        QVERIFY(m_world->click(m_world->panel(), "runPause"));
        QTRY_COMPARE(strip("runState"), u"paused"_s);
        QVERIFY(m_world->click(m_world->panel(), "runResume"));
        QTRY_COMPARE(strip("runState"), u"running"_s);
        QVERIFY(m_world->click(m_world->panel(), "runCancel"));
        QTRY_COMPARE(strip("runState"), u"cancelled"_s);
        QVERIFY(!m_world->panel()->shownIds().isEmpty());
        QVERIFY(m_world->click(m_world->panel(), "runAll"));
        QDialog *runs = m_world->dialog("runsWindow");
        QVERIFY(runs);
        const auto *items = runs->findChild<RunItemsModel *>();
        QTRY_COMPARE(items->rowCount(), 30);
        QVERIFY(m_world->click(m_world->panel(), "runClose"));
        QVERIFY(!m_world->panel()->runStrip()->isVisible());
    }

    void aReplayThatWasKilledIsFoundAndGoneOnWith()
    {
        import(letters(20));
        m_world->close();
        QProcess ctl;
        ctl.setProgram(QStringLiteral(SENDONCE_BIN_DIR "/sendoncectl"));
        ctl.setArguments(
            {u"dlq"_s, u"replay"_s, u"--all"_s, u"--rate"_s, u"2"_s, u"--data-dir"_s, m_world->dir->path()});
        QByteArray said;
        ctl.start();
        QTRY_VERIFY_WITH_TIMEOUT((said += ctl.readAllStandardError() + ctl.readAllStandardOutput()).contains(" done"),
                                 30'000);
        ctl.kill();
        QVERIFY(ctl.waitForFinished());
        QVERIFY2(m_world->start(), qPrintable(m_world->why));
        QTRY_VERIFY_WITH_TIMEOUT(m_world->panel()->runStrip()->isVisible(), 20'000);
        QVERIFY2(strip("runState").startsWith(u"interrupted"_s), qPrintable(strip("runState")));
        startWorker();
        QVERIFY(m_world->click(m_world->panel(), "runResume"));
        QTRY_VERIFY_WITH_TIMEOUT(strip("runCounts").contains(u"20 done · 0 left"_s), 60'000);
        QTRY_COMPARE_WITH_TIMEOUT(m_world->mails(), 20, 30'000);
    }

    void anEditedLetterIsCheckedAsItIsTypedAndSent()
    {
        startWorker();
        import({"{\"type\": \"application.status_changed\", \"event_id\": \"e-1\", \"application_id\": \"three\"}"});
        browse(1);
        choose({u"e-1"_s});
        trigger(LetterAct::EditAndReplay);
        auto *dialog = qobject_cast<ActDialog *>(m_world->dialog("editDialog"));
        QVERIFY(dialog);
        auto *editor = m_world->in<EventEditor>(dialog, "editBody");
        QTRY_VERIFY(editor->toPlainText().contains(u"three"_s));
        QTRY_VERIFY2(dialog->note().contains(u"application_id"_s), qPrintable(dialog->note()));
        QVERIFY(!m_world->in(dialog, "yes")->isEnabled());
        editor->setPlainText(QString::fromUtf8(ConsoleWorld::body(u"e-2"_s)));
        QTRY_VERIFY2(dialog->note().contains(u"event_id was changed"_s), qPrintable(dialog->note()));
        QVERIFY(!m_world->in(dialog, "yes")->isEnabled());
        editor->setPlainText(QString::fromUtf8(ConsoleWorld::body(u"e-1"_s)));
        QTRY_VERIFY2(dialog->note().startsWith(u"Valid"_s), qPrintable(dialog->note()));
        QVERIFY(m_world->click(dialog, "yes"));
        QTRY_VERIFY_WITH_TIMEOUT(m_world->outcomeOf(u"e-1"_s).contains(u"mailed"_s), 20'000);
        QTRY_VERIFY(!m_world->dialog("editDialog"));
    }

    void aHandledEventCanOnlyBecomeANewOne()
    {
        startWorker();
        SendRequest first;
        first.rawBody = ConsoleWorld::body(u"e-1"_s);
        Q_EMIT m_world->window->sendRequested(first);
        QTRY_COMPARE_WITH_TIMEOUT(m_world->mails(), 1, 20'000);
        import({ConsoleWorld::body(u"e-1"_s)});
        browse(1);
        choose({u"e-1"_s});
        trigger(LetterAct::EditAndReplay);
        auto *dialog = qobject_cast<ActDialog *>(m_world->dialog("editDialog"));
        auto *editor = m_world->in<EventEditor>(dialog, "editBody");
        QTRY_VERIFY(editor->toPlainText().contains(u"event_id"_s));
        QVERIFY(!m_world->in(dialog, "editSame")->isEnabled());
        QVERIFY(dialog->note().contains(u"would be skipped"_s));
        QVERIFY(m_world->in<QAbstractButton>(dialog, "editNew")->isChecked());
        QVERIFY(!editor->toPlainText().contains(u"\"e-1\""_s));
        QVERIFY(m_world->click(dialog, "yes"));
        QTRY_COMPARE_WITH_TIMEOUT(m_world->mails(), 2, 20'000);
    }

    void whatIsDeletedCanBePutBack()
    {
        import(letters(2));
        browse(2);
        choose({event(1)});
        trigger(LetterAct::Delete);
        QVERIFY(m_world->click(m_world->dialog("deleteDialog"), "yes"));
        QTRY_VERIFY_WITH_TIMEOUT(m_world->outcomeOf(event(1)).contains(u"deleted"_s), 20'000);
        browse(1);
        trigger(LetterAct::KeptCopies);
        QDialog *kept = m_world->dialog("keptDialog");
        const auto *copies = kept->findChild<KeptModel *>();
        QTRY_COMPARE(copies->rowCount(), 1);
        kept->findChild<RowTable *>()->selectRow(0);
        QVERIFY(m_world->click(kept, "yes"));
        QTRY_VERIFY(copies->index(0, KeptModel::PutBack).data().toString().startsWith(u"put back as"_s));
        QVERIFY(!m_world->in(kept, "yes")->isEnabled()); // not a second time
        kept->close();
        browse(2);
    }

    void aPurgeNeedsTheQueuesNameTyped()
    {
        import(letters(2));
        trigger(LetterAct::Purge);
        QDialog *dialog = m_world->dialog("purgeDialog");
        QVERIFY(!m_world->in(dialog, "yes")->isEnabled());
        m_world->in<QLineEdit>(dialog, "typed")->setText(u"job-board-events"_s);
        QVERIFY(!m_world->in(dialog, "yes")->isEnabled());
        m_world->in<QLineEdit>(dialog, "typed")->setText(u"job-board-events-dlq"_s);
        QVERIFY(m_world->click(dialog, "yes"));
        QTRY_VERIFY(m_world->in<PlainLabel>(dialog, "note")->text().contains(u"was purged"_s));
        dialog->close();
        browse(0);
    }

    void whatIsShownIsExportedAndImportedAgain()
    {
        import(letters(3));
        browse(3);
        trigger(LetterAct::Export);
        QDialog *dialog = m_world->dialog("exportDialog");
        const QString path = m_world->dir->filePath(u"out.jsonl"_s);
        m_world->in<QLineEdit>(dialog, "filePath")->setText(path);
        QVERIFY(m_world->click(dialog, "yes"));
        QTRY_VERIFY(m_world->in<PlainLabel>(dialog, "note")->text().startsWith(u"3 letters written"_s));
        dialog->close();
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll().count('\n'), 3);
        choose({event(2)});
        trigger(LetterAct::Export);
        dialog = m_world->dialog("exportDialog");
        m_world->in<QAbstractButton>(dialog, "fileSecond")->click();
        m_world->in<QLineEdit>(dialog, "filePath")->setText(m_world->dir->filePath(u"out.csv"_s));
        QVERIFY(m_world->click(dialog, "yes"));
        QTRY_VERIFY(m_world->in<PlainLabel>(dialog, "note")->text().startsWith(u"1 letter written"_s));
    }

    void aForgottenClaimMailsAgainAndTheAuditSaysWho()
    {
        startWorker();
        SendRequest first;
        first.rawBody = ConsoleWorld::body(u"e-1"_s);
        Q_EMIT m_world->window->sendRequested(first);
        QTRY_COMPARE_WITH_TIMEOUT(m_world->mails(), 1, 20'000);
        import({ConsoleWorld::body(u"e-1"_s)});
        browse(1);
        choose({u"e-1"_s});
        trigger(LetterAct::ForgetClaim);
        auto *dialog = qobject_cast<ActDialog *>(m_world->dialog("forgetDialog"));
        QVERIFY(dialog->words().contains(u"can mail again"_s));
        m_world->in<QLineEdit>(dialog, "typedReason")->setText(u"the first one bounced"_s);
        QVERIFY(!m_world->in(dialog, "yes")->isEnabled());
        m_world->in<QLineEdit>(dialog, "typed")->setText(u"e-1"_s);
        QVERIFY(m_world->click(dialog, "yes"));
        QTRY_VERIFY(dialog->note().contains(u"can mail again"_s));
        dialog->close();
        QTRY_VERIFY(m_world->panel()->model()->letter(0).verdict != Verdict::Handled);
        QVERIFY(m_world->click(m_world->panel(), "replay"));
        QVERIFY(m_world->click(m_world->dialog("replayDialog"), "yes"));
        QTRY_COMPARE_WITH_TIMEOUT(m_world->mails(), 2, 20'000);

        AuditPanel *audit = m_world->window->auditPanel();
        m_world->window->bringForward(audit);
        const auto shows = [audit](const QString &act, const QString &text) {
            for (int row = 0; row < audit->model()->rowCount(); ++row) {
                const AuditEntry &entry = audit->model()->entry(row);
                if (entry.act == act && (entry.text + entry.outcome).contains(text) && !entry.who.isEmpty())
                    return true;
            }
            return false;
        };
        QTRY_VERIFY(shows(u"forget"_s, u"the first one bounced"_s));
        QTRY_VERIFY(shows(u"import"_s, u"1 letter"_s));
        QTRY_VERIFY(shows(u"replay"_s, u"1 letter"_s));
    }

    void everythingIsMovedBackByTheQueueItself()
    {
        startWorker();
        // Only what died by itself knows where it came from.
        Q_EMIT m_world->window->failNextMailsRequested(3, 451);
        QTRY_VERIFY(m_world->window->actions().disarm->isEnabled());
        SendRequest dying;
        dying.rawBody = ConsoleWorld::body(u"e-1"_s);
        Q_EMIT m_world->window->sendRequested(dying);
        QTRY_VERIFY_WITH_TIMEOUT(!m_world->window->actions().disarm->isEnabled(), 30'000);
        QTRY_VERIFY(action(LetterAct::MoveAll)->isEnabled());
        QTest::qWait(0);
        trigger(LetterAct::MoveAll);
        auto *dialog = qobject_cast<ActDialog *>(m_world->dialog("moveDialog"));
        QVERIFY(dialog->words().contains(u"without verdicts"_s));
        // It dies with the next receive; a task that finds nothing is started again.
        QTRY_VERIFY_WITH_TIMEOUT(([&] {
                                     auto *yes = m_world->in(dialog, "yes");
                                     if (m_world->mails() == 0 && yes->isEnabled())
                                         QTest::mouseClick(yes, Qt::LeftButton);
                                     return m_world->mails() == 1;
                                 }()),
                                 30'000);
        QTRY_VERIFY2(dialog->note().startsWith(u"Completed"_s), qPrintable(dialog->note()));
    }

    void anEventIsComposedFromItsTypesFields()
    {
        startWorker();
        QTRY_VERIFY(m_world->window->actions().compose->isEnabled());
        m_world->window->actions().compose->trigger();
        auto *dialog = qobject_cast<ActDialog *>(m_world->dialog("composeDialog"));
        QVERIFY(dialog);
        QCOMPARE(m_world->in<QComboBox>(dialog, "composeType")->currentText(), u"application.status_changed"_s);
        auto *application = m_world->in<QLineEdit>(dialog, "field_application_id");
        QVERIFY(application);
        application->setText(u"three"_s);
        QTRY_VERIFY(!m_world->in(dialog, "yes")->isEnabled());
        QVERIFY2(dialog->note().contains(u"application_id"_s), qPrintable(dialog->note()));
        application->setText(u"4"_s);
        QVERIFY(m_world->click(dialog, "composeAddAttribute"));
        m_world->in<QLineEdit>(dialog, "attributeName")->setText(u"AWS.no"_s);
        QTRY_VERIFY(!m_world->in(dialog, "yes")->isEnabled());
        m_world->in<QLineEdit>(dialog, "attributeName")->setText(u"origin"_s);
        m_world->in<QLineEdit>(dialog, "attributeValue")->setText(u"a person"_s);
        m_world->in<QSpinBox>(dialog, "composeCopies")->setValue(2);
        QVERIFY(m_world->click(dialog, "yes"));
        QTRY_VERIFY2(dialog->note().contains(u"as 2 messages"_s), qPrintable(dialog->note()));
        QTRY_COMPARE_WITH_TIMEOUT(m_world->mails(), 1, 20'000); // the other copy is skipped
        dialog->close();
    }

    void aReadOnlyProfileLooksAndButtonsSayWhy()
    {
        import(letters(1));
        m_world->close();
        QVERIFY2(m_world->start(true), qPrintable(m_world->why));
        QTRY_VERIFY(action(LetterAct::KeptCopies)->isEnabled());
        browse(1);
        for (const LetterAct act : {LetterAct::Replay, LetterAct::Canary, LetterAct::Delete, LetterAct::EditAndReplay,
                                    LetterAct::Import, LetterAct::Purge, LetterAct::ForgetClaim, LetterAct::MoveAll}) {
            QVERIFY(!action(act)->isEnabled());
            QVERIFY(action(act)->statusTip().contains(u"read-only"_s));
        }
        QVERIFY(m_world->in(m_world->panel(), "replay")->toolTip().contains(u"read-only"_s));
        QVERIFY(action(LetterAct::Export)->isEnabled());
        const auto *send = m_world->in(m_world->window.get(), "sendOneEvent");
        QVERIFY(!send->isEnabled() && send->toolTip().contains(u"read-only"_s));
        m_world->window->actions().cleanUp->trigger();
        QDialog *dialog = m_world->dialog("cleanUpDialog");
        QTRY_VERIFY(qobject_cast<ActDialog *>(dialog)->words().contains(u"older than 45 days"_s));
        QVERIFY(!m_world->in(dialog, "yes")->isEnabled());
        dialog->close();
    }
};

QTEST_MAIN(LetterActsTest)
#include "tst_letteracts.moc"
