#pragma once

#include <QString>
#include <QTemporaryDir>

namespace sendonce::world {

/// A certificate and its key, as PEM files.
struct Identity
{
    QString certificate;
    QString key;
};

/// A certificate authority of its own and what it signed, made by openssl in a temporary folder.
class Certificates
{
public:
    /// False: openssl is not there or failed; then nothing below is of use.
    bool make();

    QString authority() const { return path("ca.pem"); }
    Identity localhost() const { return of("localhost"); } ///< DNS:localhost and IP:127.0.0.1
    Identity other() const { return of("other"); } ///< DNS:mail.example
    Identity expired() const { return of("expired"); } ///< as localhost(), until yesterday
    Identity selfSigned() const { return of("self"); } ///< as localhost(), signed by nobody

private:
    QString path(const char *file) const { return m_folder.filePath(QString::fromLatin1(file)); }
    Identity of(const char *name) const
    {
        return {m_folder.filePath(QString::fromLatin1(name) + QStringLiteral(".pem")),
                m_folder.filePath(QString::fromLatin1(name) + QStringLiteral(".key"))};
    }

    QTemporaryDir m_folder;
};

} // namespace sendonce::world
