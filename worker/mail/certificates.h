#pragma once

#include "worker/result.h"

#include <QList>
#include <QSslCertificate>
#include <QSslError>
#include <QString>

namespace sendonce {

/// The certificates of a PEM file, for --mail-ca-file; at least one. Io: it cannot be read; Invalid: it holds none.
Result<QList<QSslCertificate>> readCertificates(const QString &path);

/// Why a certificate is not accepted for `host`, in words: the name, the date or the signer that is wrong.
QString certificateProblem(const QList<QSslError> &errors, const QString &host);

} // namespace sendonce
