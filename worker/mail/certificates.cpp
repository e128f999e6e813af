#include "worker/mail/certificates.h"

#include <QDateTime>
#include <QFile>
#include <QStringList>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr qint64 FileSizeLimit = 4 << 20; ///< a whole system's roots have about 200 KiB

/// The names a certificate is for, cut, without what a terminal should not get.
QString namesOf(const QSslCertificate &certificate)
{
    QStringList names = certificate.subjectAlternativeNames().values();
    if (names.isEmpty())
        names = certificate.subjectInfo(QSslCertificate::CommonName);
    names.sort();
    QString text = names.join(u", "_s).left(200);
    for (QChar &c : text) {
        if (!c.isPrint())
            c = u'\ufffd';
    }
    return text.isEmpty() ? u"nobody"_s : text;
}

QString dateOf(const QDateTime &date)
{
    return date.toUTC().toString(u"yyyy-MM-dd"_s);
}

QString inWords(const QSslError &error, const QString &host)
{
    switch (error.error()) {
    case QSslError::HostNameMismatch:
        return u"it is for %1, not for %2"_s.arg(namesOf(error.certificate()), host);
    case QSslError::CertificateExpired:
        return u"it expired on %1"_s.arg(dateOf(error.certificate().expiryDate()));
    case QSslError::CertificateNotYetValid:
        return u"it is valid only from %1"_s.arg(dateOf(error.certificate().effectiveDate()));
    case QSslError::SelfSignedCertificate:
        return u"it is self-signed; name it with --mail-ca-file if it is the right one"_s;
    case QSslError::SelfSignedCertificateInChain:
    case QSslError::UnableToGetLocalIssuerCertificate:
    case QSslError::UnableToGetIssuerCertificate:
    case QSslError::UnableToVerifyFirstCertificate:
    case QSslError::CertificateUntrusted:
        return u"nobody known here signed it; name its signer's certificate with --mail-ca-file"_s;
    default:
        return error.errorString();
    }
}

} // namespace

Result<QList<QSslCertificate>> readCertificates(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return Error{ErrorKind::Io, u"%1 cannot be read: %2"_s.arg(path, file.errorString()), {}};
    const QList<QSslCertificate> certificates = QSslCertificate::fromData(file.read(FileSizeLimit), QSsl::Pem);
    if (certificates.isEmpty())
        return Error{ErrorKind::Invalid, u"%1 holds no certificate; a file in PEM form is accepted"_s.arg(path), {}};
    return certificates;
}

QString certificateProblem(const QList<QSslError> &errors, const QString &host)
{
    QStringList texts;
    for (const QSslError &error : errors) {
        const QString text = inWords(error, host);
        if (!texts.contains(text))
            texts.append(text);
    }
    return u"the certificate of %1 is not accepted: %2"_s.arg(host, texts.join(u"; "_s));
}

} // namespace sendonce
