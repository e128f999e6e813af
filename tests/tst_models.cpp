#include "ui/celldelegate.h"
#include "ui/deadlettersmodel.h"
#include "ui/depthhistory.h"
#include "ui/logmodel.h"
#include "ui/mailboxmodel.h"
#include "ui/processedmodel.h"
#include "ui/rowmerge.h"
#include "ui/theme.h"

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QSignalSpy>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;

namespace {

const QDateTime Noon = QDateTime::fromString(u"2026-03-01T12:00:00Z"_s, Qt::ISODate);

QString text(const QAbstractItemModel &model, int row, int column)
{
    return model.index(row, column).data().toString();
}

Tone tone(const QAbstractItemModel &model, int row, int column)
{
    return Tone(model.index(row, column).data(ToneRole).toInt());
}

ProcessedRow processed(qint64 id, const QString &result = u"mailed"_s)
{
    ProcessedRow row;
    row.id = id;
    row.eventId = u"event-%1"_s.arg(id);
    row.eventType = u"application.status_changed"_s;
    row.processedAt = Noon.addSecs(id);
    row.applicationId = result.isEmpty() ? QString() : u"3"_s;
    row.result = result;
    return row;
}

/// Answers as the worker would: rows `1…top`, newest first.
ProcessedPage answer(const ProcessedQuery &query, qint64 top)
{
    ProcessedPage page;
    page.query = query;
    for (qint64 id = query.beforeId > 0 ? query.beforeId - 1 : top; id > query.afterId; --id) {
        if (page.rows.size() == query.limit) {
            page.more = true;
            break;
        }
        page.rows += processed(id);
    }
    return page;
}

ProcessedQuery asked(const QSignalSpy &spy)
{
    return spy.last().first().value<ProcessedQuery>();
}

DeadLetter letter(const QString &id, Verdict verdict = Verdict::NotHandled)
{
    DeadLetter dead;
    dead.message.messageId = u"m-"_s + id;
    dead.message.body = "{}";
    dead.eventId = id;
    dead.eventType = u"application.status_changed"_s;
    dead.applicationId = u"3"_s;
    dead.verdict = verdict;
    dead.verdictText = u"not handled · replay sends"_s;
    dead.reason = u"451 4.3.0 mail server down"_s;
    dead.receiveCount = 3;
    dead.diedAt = Noon.addSecs(-130);
    return dead;
}

DeadLetterList list(const QStringList &ids, bool finished = true)
{
    DeadLetterList letters;
    for (const QString &id : ids)
        letters.letters += letter(id);
    letters.finished = finished;
    return letters;
}

QStringList eventIds(const QAbstractItemModel &model)
{
    QStringList ids;
    for (int row = 0; row < model.rowCount(); ++row)
        ids += model.index(row, 0).data(EventIdRole).toString();
    return ids;
}

LogLine line(int number, LogLevel level = LogLevel::Info, const QString &eventId = {})
{
    return {Noon.addMSecs(number), level, u"line %1"_s.arg(number), eventId};
}

} // namespace

class TestModels : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qRegisterMetaType<ProcessedQuery>(); }
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    // ---- processed events

    void processedIsReadPageByPage()
    {
        ProcessedModel model; // no tester here: it fetches by itself
        QSignalSpy queried(&model, &ProcessedModel::queried);
        QCOMPARE(model.state(), ProcessedModel::State::Idle);
        model.read({});
        QCOMPARE(model.state(), ProcessedModel::State::Loading);
        QCOMPARE(asked(queried).beforeId, 0);
        QVERIFY(!model.canFetchMore({}));
        model.takePage(answer(asked(queried), 450));
        QCOMPARE(model.state(), ProcessedModel::State::Ready);
        QCOMPARE(model.rowCount(), 200);
        QCOMPARE(model.row(0).id, 450);
        QVERIFY(model.canFetchMore({}));
        model.fetchMore({});
        QCOMPARE(asked(queried).beforeId, 251);
        QVERIFY(!model.canFetchMore({})); // one at a time
        model.takePage(answer(asked(queried), 450));
        model.fetchMore({});
        model.takePage(answer(asked(queried), 450));
        QCOMPARE(model.rowCount(), 450);
        QCOMPARE(model.row(449).id, 1);
        QVERIFY(!model.canFetchMore({}));
    }

    void processedTexts()
    {
        ProcessedModel model;
        QSignalSpy queried(&model, &ProcessedModel::queried);
        model.read({});
        ProcessedPage page;
        page.query = asked(queried);
        page.rows = {processed(3), processed(2, u"application gone"_s), processed(1, {})};
        page.rows[0].duplicates = 2;
        model.takePage(page);
        QCOMPARE(text(model, 0, ProcessedModel::Event), u"event-3"_s);
        QCOMPARE(text(model, 0, ProcessedModel::Type), u"status changed"_s);
        QCOMPARE(text(model, 0, ProcessedModel::Application), u"3"_s);
        QCOMPARE(text(model, 0, ProcessedModel::Result), u"mailed"_s);
        QCOMPARE(text(model, 0, ProcessedModel::Duplicates), u"2"_s);
        QCOMPARE(text(model, 0, ProcessedModel::ProcessedAt), u"2026-03-01 12:00:03"_s); // the tests run in UTC
        QCOMPARE(tone(model, 0, ProcessedModel::Result), Tone::Sent);
        QCOMPARE(model.index(0, ProcessedModel::Glyph).data(GlyphRole).toString(), u"check"_s);
        QCOMPARE(model.index(0, ProcessedModel::Glyph).data(Qt::AccessibleTextRole).toString(), u"mailed"_s);
        QVERIFY(model.index(0, ProcessedModel::ProcessedAt)
                    .data(Qt::ToolTipRole)
                    .toString()
                    .contains("12:00:03.000 UTC"_L1));
        QCOMPARE(text(model, 1, ProcessedModel::Result), u"application gone"_s);
        QCOMPARE(tone(model, 1, ProcessedModel::Result), Tone::Skipped);
        QCOMPARE(text(model, 2, ProcessedModel::Result), u"unknown"_s);
        QCOMPARE(text(model, 2, ProcessedModel::Application), u"–"_s);
        QCOMPARE(text(model, 2, ProcessedModel::Duplicates), u"–"_s);
        QStringList headers;
        for (int column = 1; column < ProcessedModel::ColumnCount; ++column)
            headers += model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        QCOMPARE(headers,
                 QStringList({u"Event"_s, u"Type"_s, u"Application"_s, u"Result"_s, u"Duplicates skipped"_s,
                              u"Processed at"_s}));
    }

    void newerRowsComeOnTop()
    {
        ProcessedModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy queried(&model, &ProcessedModel::queried);
        model.read({});
        model.takePage(answer(asked(queried), 5));
        QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
        model.readNewer();
        QCOMPARE(asked(queried).afterId, 5);
        model.readNewer(); // a second one waits for the first
        QCOMPARE(queried.size(), 2);
        model.takePage(answer(asked(queried), 8));
        QCOMPARE(model.rowCount(), 8);
        QCOMPARE(model.row(0).id, 8);
        QCOMPARE(inserted.size(), 1);
        QCOMPARE(reset.size(), 0);
        QCOMPARE(queried.size(), 3); // now the one that waited
        QCOMPARE(asked(queried).afterId, 8);
        model.takePage(answer(asked(queried), 8));
        QCOMPARE(model.rowCount(), 8);
    }

    void moreNewerRowsThanAPageBeginAnew()
    {
        ProcessedModel model;
        QSignalSpy queried(&model, &ProcessedModel::queried);
        model.read({});
        model.takePage(answer(asked(queried), 5));
        model.readNewer();
        model.takePage(answer(asked(queried), 1000));
        QCOMPARE(asked(queried).afterId, 0);
        model.takePage(answer(asked(queried), 1000));
        QCOMPARE(model.rowCount(), 200);
        QCOMPARE(model.row(0).id, 1000);
    }

    void aLatePageOfAnotherSearchIsDropped()
    {
        ProcessedModel model;
        QSignalSpy queried(&model, &ProcessedModel::queried);
        model.read({});
        const ProcessedQuery first = asked(queried);
        model.read(u"event-7"_s);
        QCOMPARE(asked(queried).search, u"event-7"_s);
        model.takePage(answer(first, 100));
        QCOMPARE(model.rowCount(), 0);
        ProcessedPage page;
        page.query = asked(queried);
        page.rows = {processed(7)};
        model.takePage(page);
        QCOMPARE(model.rowCount(), 1);
        model.takePage(page); // twice the same answer
        QCOMPARE(model.rowCount(), 1);
    }

    void aFailedQueryKeepsTheRowsAndTheWords()
    {
        ProcessedModel model;
        QSignalSpy queried(&model, &ProcessedModel::queried);
        model.read({});
        model.takePage(answer(asked(queried), 5));
        model.read({});
        ProcessedPage page;
        page.query = asked(queried);
        page.error = u"disk I/O error"_s;
        model.takePage(page);
        QCOMPARE(model.state(), ProcessedModel::State::Failed);
        QCOMPARE(model.error(), u"disk I/O error"_s);
        QCOMPARE(model.rowCount(), 5);
    }

    void deliveriesShowBeforeTheJournalKnows()
    {
        ProcessedModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy queried(&model, &ProcessedModel::queried);
        model.read({});
        model.takePage(answer(asked(queried), 5));
        DeliveryReport sent;
        sent.eventId = u"event-6"_s;
        sent.applicationId = u"12"_s;
        sent.outcome = Outcome::Sent;
        model.note(sent);
        model.readNewer();
        ProcessedPage page;
        page.query = asked(queried);
        page.rows = {processed(6, {})};
        model.takePage(page);
        QCOMPARE(text(model, 0, ProcessedModel::Result), u"mailed"_s);
        QCOMPARE(text(model, 0, ProcessedModel::Application), u"12"_s);
        sent.outcome = Outcome::Duplicate;
        model.note(sent);
        model.note(sent);
        QCOMPARE(text(model, 0, ProcessedModel::Duplicates), u"2"_s);
        // The database has the last word.
        model.settle();
        ProcessedPage fresh = answer(asked(queried), 6);
        fresh.rows[0].duplicates = 1;
        QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
        model.takePage(fresh);
        QCOMPARE(text(model, 0, ProcessedModel::Duplicates), u"1"_s);
        QCOMPARE(reset.size(), 0);
    }

    // ---- dead letters

    void deadLetterTexts()
    {
        DeadLettersModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setNow(Noon);
        DeadLetterList letters = list({u"23e48c51-7f0e-4b7e-8c55-1f0e6a5d9a41"_s});
        DeadLetter unreadable;
        unreadable.message.messageId = u"m-2"_s;
        unreadable.verdict = Verdict::Invalid;
        letters.letters += unreadable;
        model.setList(letters);
        QCOMPARE(text(model, 0, DeadLettersModel::Event), u"23e48c51-7f0e…9a41"_s);
        QCOMPARE(model.index(0, DeadLettersModel::Event).data(CopyRole).toString(),
                 u"23e48c51-7f0e-4b7e-8c55-1f0e6a5d9a41"_s);
        QCOMPARE(text(model, 0, DeadLettersModel::Verdict), u"not handled · replay sends"_s);
        QCOMPARE(text(model, 0, DeadLettersModel::Reason), u"451 4.3.0 mail server down"_s);
        QCOMPARE(text(model, 0, DeadLettersModel::Received), u"3"_s);
        QCOMPARE(text(model, 0, DeadLettersModel::Died), u"2 min ago"_s);
        QCOMPARE(text(model, 1, DeadLettersModel::Event), u"not readable"_s);
        QCOMPARE(text(model, 1, DeadLettersModel::Verdict), u"invalid · a replay will fail again"_s);
        QCOMPARE(text(model, 1, DeadLettersModel::Died), u"–"_s);
        QVERIFY(!text(model, 1, DeadLettersModel::Reason).isEmpty());
    }

    void everyVerdictHasGlyphToneAndWords_data()
    {
        QTest::addColumn<int>("verdict");
        QTest::addColumn<QString>("glyph");
        QTest::addColumn<int>("tone");
        QTest::newRow("not handled") << int(Verdict::NotHandled) << u"cross"_s << int(Tone::Failed);
        QTest::newRow("handled") << int(Verdict::Handled) << u"check"_s << int(Tone::Sent);
        QTest::newRow("in doubt") << int(Verdict::InDoubt) << u"question"_s << int(Tone::InDoubt);
        QTest::newRow("unknown") << int(Verdict::Unknown) << u"question"_s << int(Tone::Muted);
        QTest::newRow("invalid") << int(Verdict::Invalid) << u"exclamation"_s << int(Tone::Dead);
    }
    void everyVerdictHasGlyphToneAndWords()
    {
        QFETCH(int, verdict);
        DeadLettersModel model;
        DeadLetterList letters = list({u"a"_s});
        letters.letters[0].verdict = Verdict(verdict);
        letters.letters[0].verdictText.clear();
        model.setList(letters);
        QTEST(model.index(0, DeadLettersModel::Glyph).data(GlyphRole).toString(), "glyph");
        QTEST(model.index(0, DeadLettersModel::Verdict).data(ToneRole).toInt(), "tone");
        QVERIFY(!text(model, 0, DeadLettersModel::Verdict).isEmpty());
    }

    void aBrowseAddsWhatItSeesAndEndsWithWhatItSaw()
    {
        DeadLettersModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setList(list({u"a"_s, u"b"_s}));
        model.setList(list({u"c"_s}, false));
        QStringList seen = eventIds(model);
        seen.sort();
        QCOMPARE(seen, QStringList({u"a"_s, u"b"_s, u"c"_s}));
        model.setList(list({u"c"_s, u"b"_s}));
        QCOMPARE(eventIds(model), QStringList({u"b"_s, u"c"_s}));
        DeadLetterList failed = list({u"d"_s});
        failed.error = u"the queue went away"_s;
        model.setList(failed); // not the whole of it: nothing is taken away
        QCOMPARE(model.rowCount(), 3);
    }

    void replayOutcomesShowInTheRow_data()
    {
        QTest::addColumn<int>("state");
        QTest::addColumn<QString>("itemText");
        QTest::addColumn<QString>("shown");
        QTest::addColumn<bool>("again");
        using State = ReplayItem::State;
        QTest::newRow("sending") << int(State::Sending) << QString() << u"locked · on its way…"_s << false;
        QTest::newRow("replayed") << int(State::Replayed) << QString() << u"replayed · outcome not known yet"_s
                                  << false;
        QTest::newRow("copy left") << int(State::CopyLeft) << QString() << u"replayed · its dead copy is still here"_s
                                   << false;
        QTest::newRow("failed") << int(State::Failed) << u"the queue did not answer"_s
                                << u"not replayed · the queue did not answer"_s << true;
        QTest::newRow("mailed") << int(State::Mailed) << QString() << u"mailed"_s << false;
        QTest::newRow("worker's words") << int(State::Mailed) << u"Mailed at 14:02:11"_s << u"Mailed at 14:02:11"_s
                                        << false;
        QTest::newRow("skipped") << int(State::Skipped) << QString() << u"skipped · handled before"_s << false;
        QTest::newRow("dead again") << int(State::DeadAgain) << u"550 no such user"_s
                                    << u"failed again · 550 no such user"_s << false;
    }
    void replayOutcomesShowInTheRow()
    {
        QFETCH(int, state);
        QFETCH(QString, itemText);
        QFETCH(bool, again);
        DeadLettersModel model;
        model.setList(list({u"a"_s, u"b"_s}));
        QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        model.setReplays({{u"m-b"_s, u"b"_s, ReplayItem::State(state), itemText}});
        QCOMPARE(changed.size(), 1);
        QCOMPARE(changed.first().first().toModelIndex().row(), 1);
        QTEST(text(model, 1, DeadLettersModel::Verdict), "shown");
        QCOMPARE(model.canReplay(1), again);
        QVERIFY(model.canReplay(0));
        QCOMPARE(text(model, 0, DeadLettersModel::Verdict), u"not handled · replay sends"_s);
    }

    void aLockedRowIsLockedUntilItsOutcome()
    {
        DeadLettersModel model;
        model.setList(list({u"a"_s}));
        QVERIFY(model.canReplay(0));
        model.lock({u"m-a"_s});
        QVERIFY(!model.canReplay(0));
        model.forgetOutcomes(); // a new browse does not unlock what is on its way
        QVERIFY(!model.canReplay(0));
        model.setReplays({{u"m-a"_s, {}, ReplayItem::State::Failed, {}}});
        QVERIFY(model.canReplay(0));
        model.forgetOutcomes();
        QCOMPARE(text(model, 0, DeadLettersModel::Verdict), u"not handled · replay sends"_s);
    }

    void whatTheFilterHidesIsHeldAndWhatChangesStaysInView()
    {
        DeadLettersModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        DeadLetterList letters = list({u"a"_s, u"b"_s, u"c"_s, u"d"_s});
        letters.letters[1].verdict = Verdict::Handled;
        letters.letters[2].reason = u"550 5.1.1 <kim@example.com> no such mailbox"_s;
        letters.letters[3].reason = u"550 5.1.1 <jo@example.com> no such mailbox"_s;
        model.setList(letters);
        LetterFilter filter;
        filter.verdicts = {Verdict::NotHandled};
        model.setFilter(filter);
        QCOMPARE(eventIds(model), QStringList({u"a"_s, u"c"_s, u"d"_s}));
        filter.reasons = {u"550 5.1.1 <…> no such mailbox"_s}; // whoever it was to
        model.setFilter(filter);
        QCOMPARE(eventIds(model), QStringList({u"c"_s, u"d"_s}));
        DeadLetter handled = letters.letters[2];
        handled.verdict = Verdict::Handled;
        model.update({handled});
        QCOMPARE(eventIds(model), QStringList({u"c"_s, u"d"_s})); // what became of it is seen
        QCOMPARE(model.groupIds({LetterGroups::Kind::Verdict, Verdict::Handled, {}, 0}),
                 QStringList({u"m-b"_s, u"m-c"_s}));
        filter = {};
        filter.text = u"KIM@"_s;
        model.setFilter(filter);
        QCOMPARE(eventIds(model), QStringList{u"c"_s});
        model.setBodyMatches({u"m-a"_s}); // found where the bodies are
        QCOMPARE(eventIds(model), QStringList({u"a"_s, u"c"_s}));
        model.setFilter({});
        QCOMPARE(model.rowCount(), 4);
    }

    void tensOfThousandsAreFilteredAndSortedBetweenOtherWork()
    {
        DeadLettersModel model;
        DeadLetterList letters;
        for (int i = 0; i < 20'000; ++i) {
            DeadLetter each = letter(QString::number(i));
            each.receiveCount = (i * 7919) % 1000;
            each.verdict = i % 4 ? Verdict::NotHandled : Verdict::Handled;
            letters.letters += each;
        }
        letters.finished = true;
        model.setList(letters);
        QCOMPARE(model.rowCount(), 20'000);
        QSignalSpy arranged(&model, &DeadLettersModel::arranged);
        model.sort(DeadLettersModel::Received, Qt::DescendingOrder);
        LetterFilter filter;
        filter.verdicts = {Verdict::Handled};
        model.setFilter(filter);
        QCOMPARE(model.rowCount(), 20'000); // not in this call
        QVERIFY(model.isArranging());
        DeadLetterList more;
        more.letters = {letter(u"late"_s)};
        more.letters[0].verdict = Verdict::Handled;
        model.setList(more);
        QTRY_COMPARE(arranged.size(), 1);
        QCOMPARE(model.rowCount(), 5'001);
        for (int row = 1; row < 5'000; ++row) {
            const DeadLetter &before = model.letter(row - 1), &here = model.letter(row);
            QVERIFY(before.receiveCount > here.receiveCount
                    || (before.receiveCount == here.receiveCount
                        && before.eventId.toInt() < here.eventId.toInt())); // as they came
            QCOMPARE(here.verdict, Verdict::Handled);
        }
        QCOMPARE(model.letter(5'000).eventId, u"late"_s); // at the end until the look has ended
    }

    void aFilterComesBackFromItsText()
    {
        LetterFilter filter;
        filter.text = u"quote \" and ümlaut"_s;
        filter.verdicts = {Verdict::Invalid, Verdict::InDoubt};
        filter.reasons = {u"451 4.3.0 mail server down"_s, {}};
        filter.types = {u"application.status_changed"_s};
        const auto back = unpackedFilter(packed(filter));
        QVERIFY(back);
        QCOMPARE(*back, filter);
        QVERIFY(!unpackedFilter("[]"));
        QVERIFY(!unpackedFilter("nonsense"));
    }

    void reasonsOfOneKindAreOneGroup_data()
    {
        QTest::addColumn<QString>("reason");
        QTest::addColumn<QString>("group");
        QTest::newRow("reply") << u"451 4.3.0 mail server down"_s << u"451 4.3.0 mail server down"_s;
        QTest::newRow("address") << u"550 5.1.1 kim@example.com unknown (permanent)"_s
                                 << u"550 5.1.1 … unknown (permanent)"_s;
        QTest::newRow("id") << u"event 23e48c51-7f0e-4b7e-8c55-1f0e6a5d9a41 is late"_s << u"event … is late"_s;
        QTest::newRow("quoted") << u"type “application.archived” is not known"_s << u"type “…” is not known"_s;
        QTest::newRow("number") << u"row 4711234 is locked"_s << u"row … is locked"_s;
        QTest::newRow("short number") << u"user 5 is gone"_s << u"user 5 is gone"_s;
        QTest::newRow("word of hex letters") << u"a decade of facades"_s << u"a decade of facades"_s;
        QTest::newRow("empty") << QString() << QString();
    }
    void reasonsOfOneKindAreOneGroup()
    {
        QFETCH(QString, reason);
        QTEST(reasonGroup(reason), "group");
    }

    // ---- mailbox

    void mailboxTexts()
    {
        MailboxModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        MailRow one;
        one.id = u"1"_s;
        one.to = u"sam@example.com"_s;
        one.subject = u"Your application"_s;
        one.eventId = u"23e48c51-7f0e-4b7e-8c55-1f0e6a5d9a41"_s;
        one.receivedAt = Noon;
        MailRow two = one;
        two.id = u"2"_s;
        two.copies = 2;
        two.subject.clear();
        model.setRows({two, one});
        QCOMPARE(text(model, 1, MailboxModel::To), u"sam@example.com"_s);
        QCOMPARE(text(model, 1, MailboxModel::Subject), u"Your application"_s);
        QCOMPARE(text(model, 1, MailboxModel::Event), u"23e48c51-7f0e…9a41"_s);
        QCOMPARE(text(model, 1, MailboxModel::Copies), u"1"_s);
        QCOMPARE(tone(model, 1, MailboxModel::Copies), Tone::Muted);
        QCOMPARE(text(model, 1, MailboxModel::Received), u"2026-03-01 12:00:00"_s);
        QCOMPARE(text(model, 0, MailboxModel::Copies), u"2 copies"_s);
        QCOMPARE(tone(model, 0, MailboxModel::Copies), Tone::Failed);
        QCOMPARE(model.index(0, MailboxModel::Copies).data(GlyphRole).toString(), u"warning"_s);
        QCOMPARE(text(model, 0, MailboxModel::Subject), u"(no subject)"_s);
    }

    void newMailsDoNotResetTheList()
    {
        MailboxModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QList<MailRow> rows;
        for (int i = 0; i < 5; ++i)
            rows.prepend({.id = QString::number(i),
                          .eventId = {},
                          .messageId = {},
                          .from = {},
                          .to = {},
                          .subject = {},
                          .receivedAt = {}});
        model.setRows(rows.mid(2));
        QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
        const QPersistentModelIndex chosen = model.index(1, 0);
        model.setRows(rows);
        QCOMPARE(chosen.row(), 3);
        QCOMPARE(reset.size(), 0);
    }

    void mergingEndsWithWhatWasWanted()
    {
        // Seeded, so that a failure can be seen again.
        QRandomGenerator random(20260301);
        struct Hooks
        {
            void beginRemove(int, int) { }
            void endRemove() { }
            void beginInsert(int, int) { }
            void endInsert() { }
            void changed(int) { }
        };
        const auto key = [](const QString &row) { return row; };
        for (int round = 0; round < 2000; ++round) {
            QList<QString> from;
            QList<QString> to;
            for (int i = 0; i < 12; ++i) {
                if (random.bounded(2))
                    from += QString::number(i);
                if (random.bounded(2))
                    to += QString::number(i);
            }
            QList<QString> rows = from;
            QVERIFY(mergeRows(rows, to, key, Hooks{}));
            QCOMPARE(rows, to);
        }
        QList<QString> turned{u"a"_s, u"b"_s};
        QVERIFY(!mergeRows(turned, QList<QString>{u"b"_s, u"a"_s}, key, Hooks{}));
    }

    // ---- log

    void logTexts()
    {
        LogModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.append({line(1, LogLevel::Debug), line(2), line(3, LogLevel::Warning), line(4, LogLevel::Error, u"e"_s)});
        QCOMPARE(text(model, 0, LogModel::Level), u"debug"_s);
        QCOMPARE(text(model, 1, LogModel::Level), u"info"_s);
        QCOMPARE(text(model, 2, LogModel::Level), u"warning"_s);
        QCOMPARE(text(model, 3, LogModel::Level), u"error"_s);
        QCOMPARE(text(model, 3, LogModel::Time), u"12:00:00.004"_s);
        QCOMPARE(text(model, 3, LogModel::Text), u"line 4"_s);
        QCOMPARE(tone(model, 3, LogModel::Level), Tone::Failed);
        QCOMPARE(model.index(3, 0).data(EventIdRole).toString(), u"e"_s);
    }

    void aHundredThousandLinesStayBounded()
    {
        LogModel model;
        LogFilter filter;
        filter.setSourceModel(&model);
        QElapsedTimer timer;
        timer.start();
        QList<LogLine> lines;
        for (int i = 0; i < 100'000; ++i) {
            lines += line(i);
            if (lines.size() == 2'500)
                model.append(std::exchange(lines, {}));
        }
        QCOMPARE(model.rowCount(), LogModel::Bound);
        QCOMPARE(filter.rowCount(), LogModel::Bound);
        QCOMPARE(model.line(LogModel::Bound - 1).text, u"line 99999"_s);
        QCOMPARE(model.line(0).text, u"line 80000"_s);
        model.append([] {
            QList<LogLine> many;
            for (int i = 0; i < 30'000; ++i)
                many += line(i);
            return many;
        }());
        QCOMPARE(model.rowCount(), LogModel::Bound);
        QCOMPARE(model.line(0).text, u"line 10000"_s);
        QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
    }

    void aFullLogGivesUpItsOldestLines()
    {
        LogModel model;
        LogFilter filter;
        filter.setSourceModel(&model);
        QAbstractItemModelTester tester(&filter, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QList<LogLine> lines;
        for (int i = 0; i < LogModel::Bound - 1; ++i)
            lines += line(i);
        model.append(lines);
        model.append({line(1), line(2), line(3)});
        QCOMPARE(filter.rowCount(), LogModel::Bound);
        QCOMPARE(text(filter, 0, LogModel::Text), u"line 2"_s);
    }

    void theLogIsFilteredByLevelAndText()
    {
        LogModel model;
        LogFilter filter;
        filter.setSourceModel(&model);
        model.append(
            {line(1, LogLevel::Debug), line(2), line(3, LogLevel::Warning, u"EVENT-9"_s), line(4, LogLevel::Error)});
        filter.setMinimumLevel(LogLevel::Warning);
        QCOMPARE(filter.rowCount(), 2);
        filter.setText(u"event-9"_s);
        QCOMPARE(filter.rowCount(), 1);
        filter.setText(u"LINE 4"_s);
        QCOMPARE(text(filter, 0, LogModel::Text), u"line 4"_s);
        filter.setMinimumLevel(LogLevel::Debug);
        filter.setText({});
        QCOMPARE(filter.rowCount(), 4);
    }

    // ---- depth and rates

    void depthHistoryKeepsFifteenMinutes()
    {
        DepthHistory history;
        for (int second = 0; second <= 1200; second += 10) {
            QueueDepth depth;
            depth.visible = second;
            depth.sampledAt = Noon.addSecs(second);
            history.add(depth);
        }
        QCOMPARE(history.samples().front().sampledAt, Noon.addSecs(300));
        QCOMPARE(history.highest(), 1200);
        QCOMPARE(history.at(Noon.addSecs(305))->visible, 300);
        QCOMPARE(history.at(Noon.addSecs(1300))->visible, 1200);
        QVERIFY(!history.at(Noon));
        QueueDepth late;
        late.sampledAt = Noon;
        late.visible = 9999;
        history.add(late);
        QCOMPARE(history.highest(), 1200);
    }

    void ratesAreOfTheLastTenSeconds()
    {
        RateMeter meter;
        QCOMPARE(meter.rates(Noon), RateMeter::Rates());
        meter.add({100, 10, 1, 0, 0}, Noon);
        QCOMPARE(meter.rates(Noon).mails, 0.0);
        meter.add({142, 16, 3, 0, 0}, Noon.addSecs(5));
        QCOMPARE(meter.rates(Noon.addSecs(6)).mails, 4.2);
        QCOMPARE(meter.rates(Noon.addSecs(6)).skips, 0.6);
        QCOMPARE(meter.rates(Noon.addSecs(6)).failures, 0.2);
        QCOMPARE(meter.rates(Noon.addSecs(16)).mails, 0.0); // nothing since
        meter.add({5, 0, 0, 0, 0}, Noon.addSecs(20)); // a new worker counts from zero
        QCOMPARE(meter.rates(Noon.addSecs(21)).mails, 0.0);
    }
};

QTEST_MAIN(TestModels)
#include "tst_models.moc"
