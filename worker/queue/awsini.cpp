#include "worker/queue/awsini.h"

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

/// "profile   \"my team\"" and "profile 'my team'" -> "profile my team". Only botocore knows the quotes; nobody means
/// them as part of a name.
QString sectionName(const QString &header)
{
    QString name;
    QChar quote;
    for (const QChar character : header) {
        if (!quote.isNull() && character == quote)
            quote = {};
        else if (quote.isNull() && (character == u'"' || character == u'\''))
            quote = character;
        else
            name += character;
    }
    return name.simplified();
}

} // namespace

QString withoutComment(const QString &value)
{
    for (qsizetype i = 1; i < value.size(); ++i) {
        if ((value[i] == u'#' || value[i] == u';') && value[i - 1].isSpace())
            return value.left(i).trimmed();
    }
    return value;
}

QString AwsIniSection::word(const QString &key) const
{
    return withoutComment(values.value(key));
}

AwsIni parseAwsIni(const QByteArray &text)
{
    AwsIni ini;
    AwsIniSection *section = nullptr;
    QString block; // the key that the lines indented further belong to
    qsizetype blockIndent = 0;
    // fromUtf8 drops a byte order mark, trimming a carriage return.
    const QStringList lines = QString::fromUtf8(text).split(u'\n');
    for (const QString &line : lines) {
        const QString trimmed = line.trimmed();
        if (trimmed.isEmpty() || trimmed.startsWith(u'#') || trimmed.startsWith(u';'))
            continue;
        if (trimmed.startsWith(u'[')) {
            const qsizetype end = trimmed.indexOf(u']');
            section = end < 0 ? nullptr : &ini[sectionName(trimmed.mid(1, end - 1))];
            block.clear();
            continue;
        }
        if (!section)
            continue;
        qsizetype delimiter = trimmed.indexOf(u'=');
        if (delimiter < 0)
            delimiter = trimmed.indexOf(u':'); // Python's other one
        if (delimiter <= 0)
            continue;
        const QString key = trimmed.left(delimiter).trimmed().toLower();
        const QString value = trimmed.mid(delimiter + 1).trimmed();
        const qsizetype indent = line.indexOf(trimmed.front());
        if (!block.isEmpty() && indent > blockIndent) {
            section->nested[block].insert(key, value);
            continue;
        }
        blockIndent = indent;
        block = value.isEmpty() || withoutComment(u' ' + value).isEmpty() ? key : QString();
        section->values.insert(key, value);
    }
    return ini;
}

} // namespace sendonce
