#include "ui/attach.h"
#include "ui/checkmodel.h"
#include "ui/checkpanel.h"
#include "ui/deadlettersmodel.h"
#include "ui/deadletterspanel.h"
#include "ui/logmodel.h"
#include "ui/logpanel.h"
#include "ui/mailboxpanel.h"
#include "ui/mainwindow.h"
#include "ui/notice.h"
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
        QCOMPARE(wishes, 15);
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
        Q_EMIT worker.armedChanged({{u"mail"_s, 2, 451, {}}});
        QTRY_VERIFY(m_window->findChild<QPushButton *>(u"armed"_s)->isVisible());
        DeadLetterList letters;
        letters.letters.resize(1);
        letters.letters[0].message.messageId = u"m"_s;
        letters.finished = true;
        Q_EMIT worker.deadLettersChanged(letters);
        QTRY_COMPARE(m_window->deadLettersPanel()->model()->rowCount(), 1);
        Q_EMIT worker.replayChanged({u"m"_s, {}, ReplayItem::State::Sending, {}});
        QTRY_VERIFY(!m_window->deadLettersPanel()->model()->canReplay(0));
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
    QTemporaryDir m_folder;
    std::unique_ptr<Worker> m_worker;
    std::unique_ptr<ListenedWindow> m_window;
};

QTEST_MAIN(TestAttach)
#include "tst_attach.moc"
