#include "worker/consume/deliverymachine.h"

#include <QtTest>

using namespace sendonce;
using namespace Qt::StringLiterals;
using Kind = DeliveryCommand::Kind;
using Row = std::optional<QMap<QString, QVariant>>;

namespace {

const QString ProcessedAt = u"2026-12-01 12:00:00.000001"_s;

ProcessedEvents::Claim inserted()
{
    ProcessedEvents::Claim claim;
    claim.inserted = true;
    return claim;
}

ProcessedEvents::Claim standing(const QString &processedAt, bool otherBody = false)
{
    ProcessedEvents::Claim claim;
    claim.standingText = processedAt;
    claim.otherBody = otherBody;
    return claim;
}

Row sam()
{
    return QMap<QString, QVariant>{{u"application_id"_s, 3},        {u"user_id"_s, 5},
                                   {u"username"_s, u"sam"_s},       {u"first_name"_s, u"Sam"_s},
                                   {u"last_name"_s, u"Lee"_s},      {u"email"_s, u"sam@example.org"_s},
                                   {u"job_title"_s, u"Engineer"_s}, {u"company_name"_s, u"Acme"_s}};
}

SendResult sent()
{
    SendResult result;
    result.status = SendResult::Status::Sent;
    result.reply = result.text = u"250 2.0.0 Ok: queued as 1"_s;
    return result;
}

SendResult refused(const QString &reply, bool permanent)
{
    SendResult result;
    result.status = SendResult::Status::NotSent;
    result.reply = result.text = reply;
    result.permanent = permanent;
    return result;
}

SendResult doubtful()
{
    SendResult result;
    result.status = SendResult::Status::InDoubt;
    result.text = u"no answer after the final dot"_s;
    return result;
}

const Error Broken{ErrorKind::Io, u"disk I/O error"_s, {}};
const Error Locked{ErrorKind::Busy, u"database is locked"_s, {}};

} // namespace

class DeliveryMachineTest : public QObject
{
    Q_OBJECT
    EventTypes m_types;

    DeliveryMachine machine(const QByteArray &body = composeStatusChanged(u"E"_s, 3, u"reviewing"_s, u"interview"_s),
                            Strategy strategy = Strategy::Transaction, DoubtPolicy policy = DoubtPolicy::Resend)
    {
        Message message;
        message.messageId = u"M"_s;
        message.body = body;
        message.systemAttributes = {{u"ApproximateReceiveCount"_s, u"1"_s}, {u"SentTimestamp"_s, u"1764590400000"_s}};
        return DeliveryMachine(
            {&m_types, {u"Job Board"_s, u"no-reply@jobboard.example"_s}, u"jobboard.example"_s, {}, strategy, policy},
            message, ProcessedAt);
    }
    DeliveryMachine with(DoubtPolicy policy, Strategy strategy = Strategy::Transaction)
    {
        return machine(composeStatusChanged(u"E"_s, 3, u"reviewing"_s, u"interview"_s), strategy, policy);
    }
    DeliveryMachine marking(DoubtPolicy policy = DoubtPolicy::Hold) { return with(policy, Strategy::ClaimSendMark); }
    static Result<DeliveryLedger::Claim> claimOf(DeliveryLedger::Standing standing, const Row &row = {})
    {
        DeliveryLedger::Claim claim;
        claim.standing = standing;
        claim.row = row;
        return claim;
    }
    static Result<DeliveryLedger::Claim> ours() { return claimOf(DeliveryLedger::Standing::Ours, sam()); }
    static Result<DeliveryLedger::Mark> mark(bool recorded = true, bool wasOurs = true)
    {
        return DeliveryLedger::Mark{recorded, wasOurs};
    }

    /// Feeds the answers in turn and returns the commands that were asked for, Finish included.
    static QList<Kind> play(DeliveryMachine &delivery, const QList<DeliveryInput> &answers)
    {
        QList<Kind> asked;
        DeliveryCommand command = delivery.start(10);
        asked.append(command.kind);
        qint64 usec = 20;
        for (const DeliveryInput &answer : answers) {
            command = delivery.step(answer, usec);
            usec += 10;
            asked.append(command.kind);
        }
        return asked;
    }

    static DeliveryInput ok() { return Result<void>(); }

private Q_SLOTS:
    void initTestCase()
    {
        auto types = EventTypes::load({});
        QVERIFY2(types, types ? "" : qPrintable(types.error().text));
        m_types = types.take();
    }

    void firstDeliveryClaimsSendsCommits()
    {
        auto delivery = machine();
        const auto asked = play(delivery, {ok(), Result(inserted()), Result<Row>(sam()), sent(), ok()});
        QCOMPARE(asked, (QList{Kind::Begin, Kind::Claim, Kind::LookUp, Kind::Send, Kind::Commit, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Sent);
        QCOMPARE(delivery.report().logLine, u"Emailed user 5 about application 3: reviewing -> interview (event E)"_s);
        QCOMPARE(delivery.report().recipient, u"sam@example.org"_s);
        QVERIFY(delivery.report().stageUsec[size_t(Stage::Committed)]
                > delivery.report().stageUsec[size_t(Stage::Accepted)]);
    }

    void duplicateWritesNothingAndCommits()
    {
        auto delivery = machine();
        const auto asked = play(delivery, {ok(), Result(standing(u"2026-11-01 00:00:00.000000"_s)), ok()});
        QCOMPARE(asked, (QList{Kind::Begin, Kind::Claim, Kind::Commit, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Duplicate);
        QCOMPARE(delivery.report().logLine, u"Event E already processed; skipping duplicate"_s);
        QVERIFY(!delivery.report().otherBody);
    }

    void duplicateWithAnotherBodyIsMarked()
    {
        auto delivery = machine();
        play(delivery, {ok(), Result(standing(u"2026-11-01 00:00:00.000000"_s, true)), ok()});
        QCOMPARE(delivery.report().outcome, Outcome::Duplicate);
        QVERIFY(delivery.report().otherBody);
        QVERIFY(delivery.report().logLine.contains(u"different body"_s));
    }

    void goneApplicationKeepsTheClaim()
    {
        auto delivery = machine(composeStatusChanged(u"E"_s, 99, u"a"_s, u"b"_s));
        const auto asked = play(delivery, {ok(), Result(inserted()), Result<Row>(Row()), ok()});
        QCOMPARE(asked, (QList{Kind::Begin, Kind::Claim, Kind::LookUp, Kind::Commit, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Gone);
        QCOMPARE(delivery.report().logLine, u"Application 99 no longer exists; skipping (event E)"_s);
    }

    void missingRowOfARetryTypeIsAFailure()
    {
        auto delivery = machine(R"({"type":"application.received","event_id":"E","application_id":99})");
        const auto asked = play(delivery, {ok(), Result(inserted()), Result<Row>(Row()), ok()});
        QCOMPARE(asked, (QList{Kind::Begin, Kind::Claim, Kind::LookUp, Kind::RollBack, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Failed);
    }

    void refusedMailReleasesTheClaim_data()
    {
        QTest::addColumn<QString>("reply");
        QTest::addColumn<bool>("permanent");
        QTest::newRow("temporary") << u"451 4.3.0 busy"_s << false;
        QTest::newRow("permanent") << u"550 5.1.1 no such mailbox"_s << true;
    }

    void refusedMailReleasesTheClaim()
    {
        QFETCH(QString, reply);
        QFETCH(bool, permanent);
        auto delivery = machine();
        const auto asked =
            play(delivery, {ok(), Result(inserted()), Result<Row>(sam()), refused(reply, permanent), ok()});
        QCOMPARE(asked, (QList{Kind::Begin, Kind::Claim, Kind::LookUp, Kind::Send, Kind::RollBack, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Failed);
        QCOMPARE(delivery.report().permanent, permanent);
        QCOMPARE(delivery.report().logLine, u"Failed to handle message M (event E): %1"_s.arg(reply));
    }

    void lostReplyIsJournalledBeforeTheRollBack()
    {
        auto delivery = machine();
        const auto asked = play(delivery, {ok(), Result(inserted()), Result<Row>(sam()), doubtful(), ok(), ok()});
        QCOMPARE(asked,
                 (QList{Kind::Begin, Kind::Claim, Kind::LookUp, Kind::Send, Kind::RecordDoubt, Kind::RollBack,
                        Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::InDoubt);
        QCOMPARE(delivery.report().logLine,
                 u"Event E may have been mailed (message M): no answer after the final dot"_s);
    }

    void aBrokenJournalDoesNotHideTheDoubt()
    {
        auto delivery = machine();
        play(delivery, {ok(), Result(inserted()), Result<Row>(sam()), doubtful(), Result<void>(Broken), ok()});
        QCOMPARE(delivery.report().outcome, Outcome::InDoubt);
    }

    void aSendAbandonedByStopIsGivenBack()
    {
        SendResult stopped = refused({}, false);
        stopped.aborted = true;
        auto delivery = machine();
        play(delivery, {ok(), Result(inserted()), Result<Row>(sam()), stopped, ok()});
        QCOMPARE(delivery.report().outcome, Outcome::GivenBack);
    }

    void anyErrorOfTheClaimIsAFailureNeverADuplicate()
    {
        auto delivery = machine();
        const auto asked = play(delivery, {ok(), Result<ProcessedEvents::Claim>(Broken), ok()});
        QCOMPARE(asked, (QList{Kind::Begin, Kind::Claim, Kind::RollBack, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Failed);
    }

    void busyElsewhereIsNeitherDuplicateNorFailure_data()
    {
        QTest::addColumn<bool>("atBegin");
        QTest::newRow("no turn") << true;
        QTest::newRow("lock time-out in the claim") << false;
    }

    void busyElsewhereIsNeitherDuplicateNorFailure()
    {
        QFETCH(bool, atBegin);
        auto delivery = machine();
        if (atBegin)
            play(delivery, {Result<void>(Locked)});
        else
            play(delivery, {ok(), Result<ProcessedEvents::Claim>(Locked), ok()});
        QCOMPARE(delivery.report().outcome, Outcome::GivenBack);
    }

    void aDatabaseThatCannotBeOpenedIsAFailure()
    {
        auto delivery = machine();
        QCOMPARE(play(delivery, {Result<void>(Broken)}), (QList{Kind::Begin, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Failed);
        QCOMPARE(delivery.report().failedStage, Stage::Claimed);
    }

    void failedCommitAfterTheMailClaimsAgain_data()
    {
        QTest::addColumn<DeliveryInput>("again");
        QTest::addColumn<Outcome>("outcome");
        QTest::addColumn<bool>("twice");
        QTest::newRow("inserted") << DeliveryInput(Result(inserted())) << Outcome::Sent << false;
        QTest::newRow("the COMMIT had worked")
            << DeliveryInput(Result(standing(ProcessedAt))) << Outcome::Sent << false;
        QTest::newRow("a duplicate was waiting")
            << DeliveryInput(Result(standing(u"2026-12-01 12:00:01.000000"_s))) << Outcome::Sent << true;
    }

    void failedCommitAfterTheMailClaimsAgain()
    {
        QFETCH(DeliveryInput, again);
        QFETCH(Outcome, outcome);
        QFETCH(bool, twice);
        auto delivery = machine();
        const auto asked =
            play(delivery, {ok(), Result(inserted()), Result<Row>(sam()), sent(), Result<void>(Broken), again});
        QCOMPARE(
            asked,
            (QList{Kind::Begin, Kind::Claim, Kind::LookUp, Kind::Send, Kind::Commit, Kind::Reclaim, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, outcome);
        QCOMPARE(delivery.report().possiblyMailedTwice, twice);
    }

    void failedReclaimIsInDoubt()
    {
        auto delivery = machine();
        const auto asked = play(delivery,
                                {ok(), Result(inserted()), Result<Row>(sam()), sent(), Result<void>(Broken),
                                 Result<ProcessedEvents::Claim>(Broken), ok()});
        QCOMPARE(asked.mid(5), (QList{Kind::Reclaim, Kind::RecordDoubt, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::InDoubt);
    }

    void failedCommitWithoutAMailIsAFailure()
    {
        auto delivery = machine();
        play(delivery, {ok(), Result(inserted()), Result<Row>(Row()), Result<void>(Broken)});
        QCOMPARE(delivery.report().outcome, Outcome::Failed);
    }

    void aBodyThatIsNoEventTouchesNothing()
    {
        auto delivery = machine("not json");
        QCOMPARE(play(delivery, {}), QList{Kind::Finish});
        QCOMPARE(delivery.report().outcome, Outcome::Failed);
        QCOMPARE(delivery.report().failedStage, Stage::Validated);
        QVERIFY(!delivery.report().reason.isEmpty());
    }

    void aRecipientWithoutAnAddressIsAFailureThatNamesTheUser_data()
    {
        QTest::addColumn<QString>("email");
        QTest::newRow("empty") << QString(u""_s);
        QTest::newRow("no address") << u"sam at example"_s;
        QTest::newRow("injection") << u"sam@example.org\r\nBcc: all@example.org"_s;
    }

    void aRecipientWithoutAnAddressIsAFailureThatNamesTheUser()
    {
        QFETCH(QString, email);
        Row row = sam();
        row->insert(u"email"_s, email);
        auto delivery = machine();
        const auto asked = play(delivery, {ok(), Result(inserted()), Result<Row>(row), ok()});
        QCOMPARE(asked, (QList{Kind::Begin, Kind::Claim, Kind::LookUp, Kind::RollBack, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Failed);
        QVERIFY2(delivery.report().reason.contains(u"user 5"_s), qPrintable(delivery.report().reason));
    }

    void theDatabaseBeatsTheMessageInTheMail()
    {
        auto delivery =
            machine(R"({"type":"application.status_changed","event_id":"E","application_id":3,"old_status":"a",
            "new_status":"b","email":"stranger@example.org","user_id":666})");
        play(delivery, {ok(), Result(inserted()), Result<Row>(sam()), sent(), ok()});
        QCOMPARE(delivery.report().recipient, u"sam@example.org"_s);
        QCOMPARE(delivery.report().userId, u"5"_s);
    }

    void theSameMessageMakesTheSameBytes()
    {
        auto one = machine();
        auto other = machine();
        play(one, {ok(), Result(inserted()), Result<Row>(sam())});
        play(other, {ok(), Result(inserted()), Result<Row>(sam())});
        QVERIFY(!one.mail().bytes.isEmpty());
        QCOMPARE(one.mail(), other.mail());
    }

    // ---- --in-doubt hold and ask, strategy transaction

    void aHeldDoubtIsNotSentAgain()
    {
        auto delivery = with(DoubtPolicy::Hold);
        const auto asked = play(delivery, {ok(), Result(inserted()), Result<Row>(sam()), Result<bool>(true), ok()});
        QCOMPARE(asked,
                 (QList{Kind::Begin, Kind::Claim, Kind::LookUp, Kind::LookIntoDoubt, Kind::RollBack, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::InDoubt);
        QVERIFY(delivery.report().mailReply.isEmpty());
    }

    void whatIsNotInDoubtIsSent()
    {
        for (const DoubtPolicy policy : {DoubtPolicy::Hold, DoubtPolicy::Ask}) {
            auto delivery = with(policy);
            const auto asked =
                play(delivery, {ok(), Result(inserted()), Result<Row>(sam()), Result<bool>(false), sent(), ok()});
            QCOMPARE(asked.mid(3), (QList{Kind::LookIntoDoubt, Kind::Send, Kind::Commit, Kind::Finish}));
            QCOMPARE(delivery.report().outcome, Outcome::Sent);
        }
    }

    void aJournalThatCannotBeAskedSendsNothing()
    {
        auto delivery = with(DoubtPolicy::Hold);
        const auto asked = play(delivery, {ok(), Result(inserted()), Result<Row>(sam()), Result<bool>(Broken), ok()});
        QCOMPARE(asked.mid(3), (QList{Kind::LookIntoDoubt, Kind::RollBack, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Failed);
    }

    void theReceivingSideIsAsked_data()
    {
        QTest::addColumn<DeliveryInput>("answer");
        QTest::addColumn<QList<Kind>>("asked");
        QTest::addColumn<Outcome>("outcome");
        QTest::newRow("it has it") << DeliveryInput(Result<bool>(true)) << QList{Kind::Commit, Kind::Finish}
                                   << Outcome::Sent;
        QTest::newRow("it has not") << DeliveryInput(Result<bool>(false))
                                    << QList{Kind::Send, Kind::Commit, Kind::Finish} << Outcome::Sent;
        QTest::newRow("it cannot be asked")
            << DeliveryInput(Result<bool>(Broken)) << QList{Kind::RollBack, Kind::Finish} << Outcome::InDoubt;
    }

    void theReceivingSideIsAsked()
    {
        QFETCH(DeliveryInput, answer);
        QFETCH(QList<Kind>, asked);
        auto delivery = with(DoubtPolicy::Ask);
        QList<DeliveryInput> answers{ok(), Result(inserted()), Result<Row>(sam()), Result<bool>(true), answer};
        for (qsizetype i = 0; i + 1 < asked.size(); ++i)
            answers.append(asked[i] == Kind::Send ? DeliveryInput(sent()) : ok());
        const auto got = play(delivery, answers);
        QCOMPARE(got.mid(3, 2), (QList{Kind::LookIntoDoubt, Kind::AskReceiver}));
        QCOMPARE(got.mid(5), asked);
        QTEST(delivery.report().outcome, "outcome");
    }

    // ---- claim-send-mark

    void claimsSendsMarks()
    {
        auto delivery = marking();
        QCOMPARE(play(delivery, {ours(), sent(), mark()}),
                 (QList{Kind::ClaimDelivery, Kind::Send, Kind::Mark, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Sent);
        QVERIFY(!delivery.report().possiblyMailedTwice);
        QCOMPARE(delivery.report().logLine, u"Emailed user 5 about application 3: reviewing -> interview (event E)"_s);
    }

    void whatIsMarkedIsADuplicate()
    {
        auto delivery = marking();
        QCOMPARE(play(delivery, {claimOf(DeliveryLedger::Standing::Duplicate)}),
                 (QList{Kind::ClaimDelivery, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Duplicate);
    }

    void somebodysLeaseIsWaitedFor()
    {
        DeliveryLedger::Claim claim;
        claim.standing = DeliveryLedger::Standing::Sending;
        claim.leaseLeft = std::chrono::milliseconds(4200);
        auto delivery = marking();
        QCOMPARE(play(delivery, {Result(claim)}), (QList{Kind::ClaimDelivery, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::GivenBack);
        QCOMPARE(delivery.report().hideFor, std::chrono::seconds(6)); // behind its end, in whole seconds
    }

    void whatIsNotSentIsReleased()
    {
        auto delivery = marking();
        QCOMPARE(play(delivery, {ours(), refused(u"451 later"_s, false), Result<bool>(true)}),
                 (QList{Kind::ClaimDelivery, Kind::Send, Kind::Release, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Failed);
    }

    void aGoneApplicationIsMarkedWithoutAMail()
    {
        auto delivery = marking();
        QCOMPARE(play(delivery, {claimOf(DeliveryLedger::Standing::Ours), mark()}),
                 (QList{Kind::ClaimDelivery, Kind::Mark, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Gone);
    }

    void aLostReplyEndsTheLeaseInDoubt()
    {
        auto delivery = marking();
        QCOMPARE(play(delivery, {ours(), doubtful(), ok(), Result<bool>(true)}),
                 (QList{Kind::ClaimDelivery, Kind::Send, Kind::RecordDoubt, Kind::Doubt, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::InDoubt);
    }

    void aMarkThatIsNotCleanIsPossiblyTwice_data()
    {
        QTest::addColumn<bool>("recorded");
        QTest::addColumn<bool>("wasOurs");
        QTest::newRow("handled by somebody else") << false << true;
        QTest::newRow("taken over") << true << false;
        QTest::newRow("both") << false << false;
    }

    void aMarkThatIsNotCleanIsPossiblyTwice()
    {
        QFETCH(bool, recorded);
        QFETCH(bool, wasOurs);
        auto delivery = marking();
        play(delivery, {ours(), sent(), mark(recorded, wasOurs)});
        QCOMPARE(delivery.report().outcome, Outcome::Sent);
        QVERIFY(delivery.report().possiblyMailedTwice);
    }

    void aMailThatCannotBeMarkedIsInDoubt()
    {
        auto delivery = marking();
        QCOMPARE(play(delivery, {ours(), sent(), Result<DeliveryLedger::Mark>(Broken), ok(), Result<bool>(Broken)}),
                 (QList{Kind::ClaimDelivery, Kind::Send, Kind::Mark, Kind::RecordDoubt, Kind::Doubt, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::InDoubt);
    }

    void anEventInDoubtIsHeld()
    {
        auto delivery = marking(DoubtPolicy::Hold);
        QCOMPARE(play(delivery, {claimOf(DeliveryLedger::Standing::InDoubt)}),
                 (QList{Kind::ClaimDelivery, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::InDoubt);
    }

    void anEventInDoubtIsSentAgainAndCounted()
    {
        auto delivery = marking(DoubtPolicy::Resend);
        QCOMPARE(play(delivery, {claimOf(DeliveryLedger::Standing::InDoubt), ours(), sent(), mark()}),
                 (QList{Kind::ClaimDelivery, Kind::TakeOver, Kind::Send, Kind::Mark, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Sent);
        QVERIFY(delivery.report().possiblyMailedTwice); // no double is silent
    }

    void anEventInDoubtIsSettledByTheReceivingSide()
    {
        auto delivery = marking(DoubtPolicy::Ask);
        QCOMPARE(play(delivery, {claimOf(DeliveryLedger::Standing::InDoubt), ours(), Result<bool>(true), mark()}),
                 (QList{Kind::ClaimDelivery, Kind::TakeOver, Kind::AskReceiver, Kind::Mark, Kind::Finish}));
        QCOMPARE(delivery.report().outcome, Outcome::Sent);
        QVERIFY(!delivery.report().possiblyMailedTwice);
    }

    void whatTheReceivingSideHasNotIsSentWithoutADouble()
    {
        auto delivery = marking(DoubtPolicy::Ask);
        play(delivery, {claimOf(DeliveryLedger::Standing::InDoubt), ours(), Result<bool>(false), sent(), mark()});
        QCOMPARE(delivery.report().outcome, Outcome::Sent);
        QVERIFY(!delivery.report().possiblyMailedTwice);
    }

    void aTakeOverThatCameTooLateGivesBack()
    {
        auto delivery = marking(DoubtPolicy::Resend);
        play(delivery, {claimOf(DeliveryLedger::Standing::InDoubt), claimOf(DeliveryLedger::Standing::InDoubt)});
        QCOMPARE(delivery.report().outcome, Outcome::GivenBack);
    }
};

Q_DECLARE_METATYPE(DeliveryInput)
Q_DECLARE_METATYPE(QList<Kind>)
Q_DECLARE_METATYPE(Outcome)

QTEST_GUILESS_MAIN(DeliveryMachineTest)
#include "tst_deliverymachine.moc"
