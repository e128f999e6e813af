#include "worker/store/keptletters.h"

#include "worker/store/processedevents.h"

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

const QString Columns = u"id, kept_at, who, message_id, event_id, put_back_as, letter"_s;
const QString Reading = u"the kept letters cannot be read"_s;
const QString Doing = u"the letter's copy cannot be kept"_s;

QList<KeptLetter> lettersOf(const QList<QVariantList> &lines)
{
    QList<KeptLetter> letters;
    for (const QVariantList &line : lines) {
        KeptLetter letter;
        letter.id = line[0].toLongLong();
        letter.keptAt = QDateTime::fromMSecsSinceEpoch(line[1].toLongLong() / 1000, Qt::UTC);
        letter.by = line[2].toString();
        letter.messageId = line[3].toString();
        letter.eventId = line[4].toString();
        letter.putBackAs = line[5].toString();
        letter.json = line[6].toString().toUtf8();
        letters.append(letter);
    }
    return letters;
}

QString filled(const QString &text)
{
    return text.isNull() ? u""_s : text;
}

} // namespace

KeptLetterTable::KeptLetterTable(Database &database) : m_database(database) { }

Result<void> KeptLetterTable::keep(const QString &dlqUrl, const QList<KeptLetter> &letters)
{
    if (letters.isEmpty())
        return {};
    QVariantList values;
    for (const KeptLetter &letter : letters)
        values << nowUsecs() << filled(letter.by) << filled(dlqUrl) << filled(letter.messageId)
               << filled(letter.eventId) << QString::fromUtf8(letter.json) << u""_s;
    const auto written =
        m_database.rows(u"INSERT INTO sendonce_kept (kept_at, who, dlq_url, message_id, event_id, letter, put_back_as) "
                        "VALUES %1"_s.arg(QStringList(letters.size(), u"(?,?,?,?,?,?,?)"_s).join(u',')),
                        values, Doing);
    if (!written)
        return written.error();
    return {};
}

Result<QList<KeptLetter>> KeptLetterTable::newest(int limit)
{
    const auto read =
        m_database.rows(u"SELECT %1 FROM sendonce_kept ORDER BY id DESC LIMIT ?"_s.arg(Columns), {limit}, Reading);
    if (!read)
        return read.error();
    return lettersOf(read.value());
}

Result<QList<KeptLetter>> KeptLetterTable::withIds(const QList<qint64> &ids)
{
    if (ids.isEmpty())
        return QList<KeptLetter>{};
    QVariantList values;
    for (const qint64 id : ids)
        values.append(id);
    const auto read = m_database.rows(u"SELECT %1 FROM sendonce_kept WHERE id IN (%2) ORDER BY id"_s.arg(
                                          Columns, QStringList(ids.size(), u"?"_s).join(u',')),
                                      values, Reading);
    if (!read)
        return read.error();
    return lettersOf(read.value());
}

Result<void> KeptLetterTable::notePutBack(qint64 id, const QString &messageId)
{
    const auto written =
        m_database.rows(u"UPDATE sendonce_kept SET put_back_as = ? WHERE id = ?"_s, {filled(messageId), id}, Doing);
    if (!written)
        return written.error();
    return {};
}

} // namespace sendonce
