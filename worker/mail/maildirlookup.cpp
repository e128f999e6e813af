#include "worker/mail/maildirlookup.h"

#include <QDir>
#include <QFile>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qint64 LongestHead = 64 * 1024;

/// The header's value as it was sent: our own Message-IDs are never folded, but a relay may fold behind the colon.
bool headHas(const QByteArray &head, const QByteArray &messageId)
{
    static constexpr QByteArrayView Name("\nmessage-id:");
    const qsizetype at = ('\n' + head.toLower()).indexOf(Name);
    if (at < 0)
        return false;
    const qsizetype from = at + Name.size() - 1; // in `head`, which has no line break in front
    const qsizetype end = head.indexOf('>', from);
    return end > 0 && head.sliced(from, end + 1 - from).trimmed() == messageId;
}

} // namespace

Result<bool> maildirHas(const QString &maildir, const QString &messageId)
{
    const QByteArray wanted = '<' + messageId.toLatin1() + '>';
    for (const QString &part : {u"new"_s, u"cur"_s}) {
        const QDir folder(QDir(maildir).filePath(part));
        if (!folder.exists() && part == "cur"_L1)
            continue;
        if (!folder.isReadable())
            return Error{ErrorKind::Io, u"%1 is no Maildir that can be read"_s.arg(maildir), {}};
        const QStringList names = folder.entryList(QDir::Files, QDir::Time);
        for (const QString &name : names) {
            QFile file(folder.filePath(name));
            if (!file.open(QIODevice::ReadOnly))
                continue; // read and moved on by its owner
            QByteArray head;
            while (head.size() < LongestHead && !file.atEnd()) {
                const QByteArray line = file.readLine();
                if (line == "\n" || line == "\r\n")
                    break;
                head += line;
            }
            if (headHas(head, wanted))
                return true;
        }
    }
    return false;
}

} // namespace sendonce
