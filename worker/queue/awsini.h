#pragma once

#include <QByteArray>
#include <QMap>
#include <QString>
#include <QStringList>

#include <optional>

namespace sendonce {

/// One section of AWS's files. Names of keys are lower-case.
struct AwsIniSection
{
    QMap<QString, QString> values; ///< as written, with what may be a comment at the end
    QMap<QString, QMap<QString, QString>> nested; ///< "sqs =" and indented lines: nested["sqs"]["endpoint_url"]

    /// For text without "#" in it (region, URL): a comment after a blank is cut. Empty when missing.
    QString word(const QString &key) const;
    /// For keys and tokens: to the end of the line, for they may hold anything.
    QString secret(const QString &key) const { return values.value(key); }

    bool operator==(const AwsIniSection &) const = default;
};

/// The sections of one file by what stands between the brackets, blanks and quotes normalised: "default", "profile my
/// team", "services local".
using AwsIni = QMap<QString, AwsIniSection>;

/// The INI dialect of ~/.aws/config and ~/.aws/credentials as botocore and the JavaScript SDK have it in common; what
/// they read differently is settled in sigv4.md, 4.2. Never fails: lines that say nothing are skipped, a section that
/// comes twice is one.
AwsIni parseAwsIni(const QByteArray &text);

/// A value without a comment after it: cut at the first '#' or ';' that follows a blank.
QString withoutComment(const QString &value);

} // namespace sendonce
