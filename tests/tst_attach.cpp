#include "ui/attach.h"
#include "ui/checkmodel.h"
#include "ui/checkpanel.h"
#include "ui/deadletteracts.h"
#include "ui/deadlettersmodel.h"
#include "ui/deadletterspanel.h"
#include "ui/logmodel.h"
#include "ui/logpanel.h"
#include "ui/mailboxpanel.h"
#include "ui/mainwindow.h"
#include "ui/notice.h"
#include "ui/plainlabel.h"
#include "ui/rowtable.h"
#include "ui/statusline.h"
#include "ui/windowactions.h"
#include "worker/worker.h"

#include <QAction>
#include <QMetaMethod>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using namespace Qt::StringLiterals;
using namespace sendonce;

namespace {

/// Can be asked who listens to it.
class ListenedWindow : public MainWindow
{
public:
    int listeners(const QMetaMethod &signal) const
    {
        return receivers(QByteArray("2" + signal.methodSignature()).constData());
    }
};

} // namespace

/// The worker is never opened here: its signals are emitted by hand, as from its thread.
class TestAttach : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        QTest::failOnWarning(QRegularExpression(u"^(?!This plugin does not support)"_s));
        Config config;
        config.dataDir = m_folder.path();
        m_worker = std::make_unique<Worker>(config);
        m_window = std::make_unique<ListenedWindow>();
        attach(*m_window, *m_worker);
        m_window->show();
    }
    void cleanup()
    {
        m_window.reset();
        m_worker.reset();
    }

    void everyWishOfTheWindowIsHeard()
    {
        const QMetaObject &meta = MainWindow::staticMetaObject;
        int wishes = 0;
        for (int i = meta.methodOffset(); i < meta.methodCount(); ++i) {
            const QMetaMethod method = meta.method(i);
            if (method.methodType() != QMetaMethod::Signal || method.name() == "eventSelected")
                continue;
            QVERIFY2(m_window->listeners(method) == 1, method.methodSignature().constData());
            ++wishes;
        }
        QCOMPARE(wishes, 25);
    }

    void everyWishAboutDeadLettersIsHeard()
    {
        DeadLetterActs *acts = m_window->letterActs();
        const QMetaObject &meta = DeadLetterActs::staticMetaObject;
        int wishes = 0;
        for (int i = meta.methodOffset(); i < meta.methodCount(); ++i) {
            const QMetaMethod method = meta.method(i);
            if (method.methodType() != QMetaMethod::Signal)
                continue;
            const QByteArray signal = '2' + method.methodSignature(); // as SIGNAL() would write it
            // One listener: disconnecting all of this signal succeeds only when there is one.
            QVERIFY2(QObject::disconnect(acts, signal.constData(), nullptr, nullptr), signal.constData());
            ++wishes;
        }
        QCOMPARE(wishes, 18);
    }

    void refusedKeysAreSaidWithAWayOut()
    {
        const auto status = [](ServiceStatus::Health health, const QDateTime &nextTry = {}) {
            return ServiceStatus{ServiceStatus::Service::Queue, health, u"sqs.eu-west-1.amazonaws.com:443"_s,
                                 u"ExpiredToken: put new keys into profile “work”"_s, nextTry};
        };
        const QDateTime soon = QDateTime::currentDateTimeUtc().addSecs(60);
        const auto *notice = m_window->findChild<Notice *>();
        auto *retry = m_window->findChild<QPushButton *>(u"noticeAct"_s);
        QSignalSpy asked(m_window.get(), &MainWindow::retryKeysRequested);
        Q_EMIT m_worker->opened();
        Q_EMIT m_worker->stateChanged(WorkerState::Running);
        QTRY_VERIFY(m_window->actions().stop->isEnabled());
        QVERIFY(!m_window->actions().retryKeys->isEnabled());

        Q_EMIT m_worker->serviceChanged(status(ServiceStatus::Health::Paused, soon));
        QTRY_VERIFY(retry->isVisible());
        QVERIFY2(notice->text().contains(u"put new keys into profile “work”"_s), qPrintable(notice->text()));
        QVERIFY(shows(u"paused · keys not accepted"_s));
        QVERIFY(shows(u"queue sqs.eu-west-1.amazonaws.com:443 · paused: keys"_s));
        QVERIFY(m_window->actions().retryKeys->isEnabled());

        QTest::mouseClick(retry, Qt::LeftButton);
        QCOMPARE(asked.size(), 1);
        Q_EMIT m_worker->serviceChanged(status(ServiceStatus::Health::Paused)); // under way
        QTRY_COMPARE(retry->text(), u"Trying…"_s);
        QVERIFY(!retry->isEnabled());
        QVERIFY(!m_window->actions().retryKeys->isEnabled());
        Q_EMIT m_worker->serviceChanged(status(ServiceStatus::Health::Paused, soon)); // in vain
        QTRY_COMPARE(retry->text(), u"Retry"_s);
        QVERIFY(retry->isEnabled());

        // Closed it stays closed when the worker tries by itself; a try from the menu is answered.
        QTest::mouseClick(m_window->findChild<Notice *>()->findChild<QToolButton *>(), Qt::LeftButton);
        Q_EMIT m_worker->serviceChanged(status(ServiceStatus::Health::Paused));
        Q_EMIT m_worker->serviceChanged(status(ServiceStatus::Health::Paused, soon.addSecs(60)));
        QTRY_VERIFY(m_window->actions().retryKeys->isEnabled());
        QVERIFY(notice->isHidden());
        m_window->actions().retryKeys->trigger();
        QCOMPARE(asked.size(), 2);
        Q_EMIT m_worker->serviceChanged(status(ServiceStatus::Health::Paused));
        Q_EMIT m_worker->serviceChanged(status(ServiceStatus::Health::Paused, soon.addSecs(120)));
        QTRY_VERIFY(retry->isVisible());

        Q_EMIT m_worker->serviceChanged(status(ServiceStatus::Health::Ok));
        QTRY_COMPARE(notice->text(), u"The queue accepts the keys; the worker goes on."_s);
        QVERIFY(!retry->isVisible());
        QVERIFY(shows(u"running · waiting for messages"_s));
        QVERIFY(!m_window->actions().retryKeys->isEnabled());
    }

    void whatTheWorkerSaysIsShown()
    {
        Worker &worker = *m_worker;
        QVERIFY(!m_window->actions().start->isEnabled());
        Q_EMIT worker.opened();
        QVERIFY(!m_window->actions().start->isEnabled()); // queued: the worker lives elsewhere
        QTRY_VERIFY(m_window->actions().start->isEnabled());
        Q_EMIT worker.stateChanged(WorkerState::Running);
        QTRY_VERIFY(m_window->actions().stop->isEnabled());
        Q_EMIT worker.countersChanged({7, 2, 1, 0, 0});
        QTRY_COMPARE(m_window->findChild<StatusLine *>()->countersText(),
                     u"sent 7 · skipped 2 · failed 1 · in doubt 0"_s);
        Q_EMIT worker.logged({QDateTime::currentDateTimeUtc(), LogLevel::Info, u"hello"_s, {}});
        QTRY_COMPARE(m_window->logPanel()->model()->rowCount(), 1);
        Q_EMIT worker.armedChanged({FaultRule()});
        QTRY_VERIFY(m_window->findChild<QPushButton *>(u"armed"_s)->isVisible());
        DeadLetterList letters;
        letters.letters.resize(1);
        letters.letters[0].message.messageId = u"m"_s;
        letters.finished = true;
        Q_EMIT worker.deadLettersChanged(letters);
        QTRY_COMPARE(m_window->deadLettersPanel()->model()->rowCount(), 1);
        Q_EMIT worker.replayChanged({{u"m"_s, {}, ReplayItem::State::Sending, {}, 1}});
        QTRY_VERIFY(!m_window->deadLettersPanel()->model()->canReplay(0));
        const auto *way = m_window->findChild<PlainLabel *>(u"replayWay"_s);
        Q_EMIT worker.moveTasksProbed({MoveTaskSupport::Answer::No, u"InvalidAction"_s});
        QTRY_VERIFY(!way->isHidden());
        QCOMPARE(way->text(), u"This endpoint has no message move tasks: a replay sends, verifies, deletes."_s);
        QVERIFY(way->toolTip().contains(u"InvalidAction"_s));
        Q_EMIT worker.moveTasksProbed({MoveTaskSupport::Answer::Yes, {}});
        QTRY_VERIFY(way->isHidden());
        MailRow mail;
        mail.id = u"1"_s;
        Q_EMIT worker.mailboxSnapshot({{mail}, 1, {}});
        QTRY_COMPARE(m_window->mailboxPanel()->table()->model()->rowCount(), 1);
        Q_EMIT worker.checkLine({});
        QTRY_COMPARE(m_window->checkPanel()->model()->rowCount(), 1);
        m_window->actions().check->setEnabled(false);
        Q_EMIT worker.checkFinished();
        QTRY_VERIFY(m_window->actions().check->isEnabled());
        Q_EMIT worker.actFailed(u"Sending"_s, u"no answer"_s);
        QTRY_COMPARE(m_window->findChild<Notice *>()->text(), u"Sending failed: no answer"_s);
        Q_EMIT worker.openFailed({ErrorKind::Io, u"the disk is full"_s, {}});
        QTRY_COMPARE(m_window->findChild<Notice *>()->text(), u"the disk is full"_s);
        QVERIFY(!m_window->actions().stop->isEnabled());
    }

    void theWindowGoesWhenTheWorkerIsClosed()
    {
        QSignalSpy closed(m_worker.get(), &Worker::closed);
        QVERIFY(!m_window->close());
        QTRY_COMPARE(closed.size(), 1);
        QTRY_VERIFY(!m_window->isVisible());
    }

private:
    bool shows(const QString &text) const
    {
        const auto labels = m_window->findChildren<PlainLabel *>();
        return std::any_of(labels.cbegin(), labels.cend(),
                           [&text](const PlainLabel *label) { return label->isVisible() && label->text() == text; });
    }

    QTemporaryDir m_folder;
    std::unique_ptr<Worker> m_worker;
    std::unique_ptr<ListenedWindow> m_window;
};

QTEST_MAIN(TestAttach)
#include "tst_attach.moc"
