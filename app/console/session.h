#pragma once

#include "app/config/settings.h"
#include "app/process/logfile.h"
#include "worker/local/localservices.h"
#include "worker/result.h"
#include "worker/worker.h"

#include <QObject>

#include <memory>

namespace sendonce {

/// Brings a profile up behind the window and takes it down again: embedded services, Config, Worker, log file. Lives in
/// the worker thread, so that the window is painted while files and ports are opened.
class Session : public QObject
{
    Q_OBJECT
public:
    Session(GivenSettings given, QString dataDir);

public Q_SLOTS:
    void begin();
    /// The answer to passwordWanted(); empty: there is none, and failed() follows.
    void givePassword(const QString &password);
    void end(); ///< settles and stops everything, then ended()

Q_SIGNALS:
    /// The worker exists in this thread and is not open yet: connect it, then invoke open(). `note`: what a person
    /// should know, such as a port that was taken; may be empty.
    void ready(sendonce::Worker *worker, const QString &profile, bool embedded, const QString &note);
    /// No setting and no keychain has it. begin() goes on with givePassword().
    void passwordWanted(const QString &account, const QString &why);
    void failed(const QString &text);
    void ended();

private:
    void openWorker();

    const GivenSettings m_given;
    const QString m_dataDir;
    Config m_config; ///< once resolved
    QString m_note;
    std::unique_ptr<LocalServices> m_services;
    std::unique_ptr<LogFile> m_log;
    std::unique_ptr<Worker> m_worker;
};

} // namespace sendonce
