#include "app/process/backstage.h"

#include <QtGlobal>

#ifdef Q_OS_LINUX
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace sendonce {

void stepBackstage()
{
#ifdef Q_OS_LINUX
    constexpr int Niceness = 5;
    (void)::setpriority(PRIO_PROCESS, id_t(::gettid()), Niceness); // refused: then the window waits a little longer
#endif
}

} // namespace sendonce
