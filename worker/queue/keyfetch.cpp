#include "worker/queue/keyfetch.h"

#include "worker/queue/awsendpoint.h"
#include "worker/queue/httpclient.h"
#include "worker/queue/sigv4.h"
#include "worker/queue/sqserrors.h"

#include <QProcess>

#include <utility>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr qsizetype MaxOutput = 1 << 20;
constexpr int KillWaitMsec = 1'000;

} // namespace

KeyFetch::KeyFetch(AwsKeyPlan plan, HttpClient *http, std::chrono::milliseconds limit, QObject *parent)
    : QObject(parent)
    , m_plan(std::move(plan))
    , m_http(http)
    , m_limit(limit)
{
    m_timer.setSingleShot(true);
}

KeyFetch::~KeyFetch()
{
    m_done = nullptr;
    if (m_process) {
        m_process->disconnect(this);
        m_process->kill();
        m_process->waitForFinished(KillWaitMsec); // SIGKILL; QProcess warns of those still running
    }
}

void KeyFetch::start(Done done)
{
    m_done = std::move(done);
    m_keys = {m_plan.keys, m_plan.expiration};
    connect(&m_timer, &QTimer::timeout, this, [this] {
        const QString seconds = QString::number(double(m_limit.count()) / 1000);
        if (m_process)
            end(Error{ErrorKind::Refused, u"%1 did not end within %2 s"_s.arg(processName(), seconds), {}});
        else
            end(Error{ErrorKind::Unreachable,
                      u"%1 gave no answer to AssumeRole within %2 s"_s.arg(m_plan.stsEndpoint.host(), seconds),
                      {}});
    });
    QTimer::singleShot(0, this, [this] { m_plan.process.isEmpty() ? next() : runProcess(); });
}

QString KeyFetch::processName() const
{
    return u"credential_process of profile “%1”"_s.arg(m_plan.processProfile);
}

void KeyFetch::runProcess()
{
    m_process = new QProcess(this);
    m_process->setProgram(m_plan.process.value(0));
    m_process->setArguments(m_plan.process.mid(1));
    m_process->setStandardInputFile(QProcess::nullDevice());
    connect(m_process, &QProcess::readyReadStandardOutput, this, [this] {
        m_received += m_process->readAllStandardOutput();
        if (m_received.size() > MaxOutput)
            end(Error{ErrorKind::Refused, processName() + u" printed more than 1 MiB"_s, {}});
    });
    // Queued, so that the rest of the output is read before.
    connect(
        m_process, &QProcess::finished, this,
        [this](int exitCode, QProcess::ExitStatus status) { processEnded(status == QProcess::CrashExit, exitCode); },
        Qt::QueuedConnection);
    connect(
        m_process, &QProcess::errorOccurred, this,
        [this](QProcess::ProcessError error) {
            if (error == QProcess::FailedToStart && m_process)
                end(Error{ErrorKind::Refused,
                          u"%1 could not be started: %2"_s.arg(processName(), m_process->errorString()),
                          {}});
        },
        Qt::QueuedConnection);
    m_timer.start(m_limit);
    m_process->start();
}

void KeyFetch::processEnded(bool crashed, int exitCode)
{
    if (!m_done || !m_process)
        return;
    m_received += m_process->readAllStandardOutput();
    if (crashed || exitCode != 0) {
        const QString reason = sqserrors::oneLine(QString::fromUtf8(m_process->readAllStandardError()));
        QString text = crashed ? processName() + u" crashed"_s
                               : u"%1 failed with exit code %2"_s.arg(processName(), QString::number(exitCode));
        if (!reason.isEmpty())
            text += u": "_s + reason;
        end(Error{ErrorKind::Refused, text, {}});
        return;
    }
    auto keys = awskeys::readProcessOutput(std::exchange(m_received, {}));
    m_process->deleteLater();
    m_process = nullptr;
    if (!keys) {
        end(Error{keys.error().kind, processName() + u' ' + keys.error().text, {}});
        return;
    }
    m_keys = keys.take();
    next();
}

void KeyFetch::next()
{
    m_timer.stop();
    if (m_role < m_plan.roles.size())
        assumeRole();
    else
        end(m_keys);
}

void KeyFetch::assumeRole()
{
    const QByteArray form = awskeys::assumeRoleForm(m_plan.roles[m_role]);
    const sigv4::Scope scope{QDateTime::currentDateTimeUtc(), m_plan.stsRegion.toLatin1(), "sts"_ba};
    QUrl url = awsendpoint::origin(m_plan.stsEndpoint);
    url.setPath(u"/"_s);
    sigv4::Request signedPart{"POST"_ba, "/"_ba, {}, form};
    signedPart.headers = {{"Host"_ba, awsendpoint::hostHeader(url)},
                          {"Content-Type"_ba, "application/x-www-form-urlencoded; charset=utf-8"_ba},
                          {"X-Amz-Date"_ba, sigv4::amzDate(scope.time)}};
    if (!m_keys.keys.sessionToken.isEmpty())
        signedPart.headers.append({"X-Amz-Security-Token"_ba, m_keys.keys.sessionToken.toLatin1()});

    HttpClient::Headers headers = signedPart.headers;
    headers.append({"Accept-Encoding"_ba, "identity"_ba});
    headers.append({"User-Agent"_ba, "Sendonce/" SENDONCE_VERSION ""_ba});
    headers.append({"Authorization"_ba,
                    sigv4::authorization(signedPart, scope, m_keys.keys.accessKeyId.toLatin1(),
                                         sigv4::signingKey(m_keys.keys.secretAccessKey.toUtf8(), scope))});
    m_exchange = m_http->post(url, headers, form, MaxOutput, this);
    connect(m_exchange, &HttpExchange::finished, this, &KeyFetch::replied);
    m_timer.start(m_limit);
}

void KeyFetch::replied()
{
    if (!m_done)
        return;
    const QString who = u"the STS endpoint "_s + QString::fromLatin1(awsendpoint::hostHeader(m_plan.stsEndpoint));
    HttpExchange *exchange = std::exchange(m_exchange, nullptr);
    exchange->deleteLater();
    if (exchange->failure() != HttpExchange::Failure::None) {
        const QString reason = exchange->errorText().isEmpty() ? u"no whole answer came"_s : exchange->errorText();
        end(Error{ErrorKind::Unreachable, u"%1 did not answer AssumeRole: %2"_s.arg(who, reason), {}});
        return;
    }
    auto keys = awskeys::readAssumedRole(exchange->response().status, exchange->response().body);
    if (!keys) {
        const AwsRole &role = m_plan.roles[m_role];
        end(Error{keys.error().kind,
                  u"%1 answered AssumeRole for %2 (profile “%3”) with %4"_s.arg(who, role.arn, role.profile,
                                                                                keys.error().text),
                  keys.error().code});
        return;
    }
    m_keys = keys.take();
    ++m_role;
    next();
}

void KeyFetch::end(const Result<awskeys::TimedKeys> &result)
{
    if (!m_done)
        return;
    m_timer.stop();
    const Done done = std::exchange(m_done, nullptr);
    done(result);
}

} // namespace sendonce
