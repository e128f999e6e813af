#include "tests/world/certificates.h"

#include <QProcess>

using namespace Qt::StringLiterals;

namespace sendonce::world {

bool Certificates::make()
{
    const QString folder = m_folder.path();
    const auto openssl = [&folder](const QStringList &arguments) {
        QProcess process;
        process.setWorkingDirectory(folder);
        process.start(u"openssl"_s, arguments);
        return process.waitForFinished() && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
    };
    const QStringList newKey{u"-newkey"_s, u"ec"_s, u"-pkeyopt"_s, u"ec_paramgen_curve:prime256v1"_s, u"-nodes"_s};
    const auto signedFor = [&](const QString &name, const QString &names, const QString &days) {
        return openssl(QStringList{u"req"_s, u"-new"_s} + newKey
                       + QStringList{u"-keyout"_s, name + u".key"_s, u"-out"_s, name + u".csr"_s, u"-subj"_s,
                                     u"/CN="_s + name, u"-addext"_s, u"subjectAltName="_s + names})
            && openssl({u"x509"_s, u"-req"_s, u"-in"_s, name + u".csr"_s, u"-CA"_s, u"ca.pem"_s, u"-CAkey"_s,
                        u"ca.key"_s, u"-CAcreateserial"_s, u"-copy_extensions"_s, u"copy"_s, u"-days"_s, days,
                        u"-out"_s, name + u".pem"_s});
    };
    const auto selfSigned = [&](const QString &name, const QString &extension) {
        return openssl(QStringList{u"req"_s, u"-x509"_s} + newKey
                       + QStringList{u"-keyout"_s, name + u".key"_s, u"-out"_s, name + u".pem"_s, u"-days"_s, u"30"_s,
                                     u"-subj"_s, u"/CN=Sendonce test "_s + name, u"-addext"_s, extension});
    };
    const QString here = u"DNS:localhost,IP:127.0.0.1"_s;
    return m_folder.isValid() && selfSigned(u"ca"_s, u"keyUsage=critical,keyCertSign"_s)
        && signedFor(u"localhost"_s, here, u"30"_s) && signedFor(u"other"_s, u"DNS:mail.example"_s, u"30"_s)
        && signedFor(u"expired"_s, here, u"-1"_s) && selfSigned(u"self"_s, u"subjectAltName="_s + here);
}

} // namespace sendonce::world
