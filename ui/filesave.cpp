#include "ui/filesave.h"

#include <QCoreApplication>
#include <QPointer>
#include <QSaveFile>
#include <QThreadPool>

namespace sendonce {

void saveFile(const QString &path, const QByteArray &bytes, QObject *context, std::function<void(const QString &)> done)
{
    QThreadPool::globalInstance()->start([path, bytes, guard = QPointer<QObject>(context), done = std::move(done)] {
        QSaveFile file(path);
        QString error;
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
            error = file.errorString();
        // Back by way of the application object: the context may end at any moment, and only in its own thread.
        QMetaObject::invokeMethod(QCoreApplication::instance(), [guard, done, error] {
            if (guard)
                done(error);
        });
    });
}

} // namespace sendonce
