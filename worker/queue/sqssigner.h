#pragma once

#include "worker/config.h"

#include <QByteArray>
#include <QDateTime>
#include <QList>
#include <QPair>
#include <QString>
#include <QUrl>

#include <chrono>

namespace sendonce {

/// Gives each attempt at a request its headers: those of AWS JSON 1.0 and the signature of its moment. Keeps the day's
/// signing key and what is known of the difference between our clock and the server's.
class SqsSigner
{
public:
    using Headers = QList<QPair<QByteArray, QByteArray>>;

    /// \param region used unless the host names another one
    SqsSigner(const AwsCredentials &credentials, QString region);

    void setCredentials(const AwsCredentials &credentials); ///< for all further attempts

    /// All headers that must be sent as they are; Authorization is the last. \param now our clock, uncorrected
    Headers headers(const QUrl &url, const QByteArray &operation, const QByteArray &body, const QDateTime &now);

    std::chrono::seconds clockOffset() const { return m_clockOffset; } ///< server's clock minus ours
    void setClockOffset(std::chrono::seconds offset) { m_clockOffset = offset; }

    /// `text` of a server, without our secrets.
    QString redacted(const QString &text) const;

private:
    struct Endpoint
    {
        QUrl url;
        QByteArray region, host, path;
    };
    const Endpoint &endpoint(const QUrl &url);

    AwsCredentials m_credentials;
    QString m_region;
    std::chrono::seconds m_clockOffset{0};
    QByteArray m_keyScope; ///< what m_key is good for
    QByteArray m_key;
    Endpoint m_endpoint; ///< the last one: nearly always the next one too
};

} // namespace sendonce
