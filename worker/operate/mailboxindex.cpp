#include "worker/operate/mailboxindex.h"

#include "worker/mail/mimereader.h"

#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qint64 HeaderBytes = 64 * 1024; // a mail whose headers are longer is shown by what fits

MailRow rowOf(const QFileInfo &file, const ReadMail &mail)
{
    MailRow row;
    row.id = file.fileName();
    row.eventId = mail.header(u"X-Sendonce-Event"_s);
    row.messageId = mail.header(u"Message-ID"_s);
    if (row.messageId.startsWith(u'<') && row.messageId.endsWith(u'>'))
        row.messageId = row.messageId.mid(1, row.messageId.size() - 2);
    row.from = mail.header(u"From"_s);
    row.to = mail.header(u"To"_s);
    row.subject = mail.header(u"Subject"_s);
    row.receivedAt = file.lastModified().toUTC();
    row.sizeBytes = file.size();
    return row;
}

} // namespace

MailboxIndex::MailboxIndex(const QString &dataDir) : m_folder(dataDir + u"/mailbox/new"_s) { }

QString MailboxIndex::eventKey(const MailRow &row)
{
    return row.eventId.isEmpty() ? row.id : row.eventId;
}

bool MailboxIndex::refresh()
{
    namespace fs = std::filesystem;
    QByteArrayList arrived;
    qsizetype known = 0;
    std::error_code failed;
    // What readdir(3) tells of each is enough: QDir would make an object of each of a hundred thousand files, to find
    // the one that is new.
    for (fs::directory_iterator at(QFile::encodeName(m_folder).toStdString(), failed), end; !failed && at != end;
         at.increment(failed)) {
        const std::string name = at->path().filename().string();
        std::error_code gone;
        if (m_known.contains(QByteArray::fromRawData(name.data(), qsizetype(name.size()))))
            ++known;
        else if (!name.starts_with('.') && at->is_regular_file(gone))
            arrived.append(QByteArray::fromStdString(name));
    }
    if (known < m_known.size()) { // somebody removed mails: read it all again
        m_rows.clear();
        m_known.clear();
        m_copies.clear();
        refresh();
        return true;
    }
    std::sort(arrived.begin(), arrived.end());
    bool changed = false;
    for (const QByteArray &name : std::as_const(arrived)) {
        QFile file(m_folder + u'/' + QFile::decodeName(name));
        if (!file.open(QIODevice::ReadOnly))
            continue;
        const MailRow row = rowOf(QFileInfo(file), readHeaders(file.read(HeaderBytes)));
        m_known.insert(name);
        m_rows.append(row);
        ++m_copies[eventKey(row)];
        changed = true;
    }
    return changed;
}

MailboxSnapshot MailboxIndex::snapshot(const QString &search, int limit) const
{
    MailboxSnapshot result;
    for (auto row = m_rows.crbegin(); row != m_rows.crend(); ++row) {
        if (!search.isEmpty() && !row->to.contains(search, Qt::CaseInsensitive)
            && !row->subject.contains(search, Qt::CaseInsensitive)
            && !row->eventId.contains(search, Qt::CaseInsensitive)) {
            continue;
        }
        ++result.total;
        if (result.rows.size() >= limit)
            continue;
        result.rows.append(*row);
        result.rows.last().copies = m_copies.value(eventKey(*row), 1);
    }
    return result;
}

QList<MailRow> MailboxIndex::about(const QString &eventId) const
{
    QList<MailRow> rows;
    for (auto row = m_rows.crbegin(); row != m_rows.crend(); ++row) {
        if (row->eventId != eventId)
            continue;
        rows.append(*row);
        rows.last().copies = m_copies.value(eventKey(*row), 1);
    }
    return rows;
}

MailDetail MailboxIndex::open(const QString &id) const
{
    MailDetail detail;
    const auto row = std::find_if(m_rows.cbegin(), m_rows.cend(), [&id](const MailRow &each) { return each.id == id; });
    if (row == m_rows.cend()) { // also keeps "../" out: only what was listed is opened
        detail.error = u"this mail is no longer in the mailbox"_s;
        return detail;
    }
    QFile file(m_folder + u'/' + row->id);
    if (!file.open(QIODevice::ReadOnly)) {
        detail.error = u"the mail cannot be read: "_s + file.errorString();
        return detail;
    }
    detail.row = *row;
    detail.row.copies = m_copies.value(eventKey(*row), 1);
    detail.raw = file.readAll();
    const ReadMail mail = readMail(detail.raw);
    detail.headers = mail.headers;
    detail.text = mail.text;
    detail.html = mail.html;
    return detail;
}

} // namespace sendonce
