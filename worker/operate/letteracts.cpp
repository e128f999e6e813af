#include "worker/operate/letteracts.h"

#include "worker/operate/letterfile.h"

#include <QFile>
#include <QFileInfo>
#include <QSaveFile>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qsizetype BatchSize = 10;
constexpr qint64 BatchBytes = 1'048'576;
constexpr qint64 LongestLine = 16 * 1024 * 1024; ///< 1 MiB of body in base64 and escapes, with room
constexpr qsizetype ProblemsShown = 100;

/// Whole or not at all, and never through a link to somewhere else.
Result<std::unique_ptr<QSaveFile>> fileFor(const QString &path)
{
    const QFileInfo target(path);
    if (target.isSymLink())
        return Error{ErrorKind::Refused, u"%1 is a link; give the path of a file"_s.arg(path), {}};
    auto file = std::make_unique<QSaveFile>(path);
    if (!file->open(QIODevice::WriteOnly))
        return Error{ErrorKind::Io, u"%1 cannot be written: %2"_s.arg(path, file->errorString()), {}};
    return file;
}

qint64 sizeOf(const Message &message)
{
    qint64 bytes = message.body.size();
    for (auto it = message.attributes.cbegin(); it != message.attributes.cend(); ++it) {
        bytes += it.key().toUtf8().size() + it->dataType.toUtf8().size() + it->stringValue.toUtf8().size()
            + it->binaryValue.size();
    }
    return bytes;
}

QString lettersText(qint64 count)
{
    return count == 1 ? u"1 letter"_s : u"%1 letters"_s.arg(count);
}

} // namespace

LetterActs::LetterActs(SqsClient &client, Database &database, Journal &journal, DeadLetters &letters,
                       const Config &config, QObject *parent)
    : QObject(parent)
    , m_client(client)
    , m_journal(journal)
    , m_letters(letters)
    , m_claims(database)
    , m_config(config)
{ }

/// What cannot be noted is not done.
bool LetterActs::begin(const QString &act, const QStringList &ids, const QString &text)
{
    const auto noted = m_letters.audit().note(act, ids, text);
    if (!noted)
        fail(act, noted.error().text);
    return noted.ok();
}

void LetterActs::end(ActReport report, const QStringList &ids)
{
    if (const auto noted = m_letters.audit().note(report.act, ids, {}, report.text); !noted)
        report.problems.append(noted.error().text);
    Q_EMIT done(report);
}

void LetterActs::fail(const QString &act, const QString &text)
{
    Q_EMIT done({act, 0, 1, text, {text}});
}

void LetterActs::putBack(const QList<qint64> &keptIds)
{
    const QString act = u"put back"_s;
    if (m_letters.dlqUrl().isEmpty()) {
        fail(act, u"there is no dead letter queue"_s);
        return;
    }
    const auto kept = m_letters.kept().withIds(keptIds);
    if (!kept) {
        fail(act, kept.error().text);
        return;
    }
    ActReport report;
    report.act = act;
    QList<Outgoing> outgoing;
    QStringList ids;
    for (const KeptLetter &letter : kept.value()) {
        const QString name = u"letter %1"_s.arg(letter.messageId);
        ids.append(letter.messageId);
        const auto message = letterfile::messageOf(letter.json);
        if (message && letter.putBackAs.isEmpty()) {
            outgoing.append({message.value(), letter.id, name});
            continue;
        }
        ++report.failed;
        report.problems.append(u"%1: %2"_s.arg(name, message ? u"it was put back already"_s : message.error().text));
    }
    report.failed += keptIds.size() - kept->size();
    if (begin(act, ids, u"into %1"_s.arg(m_letters.dlqUrl().toString())))
        send(m_letters.dlqUrl(), outgoing, report);
}

void LetterActs::importLetters(const QString &path, bool toSource)
{
    const QString act = u"import"_s;
    const QUrl to = toSource ? m_letters.queueUrl() : m_letters.dlqUrl();
    if (to.isEmpty()) {
        fail(act, u"there is no dead letter queue"_s);
        return;
    }
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) {
        fail(act, u"%1 cannot be read: %2"_s.arg(path, file.errorString()));
        return;
    }
    ActReport report;
    report.act = act;
    QList<Outgoing> outgoing;
    for (qint64 number = 1; !file.atEnd(); ++number) {
        const QByteArray line = file.readLine(LongestLine).trimmed();
        if (line.isEmpty())
            continue;
        const QString name = u"line %1"_s.arg(number);
        const auto message = letterfile::messageOf(line);
        if (message) {
            outgoing.append({message.value(), 0, name});
            continue;
        }
        ++report.failed;
        report.problems.append(u"%1: %2"_s.arg(name, message.error().text));
    }
    if (begin(act, {}, u"%1 of %2 into %3"_s.arg(lettersText(outgoing.size()), path, to.toString())))
        send(to, outgoing, report);
}

void LetterActs::send(const QUrl &to, QList<Outgoing> letters, ActReport report)
{
    if (letters.isEmpty()) {
        report.text = u"%1 sent, %2 not"_s.arg(QString::number(report.done), QString::number(report.failed));
        report.problems = report.problems.mid(0, ProblemsShown);
        end(report, {});
        return;
    }
    QList<SendEntry> entries;
    QList<Outgoing> batch;
    qint64 bytes = 0;
    while (!letters.isEmpty() && batch.size() < BatchSize) {
        bytes += sizeOf(letters.first().message);
        if (!batch.isEmpty() && bytes > BatchBytes)
            break;
        SendEntry entry;
        entry.id = QString::number(batch.size());
        entry.body = letters.first().message.body;
        entry.attributes = letters.first().message.attributes;
        entry.traceHeader = letters.first().message.systemAttributes.value(u"AWSTraceHeader"_s);
        entry.groupId = letters.first().message.systemAttributes.value(u"MessageGroupId"_s);
        entries.append(entry);
        batch.append(letters.takeFirst());
    }
    m_client.sendBatch(
        to, entries, this,
        [this, to, letters = std::move(letters), batch,
         report = std::move(report)](const Result<QList<BatchEntryResult>> &result) mutable {
            for (qsizetype i = 0; i < batch.size(); ++i) {
                const BatchEntryResult *const entry =
                    result && i < result->size() ? &result->at(i) : nullptr; // one per entry, in their order
                if (entry && entry->ok) {
                    ++report.done;
                    if (batch[i].keptId > 0)
                        (void)m_letters.kept().notePutBack(batch[i].keptId, entry->messageId);
                } else {
                    ++report.failed;
                    report.problems.append(u"%1: %2"_s.arg(batch[i].name, result ? entry->text : result.error().text));
                }
            }
            send(to, std::move(letters), std::move(report));
        });
}

void LetterActs::purge(const QString &typedName)
{
    const QString act = u"purge"_s;
    const QUrl dlq = m_letters.dlqUrl();
    if (!m_config.embedded) {
        fail(act, u"only the embedded queue is purged; delete the letters, or purge with your provider's tools"_s);
        return;
    }
    if (dlq.isEmpty() || typedName != dlq.path().section(u'/', -1)) {
        fail(act, u"the name typed is not that of the dead letter queue"_s);
        return;
    }
    if (!begin(act, {}, u"everything in %1"_s.arg(dlq.toString())))
        return;
    m_client.purgeQueue(dlq, this, [this, act](const Result<bool> &purged) {
        if (purged)
            end({act, 1, 0, u"the dead letter queue was purged"_s, {}}, {});
        else
            end({act, 0, 1, purged.error().text, {purged.error().text}}, {});
    });
}

void LetterActs::exportLetters(const QStringList &messageIds, const QString &path, bool csv)
{
    const QString act = u"export"_s;
    auto file = fileFor(path);
    if (!file) {
        fail(act, file.error().text);
        return;
    }
    const QStringList ids = messageIds.isEmpty() ? m_letters.messageIds() : messageIds;
    if (!begin(act, ids, u"%1 into %2"_s.arg(lettersText(ids.size()), path)))
        return;
    ActReport report;
    report.act = act;
    QSaveFile &out = *file.value();
    if (csv)
        out.write(letterfile::csvHeading());
    for (const QString &id : ids) {
        const DeadLetterDetail detail = m_letters.open(id);
        if (!detail.error.isEmpty()) {
            ++report.failed;
            if (report.problems.size() < ProblemsShown)
                report.problems.append(u"letter %1: %2"_s.arg(id, detail.error));
            continue;
        }
        out.write(csv ? letterfile::csvLine(detail.letter) : letterfile::jsonLine(detail.letter) + '\n');
        ++report.done;
    }
    if (out.commit()) {
        report.text = u"%1 written to %2"_s.arg(lettersText(report.done), path);
    } else {
        report.text = u"%1 cannot be written: %2"_s.arg(path, out.errorString());
        report.problems.append(report.text);
        report.failed += report.done;
        report.done = 0;
    }
    end(report, {});
}

void LetterActs::forgetClaim(const QString &eventId, const QString &reason)
{
    const QString act = u"forget"_s;
    if (!begin(act, {eventId}, u"event %1 can mail again, because: %2"_s.arg(eventId, reason)))
        return;
    const auto forgotten = m_claims.forget(eventId);
    if (!forgotten) {
        end({act, 0, 1, forgotten.error().text, {forgotten.error().text}}, {eventId});
        return;
    }
    if (!forgotten.value()) {
        const QString text = u"event %1 has no claim"_s.arg(eventId);
        end({act, 0, 1, text, {text}}, {eventId});
        return;
    }
    (void)m_journal.recordReplay(eventId, {}, u"its claim was taken away: it can mail again (%1)"_s.arg(reason));
    end({act, 1, 0, u"event %1 can mail again"_s.arg(eventId), {}}, {eventId});
    Q_EMIT lettersChanged({eventId});
}

void LetterActs::exportAudit(const QString &path)
{
    const QString act = u"export audit"_s;
    auto file = fileFor(path);
    if (!file) {
        fail(act, file.error().text);
        return;
    }
    QList<AuditEntry> entries;
    for (qint64 before = 0;;) {
        const auto page = m_letters.audit().page(before, 1000);
        if (!page) {
            fail(act, page.error().text);
            return;
        }
        entries += page->entries;
        if (!page->more)
            break;
        before = page->entries.last().id;
    }
    for (auto entry = entries.crbegin(); entry != entries.crend(); ++entry)
        file.value()->write(letterfile::jsonLine(*entry) + '\n');
    if (!file.value()->commit()) {
        fail(act, u"%1 cannot be written: %2"_s.arg(path, file.value()->errorString()));
        return;
    }
    end({act,
         entries.size(),
         0,
         u"%1 lines of the audit written to %2"_s.arg(QString::number(entries.size()), path),
         {}},
        {});
}

} // namespace sendonce
