#include "worker/mail/maildirlookup.h"

#include <QDir>
#include <QFile>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qint64 LongestHead = 64 * 1024;

/// The header's value without angle brackets: our own Message-IDs are never folded, but a relay may fold behind the
/// colon.
QString messageIdOf(const QByteArray &head)
{
    static constexpr QByteArrayView Name("\nmessage-id:");
    const qsizetype at = ('\n' + head.toLower()).indexOf(Name);
    if (at < 0)
        return {};
    const qsizetype from = at + Name.size() - 1; // in `head`, which has no line break in front
    const qsizetype end = head.indexOf('>', from);
    if (end < 0)
        return {};
    const QByteArray value = head.sliced(from, end - from).trimmed();
    return value.startsWith('<') ? QString::fromLatin1(value.sliced(1)) : QString();
}

QByteArray headOf(QFile &file)
{
    QByteArray head;
    while (head.size() < LongestHead && !file.atEnd()) {
        const QByteArray line = file.readLine(LongestHead);
        if (line == "\n" || line == "\r\n")
            break;
        head += line;
    }
    return head;
}

} // namespace

Result<QSet<QString>> maildirHolds(const QString &maildir, const QSet<QString> &messageIds)
{
    QSet<QString> held;
    for (const QString &part : {u"new"_s, u"cur"_s}) {
        const QDir folder(QDir(maildir).filePath(part));
        if (!folder.exists() && part == "cur"_L1)
            continue;
        if (!folder.isReadable())
            return Error{ErrorKind::Io, u"%1 is no Maildir that can be read"_s.arg(maildir), {}};
        const QStringList names = folder.entryList(QDir::Files, QDir::Time);
        for (const QString &name : names) {
            if (held.size() == messageIds.size())
                return held;
            QFile file(folder.filePath(name));
            if (!file.open(QIODevice::ReadOnly))
                continue; // read and moved on by its owner
            if (const QString messageId = messageIdOf(headOf(file)); messageIds.contains(messageId))
                held.insert(messageId);
        }
    }
    return held;
}

Result<bool> maildirHas(const QString &maildir, const QString &messageId)
{
    const auto held = maildirHolds(maildir, {messageId});
    return held ? Result<bool>(!held->isEmpty()) : held.error();
}

} // namespace sendonce
