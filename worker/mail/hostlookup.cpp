#include "worker/mail/hostlookup.h"

#include "worker/wait/waiting.h"

#include <QHostInfo>
#include <QThreadPool>

#include <algorithm>
#include <future>
#include <memory>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {

namespace {

constexpr auto Look = 2ms; ///< whether the answer is there

}

Result<QList<QHostAddress>> lookUpHost(const QString &host, std::chrono::milliseconds slice,
                                       const std::function<bool()> &goOn)
{
    QHostAddress literal;
    if (literal.setAddress(host))
        return QList<QHostAddress>{literal};

    const auto promise = std::make_shared<std::promise<QHostInfo>>();
    std::future<QHostInfo> answer = promise->get_future();
    QThreadPool::globalInstance()->start([promise, host] { promise->set_value(QHostInfo::fromName(host)); });
    while (answer.wait_for(0s) != std::future_status::ready) {
        pauseFor(std::min<std::chrono::milliseconds>(slice, Look));
        if (!goOn())
            return Error{ErrorKind::Aborted, u"the look-up of %1 took too long"_s.arg(host), {}};
    }
    const QHostInfo info = answer.get();
    if (info.addresses().isEmpty())
        return Error{ErrorKind::Unreachable, u"the host %1 was not found: %2"_s.arg(host, info.errorString()), {}};
    return info.addresses();
}

bool namesThisComputer(const QString &host)
{
    QHostAddress literal;
    if (literal.setAddress(host))
        return literal.isLoopback();
    return host == "localhost"_L1 || host.endsWith(".localhost"_L1);
}

} // namespace sendonce
