#include "worker/scenario/demonstrationworker.h"

#include "worker/scenario/demonstrationlane.h"
#include "worker/scenario/world.h"

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

/// As Worker has them.
DemonstrationServices servicesOf(const Config &config)
{
    static const auto types = std::make_shared<const EventTypes>([] {
        auto loaded = EventTypes::load({});
        return loaded ? loaded.take() : EventTypes();
    }());
    DemonstrationServices services;
    services.databaseUrl = config.databaseUrl;
    if (const auto smtp = SmtpSettings::fromConfig(config))
        services.smtp = smtp.value();
    services.smtp.timeout = config.mailTimeout;
    services.smtp.finalTimeout = config.mailFinalTimeout;
    services.rules.eventTypes = types.get();
    if (const auto from = MailAddress::parse(config.mailFrom))
        services.rules.from = from.value();
    services.rules.messageIdDomain =
        config.messageIdDomain.isEmpty() ? services.rules.from.domain() : config.messageIdDomain;
    return services;
}

SqsSettings queueOf(const Config &config)
{
    return {config.queueUrl.adjusted(QUrl::RemovePath), config.region, config.credentials};
}

} // namespace

DemonstrationWorker::DemonstrationWorker(const World &world, DemonstrationDesign design,
                                         std::shared_ptr<ExpiringKeys> keys, QObject *parent)
    : QObject(parent)
{
    DemonstrationServices services = servicesOf(world.config());
    // Not told what is armed, so that it asks at each point.
    services.faults = std::make_shared<FaultGate>(world.config().controlSocket, FaultGate::Death::Lane);
    services.keys = std::move(keys);
    services.stop = m_stop;
    m_lane = new DemonstrationLane(world.config().queueUrl, queueOf(world.config()), std::move(services), design);
    m_lane->moveToThread(&m_thread);
    m_thread.setObjectName(u"demonstration"_s);
    connect(&m_thread, &QThread::finished, m_lane, &QObject::deleteLater);
    connect(m_lane, &DemonstrationLane::logged, this, &DemonstrationWorker::logged);
    connect(m_lane, &DemonstrationLane::stopped, this, &DemonstrationWorker::stopped);
    connect(m_lane, &DemonstrationLane::inHandChanged, this, &DemonstrationWorker::inHandChanged);
    m_thread.start();
}

DemonstrationWorker::~DemonstrationWorker()
{
    *m_stop = true;
    m_thread.quit();
    m_thread.wait();
}

void DemonstrationWorker::start()
{
    QMetaObject::invokeMethod(m_lane, &DemonstrationLane::start);
}

void DemonstrationWorker::stop()
{
    *m_stop = true;
    QMetaObject::invokeMethod(m_lane, &DemonstrationLane::stop);
}

} // namespace sendonce
