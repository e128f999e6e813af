#include "app/config/keychainsource.h"

#include "app/config/passwordcommand.h"

#include <QCoreApplication>
#include <QDir>

namespace sendonce {

using namespace Qt::StringLiterals;

QString mailAccount(const QUrl &mailUrl)
{
    return mailUrl.userName(QUrl::FullyDecoded) + u'@' + mailUrl.host();
}

MailPassword::Source keychainSource(const QUrl &mailUrl)
{
    const QString program = QDir(QCoreApplication::applicationDirPath()).filePath(u"sendoncectl"_s);
    const QString url = mailUrl.toString(QUrl::FullyEncoded | QUrl::RemovePassword);
    return [program, url](const std::function<bool()> &goOn) {
        return runPasswordCommand({program, u"mail"_s, u"password"_s, u"--print"_s, u"--mail-url"_s, url}, goOn,
                                  PasswordComplaint::IsTheError);
    };
}

} // namespace sendonce
