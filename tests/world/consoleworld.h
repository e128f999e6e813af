#pragma once

#include "app/config/embedded.h"
#include "app/config/settings.h"
#include "ui/attach.h"
#include "ui/deadlettersmodel.h"
#include "ui/deadletterspanel.h"
#include "ui/mailboxpanel.h"
#include "ui/mainwindow.h"
#include "ui/rowtable.h"
#include "worker/worker.h"

#include <QtTest>

#include <QAbstractButton>
#include <QDialog>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QThread>

#include <memory>

namespace sendonce::world {

/// The true window with the true worker and the embedded services behind it, in a data folder of its own.
class ConsoleWorld
{
public:
    std::unique_ptr<QTemporaryDir> dir = std::make_unique<QTemporaryDir>();
    std::unique_ptr<LocalServices> services;
    std::unique_ptr<QThread> thread;
    std::unique_ptr<MainWindow> window;
    QString why; ///< it did not start

    ~ConsoleWorld() { close(); }

    bool start(bool readOnly = false, int visibilitySeconds = 2)
    {
        if (!services) {
            services = std::make_unique<LocalServices>();
            LocalSettings settings;
            settings.dataDir = dir->path();
            settings.sqsPort = settings.smtpPort = 0;
            settings.visibilityTimeoutSeconds = visibilitySeconds;
            const auto started = startEmbedded(*services, settings);
            if (!started) {
                why = started.error().text;
                return false;
            }
            m_local = started.value();
        }
        auto resolved = resolve({}, {}, dir->path(), m_local);
        if (!resolved) {
            why = resolved.error().text;
            return false;
        }
        Config config = resolved.take();
        config.readOnly = readOnly;
        WindowSetup setup;
        setup.readOnly = readOnly;
        window = std::make_unique<MainWindow>(setup);
        window->resize(1280, 800);
        thread = std::make_unique<QThread>();
        auto *worker = new Worker(config);
        worker->moveToThread(thread.get());
        QObject::connect(thread.get(), &QThread::finished, worker, &QObject::deleteLater);
        attach(*window, *worker);
        thread->start();
        QMetaObject::invokeMethod(worker, &Worker::open);
        window->show();
        window->bringForward(window->deadLettersPanel());
        return QTest::qWaitForWindowExposed(window.get());
    }

    /// The console alone; the services stay.
    void close()
    {
        if (!window)
            return;
        window->close();
        (void)QTest::qWaitFor([this] { return !window->isVisible(); }, 20'000);
        thread->quit();
        thread->wait(10'000);
        window.reset();
        thread.reset();
    }

    static QByteArray body(const QString &eventId)
    {
        return QJsonDocument(QJsonObject{{QStringLiteral("type"), QStringLiteral("application.status_changed")},
                                         {QStringLiteral("event_id"), eventId},
                                         {QStringLiteral("application_id"), 3},
                                         {QStringLiteral("old_status"), QStringLiteral("reviewing")},
                                         {QStringLiteral("new_status"), QStringLiteral("interview")}})
            .toJson(QJsonDocument::Compact);
    }

    /// A file of letters that can be imported.
    QString lettersFile(const QList<QByteArray> &bodies) const
    {
        QFile file(dir->filePath(QStringLiteral("letters.jsonl")));
        if (!file.open(QIODevice::WriteOnly))
            return {};
        for (const QByteArray &each : bodies)
            file.write(QJsonDocument(QJsonObject{{QStringLiteral("body"), QString::fromUtf8(each)}})
                           .toJson(QJsonDocument::Compact)
                       + '\n');
        return file.fileName();
    }

    DeadLettersPanel *panel() const { return window->deadLettersPanel(); }
    int mails() const { return window->mailboxPanel()->table()->model()->rowCount(); }

    QDialog *dialog(const char *name) const
    {
        for (QDialog *each : window->findChildren<QDialog *>(QString::fromLatin1(name))) {
            if (each->isVisible())
                return each;
        }
        return nullptr;
    }

    template <typename T = QAbstractButton>
    T *in(const QWidget *parent, const char *name) const
    {
        return parent ? parent->findChild<T *>(QString::fromLatin1(name)) : nullptr;
    }

    /// Waits until it can be pressed, and presses it.
    bool click(const QWidget *parent, const char *name) const
    {
        const bool ready = QTest::qWaitFor(
            [&] {
                const auto *button = in(parent, name);
                return button && button->isVisible() && button->isEnabled();
            },
            10'000);
        if (ready)
            QTest::mouseClick(in(parent, name), Qt::LeftButton);
        return ready;
    }

    QString outcome(int row) const { return panel()->model()->index(row, DeadLettersModel::Verdict).data().toString(); }
    int rowOf(const QString &eventId) const { return panel()->model()->rowOfEvent(eventId); }
    QString outcomeOf(const QString &eventId) const { return outcome(rowOf(eventId)); }

private:
    LocalAddresses m_local;
};

} // namespace sendonce::world
