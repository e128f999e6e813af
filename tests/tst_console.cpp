#include "app/config/embedded.h"
#include "app/config/settings.h"
#include "ui/attach.h"
#include "ui/deadlettersmodel.h"
#include "ui/deadletterspanel.h"
#include "ui/faultsmodel.h"
#include "ui/faultspanel.h"
#include "ui/logmodel.h"
#include "ui/logpanel.h"
#include "ui/mailboxmodel.h"
#include "ui/mailboxpanel.h"
#include "ui/mainwindow.h"
#include "ui/matrixmodel.h"
#include "ui/matrixpanel.h"
#include "ui/plainlabel.h"
#include "ui/processedmodel.h"
#include "ui/processedpanel.h"
#include "ui/rowtable.h"
#include "ui/scenariorunsmodel.h"
#include "ui/scenariosmodel.h"
#include "ui/scenariospanel.h"
#include "worker/scenario/scenarios.h"
#include "worker/worker.h"

#include <QtTest>

#include <QAbstractButton>
#include <QDialog>
#include <QFileDialog>
#include <QItemSelection>
#include <QLabel>
#include <QTemporaryDir>
#include <QThread>

using namespace sendonce;
using namespace Qt::StringLiterals;

/// What a person can do in the first five minutes, by clicks on the true window with the true worker and services
/// behind it.
class Console : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<LocalServices> m_services;
    std::unique_ptr<QThread> m_thread;
    std::unique_ptr<QThread> m_scenariosThread;
    std::unique_ptr<MainWindow> m_window;

    /// The visible button that says so; its text may go on ("Replay 1").
    QAbstractButton *button(const QString &text) const
    {
        // A dialog's before the window's.
        QList<QAbstractButton *> buttons;
        for (const QDialog *dialog : m_window->findChildren<QDialog *>())
            buttons += dialog->findChildren<QAbstractButton *>();
        buttons += m_window->findChildren<QAbstractButton *>();
        for (QAbstractButton *each : std::as_const(buttons)) {
            QString shown = each->text();
            shown.remove(u'&');
            // A dock behind another one's tab counts as visible.
            if (each->isVisible() && !each->visibleRegion().isEmpty()
                && (shown == text || shown.startsWith(text + u' ')))
                return each;
        }
        return nullptr;
    }

    void click(const QString &text)
    {
        QTRY_VERIFY2(button(text) && button(text)->isEnabled(),
                     qPrintable(u"no button “%1” that can be pressed"_s.arg(text)));
        QTest::mouseClick(button(text), Qt::LeftButton);
    }

    QStringList column(const QAbstractItemModel *model, int column) const
    {
        QStringList texts;
        for (int row = 0; row < model->rowCount(); ++row)
            texts.append(model->index(row, column).data(Qt::DisplayRole).toString());
        return texts;
    }

    /// Every text of every cell, for what must be on screen somewhere.
    bool shows(const QAbstractItemModel *model, const QString &text) const
    {
        for (int c = 0; c < model->columnCount(); ++c) {
            for (const QString &cell : column(model, c)) {
                if (cell.contains(text))
                    return true;
            }
        }
        return false;
    }

    const QAbstractItemModel *processed() const { return m_window->processedPanel()->model(); }
    const QAbstractItemModel *mails() const { return m_window->mailboxPanel()->model(); }
    const QAbstractItemModel *log() const { return m_window->logPanel()->model(); }
    const QAbstractItemModel *dead() const { return m_window->deadLettersPanel()->model(); }

private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_services = std::make_unique<LocalServices>();
        LocalSettings settings;
        settings.dataDir = m_dir->path();
        settings.sqsPort = settings.smtpPort = 0;
        settings.visibilityTimeoutSeconds = 1;
        auto started = startEmbedded(*m_services, settings);
        QVERIFY2(started, started ? "" : qPrintable(started.error().text));
        auto config = resolve({}, {}, m_dir->path(), started.value());
        QVERIFY2(config, config ? "" : qPrintable(config.error().text));

        config->crashEndsLane = true; // as the console has it: a crash must not take the window along

        m_window = std::make_unique<MainWindow>();
        m_window->resize(1280, 800);
        m_thread = std::make_unique<QThread>();
        auto *worker = new Worker(config.value());
        worker->moveToThread(m_thread.get());
        connect(m_thread.get(), &QThread::finished, worker, &QObject::deleteLater);
        attach(*m_window, *worker);
        m_thread->start();
        m_scenariosThread = std::make_unique<QThread>();
        auto *scenarios = new Scenarios(m_dir->path() + u"/scenarios"_s, m_dir->path() + u"/own"_s);
        scenarios->moveToThread(m_scenariosThread.get());
        connect(m_scenariosThread.get(), &QThread::finished, scenarios, &QObject::deleteLater);
        attach(*m_window, *scenarios);
        m_scenariosThread->start();
        QMetaObject::invokeMethod(worker, &Worker::open);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    }

    void cleanup()
    {
        if (m_window->isVisible()) {
            m_window->close();
            QTRY_VERIFY(!m_window->isVisible());
        }
        m_scenariosThread->quit();
        QVERIFY(m_scenariosThread->wait(10'000));
        m_thread->quit();
        QVERIFY(m_thread->wait(10'000));
        m_window.reset();
        m_services.reset();
    }

    void startAndSendOneEvent()
    {
        click(u"Start"_s);
        click(u"Send one event"_s);
        QTRY_COMPARE(mails()->rowCount(), 1);
        QTRY_COMPARE(processed()->rowCount(), 1);
        QTRY_VERIFY(shows(log(), u"Emailed user 5 about application 3: reviewing -> interview (event "_s));
        QTRY_VERIFY(shows(processed(), u"mailed"_s));
    }

    void injectDuplicateIsOneMailAndOneSkip()
    {
        click(u"Start"_s);
        click(u"Inject duplicate"_s);
        QTRY_VERIFY(shows(log(), u"already processed; skipping duplicate"_s));
        QTRY_COMPARE(mails()->rowCount(), 1);
        QTRY_COMPARE(processed()->rowCount(), 1);
    }

    void failNextMailsEndsInDeadLettersAndAReplayMails()
    {
        click(u"Start"_s);
        click(u"Fail next mails…"_s);
        click(u"Arm"_s); // 3 and 451 stand there
        QTRY_VERIFY(button(u"Next 3 mails fail"_s));
        click(u"Send one event"_s);
        QTRY_VERIFY_WITH_TIMEOUT(log()->rowCount() > 0 && shows(log(), u"Failed to handle message"_s), 10'000);
        m_window->bringForward(m_window->deadLettersPanel());
        const auto *pill = m_window->findChild<QAbstractButton *>(u"armed"_s);
        QVERIFY(pill);
        QTRY_VERIFY_WITH_TIMEOUT(!pill->isVisible(), 20'000); // all three used up, the pill is gone
        QVERIFY(mails()->rowCount() == 0);

        // Browsing is asked for, and states its cost first.
        QTRY_VERIFY_WITH_TIMEOUT(([this] {
                                     if (dead()->rowCount() > 0)
                                         return true;
                                     if (auto *confirm = button(u"Browse"_s))
                                         QTest::mouseClick(confirm, Qt::LeftButton);
                                     else if (auto *browse = button(u"Browse…"_s))
                                         QTest::mouseClick(browse, Qt::LeftButton);
                                     return false;
                                 }()),
                                 20'000);
        QVERIFY(shows(dead(), u"451"_s));
        QVERIFY(shows(dead(), u"a replay sends"_s) || shows(dead(), u"replay sends"_s));
        QTRY_VERIFY(button(u"Cancel"_s) == nullptr); // the look has ended
        m_window->deadLettersPanel()->table()->selectRow(0);
        click(u"Replay"_s);
        click(u"Replay 1"_s); // the confirmation's
        QTRY_COMPARE_WITH_TIMEOUT(mails()->rowCount(), 1, 10'000);
        QTRY_VERIFY_WITH_TIMEOUT(shows(dead(), u"mailed"_s), 10'000);
    }

    void aPresetArmedByClicksStrikesAndTheNoticeCountsDown()
    {
        click(u"Start"_s);
        m_window->bringForward(m_window->faultsPanel());
        const FaultsModel *armed = m_window->faultsPanel()->model();
        click(u"Next mail refused"_s);
        QTRY_VERIFY(button(u"Next mail fails"_s));
        QCOMPARE(armed->rowCount(), 1);
        click(u"Send one event"_s);
        QTRY_VERIFY_WITH_TIMEOUT(shows(log(), u"Failed to handle message"_s), 10'000);
        QTRY_VERIFY(!button(u"Next mail fails"_s)); // used up
        QCOMPARE(armed->rowCount(), 0);
        QTRY_COMPARE_WITH_TIMEOUT(mails()->rowCount(), 1, 10'000);

        click(u"Crash between mail and COMMIT"_s);
        QTRY_VERIFY(button(u"Next delivery crashes"_s));
        click(u"Send one event"_s);
        QTRY_VERIFY_WITH_TIMEOUT(shows(log(), u"crashed at worker.accepted"_s), 10'000);
        QTRY_COMPARE_WITH_TIMEOUT(mails()->rowCount(), 3, 10'000); // the second one twice, and said so
        QTRY_VERIFY_WITH_TIMEOUT(shows(log(), u"mailed twice"_s), 10'000);

        click(u"Queue down for 10 s"_s);
        QTRY_VERIFY(button(u"The queue is down"_s));
        QTRY_VERIFY_WITH_TIMEOUT(button(u"The queue is down"_s)->text().contains(u"· 8 s"_s), 5'000);
        click(u"Disarm all"_s);
        QTRY_VERIFY(!button(u"The queue is down"_s));
        QCOMPARE(armed->rowCount(), 0);
        click(u"Send one event"_s);
        QTRY_COMPARE_WITH_TIMEOUT(mails()->rowCount(), 4, 10'000);
    }

    void scenariosRunByAClickAndAreTickedOff()
    {
        ScenariosPanel *panel = m_window->scenariosPanel();
        m_window->bringForward(panel);
        QTRY_VERIFY(panel->model()->rowCount() > 20);
        QItemSelection both;
        for (const char *name : {"duplicate", "crash-after-commit"}) {
            const int row = panel->model()->rowOf(QLatin1StringView(name));
            QVERIFY2(row >= 0, name);
            both.select(panel->table()->model()->index(row, 0), panel->table()->model()->index(row, 2));
        }
        panel->table()->selectionModel()->select(both, QItemSelectionModel::ClearAndSelect);
        auto *chosen = m_window->findChild<QAbstractButton *>(u"runChosen"_s); // "Run" begins "Run all" as well
        QTRY_VERIFY(chosen && chosen->isEnabled());
        QTest::mouseClick(chosen, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(panel->runs()->count(ScenarioRun::State::Passed), 2, 60'000);
        const ScenarioRun &run = panel->runs()->run(0);
        QVERIFY(QDir(run.folder).exists());
        QCOMPARE(run.scenario, u"crash-after-commit"_s);
        QVERIFY(!run.log.isEmpty());
        QCOMPARE(mails()->rowCount(), 0); // a world of its own: nothing of it is in this window's
        // One that is stopped ends, and the panel is ready for the next.
        click(u"Run all"_s);
        QTRY_VERIFY_WITH_TIMEOUT(panel->runs()->count(ScenarioRun::State::Running) == 1, 20'000);
        auto *stop = m_window->findChild<QAbstractButton *>(u"stopScenarios"_s); // the worker's says Stop as well
        QTRY_VERIFY(stop && stop->isEnabled());
        QTest::mouseClick(stop, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(panel->runs()->count(ScenarioRun::State::Running), 0, 30'000);
        QTRY_VERIFY(button(u"Run all"_s)->isEnabled());
    }

    void theMatrixIsMeasuredByAClickWhichItsFilesBear()
    {
        MatrixPanel *panel = m_window->matrixPanel();
        const MatrixModel *model = panel->model();
        m_window->bringForward(panel);
        QTRY_COMPARE(model->rowCount(), 14);
        auto *measure = m_window->findChild<QAbstractButton *>(u"measureMatrix"_s);
        auto *stop = m_window->findChild<QAbstractButton *>(u"stopMatrix"_s);
        const auto *words = panel->findChild<PlainLabel *>(u"matrixWords"_s);
        QTRY_VERIFY(measure && measure->isVisible() && measure->isEnabled());
        QTest::mouseClick(measure, Qt::LeftButton);
        const auto measured = [model] {
            using Mark = MatrixCell::Mark;
            return model->count(Mark::Calm) + model->count(Mark::Warning) + model->count(Mark::Alarm);
        };
        QTRY_VERIFY_WITH_TIMEOUT(measured() >= 20, 60'000); // all of them are tst_guaranteematrix's
        QTest::mouseClick(stop, Qt::LeftButton);
        QTRY_VERIFY2_WITH_TIMEOUT(words->text().startsWith(u"stopped after "_s), qPrintable(words->text()), 30'000);
        QTRY_VERIFY(measure->isEnabled());
        QCOMPARE(model->countOff(), 0);
        int told = 0;
        for (int row = 0; row < model->rowCount(); ++row) {
            for (int column = 0; column < model->columnCount(); ++column) {
                const MatrixCell cell = model->cell(model->index(row, column));
                if (cell.mails < 0)
                    continue;
                ++told;
                const QDir mailbox(cell.folder + u"/mailbox/new"_s);
                QCOMPARE(mailbox.entryList(QDir::Files).size(), cell.mails);
            }
        }
        QCOMPARE(told, measured());
        QCOMPARE(mails()->rowCount(), 0); // worlds of their own
        auto *save = m_window->findChild<QAbstractButton *>(u"exportMatrix"_s);
        QTest::mouseClick(save, Qt::LeftButton);
        auto *dialog = panel->findChild<QFileDialog *>(u"matrixFile"_s);
        QVERIFY(dialog);
        const QString path = m_dir->filePath(u"matrix.jsonl"_s);
        Q_EMIT dialog->fileSelected(path);
        dialog->close();
        QTRY_COMPARE(words->text(), u"Matrix written: "_s + path);
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll().count('\n'), told);
    }

    void stopAndStartAgain()
    {
        click(u"Start"_s);
        click(u"Stop"_s);
        QTRY_VERIFY(button(u"Start"_s)->isEnabled());
        click(u"Send one event"_s);
        click(u"Start"_s);
        QTRY_COMPARE(mails()->rowCount(), 1);
    }

    void closingTheWindowSettlesAndCloses()
    {
        click(u"Start"_s);
        click(u"Send one event"_s);
        QTRY_COMPARE(mails()->rowCount(), 1);
        m_window->close();
        QTRY_VERIFY(!m_window->isVisible());
    }
};

QTEST_MAIN(Console)
#include "tst_console.moc"
