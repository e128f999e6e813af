// Shows the window fed with realistic values and no worker, to look at it: gallery --fill --theme dark --size 1280x800
// --tab "Dead letters" --shot picture.png. Not a test.
#include "ui/auditpanel.h"
#include "ui/deadletteracts.h"
#include "ui/deadletterspanel.h"
#include "ui/doubtspanel.h"
#include "ui/faultpresets.h"
#include "ui/faultspanel.h"
#include "ui/inlineconfirm.h"
#include "ui/letteractions.h"
#include "ui/letterfiltermenu.h"
#include "ui/logpanel.h"
#include "ui/mailboxpanel.h"
#include "ui/mainwindow.h"
#include "ui/matrixpanel.h"
#include "ui/matrixview.h"
#include "ui/paneldock.h"
#include "ui/processedpanel.h"
#include "ui/queuepanel.h"
#include "ui/rowtable.h"
#include "ui/scenariospanel.h"
#include "ui/searchfield.h"
#include "ui/sendpanel.h"
#include "ui/theme.h"
#include "ui/windowactions.h"

#include <QAction>
#include <QApplication>
#include <QCommandLineParser>
#include <QElapsedTimer>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QRandomGenerator>
#include <QTabBar>
#include <QTimer>
#include <QUuid>

#include <cmath>
#include <cstdio>

using namespace Qt::StringLiterals;
using namespace sendonce;
using namespace std::chrono_literals;

namespace {

const QStringList People{u"sam"_s, u"alex"_s, u"robin"_s, u"kim"_s, u"jo"_s, u"charlie"_s};
const QStringList Jobs{u"Backend engineer"_s, u"Data analyst"_s, u"Support lead"_s, u"QA engineer"_s, u"Designer"_s};

QString uuid(QRandomGenerator &random)
{
    QByteArray bytes(16, Qt::Uninitialized);
    for (char &c : bytes)
        c = char(random.bounded(256));
    return QUuid::fromRfc4122(bytes).toString(QUuid::WithoutBraces);
}

QByteArray body(const QString &eventId, int application, const QString &type = u"application.status_changed"_s)
{
    return uR"({"type": "%1", "event_id": "%2", "application_id": %3, "old_status": "reviewing", "new_status": "interview"})"_s
        .arg(type, eventId)
        .arg(application)
        .toUtf8();
}

DeadLetter letter(const QString &eventId, int application, Verdict verdict, const QString &verdictText,
                  const QString &reason, const QDateTime &diedAt)
{
    DeadLetter dead;
    dead.eventId = eventId;
    dead.eventType = u"application.status_changed"_s;
    dead.applicationId = application > 0 ? QString::number(application) : QString();
    dead.verdict = verdict;
    dead.verdictText = verdictText;
    dead.reason = reason;
    dead.receiveCount = 3;
    dead.diedAt = diedAt;
    dead.sentAt = diedAt.addSecs(-95);
    dead.firstFailedAt = diedAt.addSecs(-90);
    if (diedAt.isValid())
        dead.expiresAt = dead.sentAt.addDays(4);
    dead.message.messageId = u"5b1f6a0e-77c2-4a5f-9f0e-%1"_s.arg(qHash(eventId), 12, 16, QLatin1Char('0'));
    dead.message.body = body(eventId, application);
    dead.bodyExcerpt = QString::fromUtf8(dead.message.body);
    return dead;
}

class Gallery
{
public:
    explicit Gallery(MainWindow &window) : m_window(window), m_now(QDateTime::currentDateTimeUtc()), m_random(7)
    {
        QObject::connect(&window, &MainWindow::processedQueried, &window, [this](const ProcessedQuery &query) {
            QTimer::singleShot(0, &m_window, [this, query] { m_window.showProcessedPage(page(query)); });
        });
        QObject::connect(&window, &MainWindow::mailboxQueried, &window, [this](const QString &search, int) {
            MailboxSnapshot snapshot;
            for (const MailRow &mail : std::as_const(m_mails)) {
                if (search.isEmpty() || mail.to.contains(search) || mail.subject.contains(search)
                    || mail.eventId.contains(search))
                    snapshot.rows += mail;
            }
            snapshot.total = snapshot.rows.size();
            QTimer::singleShot(0, &m_window, [this, snapshot] { m_window.showMailbox(snapshot); });
        });
        QObject::connect(&window, &MainWindow::mailOpenRequested, &window,
                         [this](const QString &id) { QTimer::singleShot(0, &m_window, [this, id] { open(id); }); });
        QObject::connect(&window, &MainWindow::storyRequested, &window, [this](const QString &eventId) {
            QTimer::singleShot(0, &m_window, [this, eventId] { m_window.showStory(story(eventId)); });
        });
        QObject::connect(
            window.letterActs(), &DeadLetterActs::replayOrdered, &window, [this](const ReplayOrder &order) {
                for (const QString &messageId : order.messageIds)
                    QTimer::singleShot(700, &m_window, [this, messageId] {
                        m_window.showReplays(
                            {{messageId, {}, ReplayItem::State::Mailed, u"mailed · handled by a new delivery"_s, 1}});
                    });
            });
        connectActs();
        QObject::connect(&window, &MainWindow::deadLetterRequested, &window, [this](const QString &messageId) {
            QTimer::singleShot(0, &m_window, [this, messageId] { m_window.showDeadLetter(whole(messageId)); });
        });
        QObject::connect(
            &window, &MainWindow::deadLetterSearchRequested, &window, [this](const QString &, quint64 ticket) {
                QTimer::singleShot(0, &m_window, [this, ticket] { m_window.showDeadLetterMatches({ticket, {}, {}}); });
            });
        QObject::connect(&window, &MainWindow::browseRequested, &window, [this] {
            QTimer::singleShot(400, &m_window, [this] { m_window.showDeadLetters(m_letters); });
        });
        QObject::connect(&window, &MainWindow::doubtsQueried, &window,
                         [this] { QTimer::singleShot(0, &m_window, [this] { m_window.showDoubts(m_doubts); }); });
        QObject::connect(&window, &MainWindow::settleDoubtsRequested, &window,
                         [this](const QStringList &eventIds, DoubtAct act) {
                             QTimer::singleShot(500, &m_window, [this, eventIds, act] { settle(eventIds, act); });
                         });
        QObject::connect(&window, &MainWindow::checkRequested, &window,
                         [this] { QTimer::singleShot(0, &m_window, [this] { check(); }); });
        QObject::connect(&window, &MainWindow::sendRequested, &window, [this](const SendRequest &request) {
            m_window.showSendReport({request, uuid(m_random), {u"m-1"_s}, {}});
        });
    }

    void showRun() { m_window.letterActs()->showProgress(runs().first()); }

    void open()
    {
        services(ServiceStatus::Health::Ok);
        m_window.showOpened();
        fillScenarios(false);
        fillMatrix(false);
        QueueDepth depth;
        depth.visible = depth.inFlight = depth.delayed = depth.deadLetters = 0;
        depth.sampledAt = m_now;
        m_window.showDepth(depth);
    }

    void services(ServiceStatus::Health health)
    {
        m_window.showService({ServiceStatus::Service::Queue, health, u"127.0.0.1:9324"_s, {}});
        m_window.showService({ServiceStatus::Service::Database, health, u"SQLite sendonce.db"_s, {}});
        m_window.showService({ServiceStatus::Service::Mail, health, u"127.0.0.1:1025"_s, {}});
    }

    void fill()
    {
        fillRows();
        fillLetters();
        fillDoubts();
        fillScenarios(true);
        fillMatrix(true);
        services(ServiceStatus::Health::Ok);
        m_window.showOpened();
        m_window.showState(WorkerState::Running);
        m_window.showInHand(3);
        fillDepth();
        fillLog();
        m_window.showCounters({1200, 96, 3, 0, 0});
        arm();
        m_window.showDeadLetters(m_letters);
        // The rates of the last ten seconds come from totals.
        QTimer::singleShot(100ms, &m_window, [this] { m_window.showCounters({1204 + 42, 97 + 6, 5, 1, 1}); });
    }

    /// A catalogue of which some ran: one goes on, one failed.
    void fillScenarios(bool ran)
    {
        ScenarioList list;
        const QStringList titles{u"First delivery"_s,
                                 u"A duplicate delivery"_s,
                                 u"The application is gone"_s,
                                 u"The mail fails, then succeeds"_s,
                                 u"A crash between commit and delete"_s,
                                 u"The exact instant: a crash between the mail server's 250 and the commit"_s,
                                 u"Two workers at once"_s,
                                 u"Failing until dead, then replayed"_s,
                                 u"Mail slower than the visibility timeout"_s,
                                 u"COMMIT fails after the mail"_s,
                                 u"Timeout after the dot"_s,
                                 u"Duplicate after clean-up"_s,
                                 u"Same key, other body"_s,
                                 u"Poison messages"_s,
                                 u"A storm of 1,000 duplicates"_s,
                                 u"False dead letter"_s};
        for (const QString &title : titles) {
            ScenarioInfo info;
            info.name = title.toLower().replace(u' ', u'-');
            info.title = title;
            info.explanation = {
                u"The one gap that no transaction can close: the e-mail is out, the claim is not yet in."_s,
                u"The event is sent again, with the same bytes, so that a receiving side that "
                "suppresses copies drops the second one. No double is silent: a warning names it."_s};
            info.steps = {u"Arm: worker.accepted: crash, next 1"_s, u"Send event A"_s, u"Start all workers"_s,
                          u"Wait until the queue is empty"_s};
            info.expectations = {u"2 e-mails for event A"_s, u"1 claim for event A"_s, u"queue: 0"_s,
                                 u"dead letters: 0"_s, u"the log says “possibly mailed twice”"_s};
            list.scenarios += info;
        }
        list.scenarios[12].file = u"/home/sam/.config/sendonce/scenarios/own.json"_s;
        if (ran)
            list.problems = {
                u"/home/sam/.config/sendonce/scenarios/mine.json: line 7: steps[2].wait.queue: must be a whole number, not \"none\""_s};
        m_window.scenariosPanel()->setReady();
        m_window.scenariosPanel()->showList(list);
        if (!ran)
            return;
        using Line = ScenarioLine::State;
        for (int i = 0; i < 8; ++i) {
            const ScenarioInfo &info = list.scenarios.at(i);
            ScenarioRun run;
            run.id = i + 1;
            run.scenario = info.name;
            run.title = info.title;
            run.startedAt = m_now.addSecs(-60 + i * 4);
            run.msec = 900 + 700 * i;
            run.folder = u"/home/sam/.local/share/sendonce/scenarios/20260301-140541-"_s + info.name;
            run.state = i == 7 ? ScenarioRun::State::Running
                : i == 3       ? ScenarioRun::State::Failed
                               : ScenarioRun::State::Passed;
            run.isGuaranteeBroken = i == 3;
            for (const QString &text : info.steps) {
                const bool last = i == 7 && run.steps.size() == 2;
                const bool later = i == 7 && run.steps.size() > 2;
                run.steps.append({text,
                                  last        ? Line::Running
                                      : later ? Line::Waiting
                                              : Line::Done,
                                  {},
                                  last || later ? -1 : 12 * (i + 1)});
            }
            for (const QString &text : info.expectations) {
                const bool wrong = i == 3 && run.expectations.isEmpty();
                run.expectations.append({text,
                                         i == 7      ? Line::Waiting
                                             : wrong ? Line::Failed
                                                     : Line::Done,
                                         wrong ? u"3 e-mails"_s : QString(), -1});
            }
            run.log = {u"14:05:41.010 INFO Worker started"_s,
                       u"14:05:41.120 INFO Emailed user 5 about application 3"_s};
            m_window.scenariosPanel()->takeRun(run);
        }
    }

    void fillMatrix(bool measured)
    {
        MatrixShape shape;
        const QList<std::tuple<QString, QString, bool>> designs{
            {u"none"_s, u"No idempotency"_s, false},
            {u"check"_s, u"Check, then insert"_s, false},
            {u"claim-first"_s, u"Claim committed first"_s, false},
            {u"message-id"_s, u"MessageId as the key"_s, false},
            {u"outside"_s, u"Claim outside the transaction"_s, false},
            {u"one-transaction"_s, u"One transaction"_s, true},
            {u"claim-send-mark"_s, u"Claim, send, mark"_s, true}};
        for (const auto &[id, title, production] : designs) {
            shape.designs.append({id, title, production, false});
            shape.designs.append({id, title, production, true});
        }
        for (const char *title : {"Duplicate delivery", "Second message, same event_id", "Race of two", "Mail refused",
                                  "Crash after receive", "Crash after claim", "Crash amid the mail",
                                  "Crash after the final dot", "Crash after the mail", "Crash after COMMIT",
                                  "COMMIT fails", "Time-out after the dot", "Redrive with a new MessageId"})
            shape.hazards.append(
                {QString::fromLatin1(title), QString::fromLatin1(title),
                 u"The message is received, and its worker is killed before it did anything about it."_s});
        m_window.matrixPanel()->setReady();
        m_window.matrixPanel()->showShape(shape);
        if (!measured)
            return;
        using Mark = MatrixCell::Mark;
        int done = 0;
        for (const MatrixDesign &design : shape.designs) {
            for (const MatrixHazard &hazard : shape.hazards) {
                MatrixCell cell;
                cell.design = design.suppressing ? design.id + u"+suppressing"_s : design.id;
                cell.hazard = hazard.id;
                const int kind = design.production ? (done % 9 == 4 ? 1 : done % 23 == 6 ? 3 : 0) : done % 4;
                cell.mails = kind == 0 ? 1 : kind == 1 ? 2 : 0;
                cell.expected = done == 41 ? 1 : cell.mails;
                cell.mark = kind == 0 || kind == 3 ? Mark::Calm : kind == 1 ? Mark::Warning : Mark::Alarm;
                cell.held = kind == 3;
                cell.announced = design.production ? cell.mails == 2 : 0;
                cell.text = kind == 0 ? u"1 e-mail"_s
                    : kind == 1       ? u"2 e-mails, announced"_s
                    : kind == 2       ? u"none: lost"_s
                                      : u"none: held for a person"_s;
                cell.seconds = 1.4;
                cell.runs = done == 15 ? 100 : 1;
                cell.other = done == 15 ? 37 : 0;
                cell.folder = u"/home/sam/.local/share/sendonce/scenarios/matrix/"_s + cell.design;
                if (++done < 150)
                    m_window.matrixPanel()->takeCell(cell);
            }
        }
        m_window.matrixPanel()->showProgress({149, 182, false, false, 41.2});
    }

    /// Of every part something, with and without an end.
    void armMany()
    {
        FaultRules rules;
        for (const FaultPreset &preset : faultPresets()) {
            if (rules.size() % 3 == 2)
                rules += preset.rule;
            else if (preset.rule.lasts > 0ms || rules.isEmpty() || preset.name == "crashBeforeCommit"_L1)
                rules += preset.rule;
        }
        rules[1].event = u"demo-*"_s;
        rules[1].recipient = u"*@example.com"_s;
        rules[0].times = 5;
        rules[0].struck = 3;
        for (int i = 0; i < int(rules.size()); ++i) {
            rules[i].id = i + 1;
            rules[i].left = rules[i].lasts * 2 / 3;
        }
        m_window.showArmed(rules);
    }

    void arm()
    {
        FaultRule rule;
        rule.id = 1;
        rule.times = 2;
        rule.text = u"4.3.0 mail server down"_s;
        m_window.showArmed({rule});
    }

    /// A bad night: thousands, most for the same few reasons.
    void fillMany(int count)
    {
        const QStringList reasons{u"451 4.3.0 mail server down"_s, u"451 4.7.1 greylisted, try again later"_s,
                                  u"550 5.1.1 <%1@example.com> no such mailbox (permanent)"_s,
                                  u"no complete final reply within 60 s"_s};
        for (int i = 0; i < count; ++i) {
            const int kind = i % 10 < 7 ? 0 : i % 10 < 8 ? 1 : i % 10 < 9 ? 2 : 3;
            DeadLetter dead =
                letter(uuid(m_random), 1 + m_random.bounded(40),
                       kind == 3         ? Verdict::InDoubt
                           : i % 13 == 5 ? Verdict::Handled
                                         : Verdict::NotHandled,
                       {}, kind == 2 ? reasons.at(2).arg(People.at(i % int(People.size()))) : reasons.at(kind),
                       m_now.addSecs(-i / 4));
            dead.timesBack = i % 31 == 0 ? 1 : 0;
            m_letters.letters += dead;
        }
        m_letters.browse = 2;
        m_letters.about = m_letters.seen = m_letters.letters.size();
        m_window.showDeadLetters(m_letters);
    }

    void few()
    {
        m_letters.letters = m_letters.letters.mid(0, 3);
        m_letters.browse = 2;
        m_letters.about = m_letters.seen = 3;
        m_window.showDeadLetters(m_letters);
    }

    void fail()
    {
        services(ServiceStatus::Health::Ok);
        m_window.showService({ServiceStatus::Service::Mail, ServiceStatus::Health::Failing, u"127.0.0.1:1025"_s,
                              u"127.0.0.1:1025 refused the connection. Is the mail server running? See --mail-url."_s});
        m_window.showOpenFailed(
            u"The database file sendonce.db cannot be opened: the disk is full. Free some space in the data "
            "folder, then start Sendonce again, or name another folder with --data-dir."_s);
    }

    void check()
    {
        using Level = CheckLine::Level;
        const QString url = u"https://sqs.eu-west-1.amazonaws.com/123456789012/job-board-events"_s;
        for (
            const auto &[level, text, remedy] : std::initializer_list<std::tuple<Level, QString, QString>>{
                {Level::Ok, u"data folder /home/sam/.local/share/sendonce is private"_s, {}},
                {Level::Ok, u"48211 MB are free in the data folder"_s, {}},
                {Level::Ok, u"database SQLite sendonce.db can be read"_s, {}},
                {Level::Ok, u"jobs_processedevent.event_id is unique"_s, {}},
                {Level::Warning,
                 u"table sendonce_claimbody is missing: an event_id that comes again with another body is skipped without a word"_s,
                 u"start the console or sendoncectl local once on this database if it is theirs; a database of Django's works without it"_s},
                {Level::Ok, u"mail server 127.0.0.1:1025 answers: 220 mail.example ESMTP"_s, {}},
                {Level::Ok, u"queue %1 answers"_s.arg(url), {}},
                {Level::Error, u"sqs:DeleteMessage is denied: the endpoint answered AccessDenied: not authorized"_s,
                 u"allow sqs:DeleteMessage on %1 in the policy of these credentials"_s.arg(url)},
                {Level::Ok,
                 u"sqs:ReceiveMessage is needed and was not tried, for that would take or add messages"_s,
                 {}},
                {Level::Warning,
                 u"maxReceiveCount is 1: a crash or a short outage is enough to make a good message a dead letter"_s,
                 u"set maxReceiveCount in the queue's RedrivePolicy to 3 or more"_s},
            }) {
            CheckLine line;
            line.level = level;
            line.text = text;
            line.remedy = remedy;
            m_window.showCheckLine(line);
        }
        m_window.showCheckFinished();
    }

private:
    void fillRows()
    {
        for (int i = 0; i < 640; ++i) {
            ProcessedRow row;
            row.id = 5000 - i;
            row.eventId = i == 4 ? u"test-missing"_s : uuid(m_random);
            row.eventType = u"application.status_changed"_s;
            row.processedAt = m_now.addMSecs(-qint64(i) * 2300 - m_random.bounded(900));
            const bool known = i % 17 != 9;
            row.applicationId = known ? QString::number(1 + m_random.bounded(40)) : QString();
            row.result = !known ? QString() : i == 4 ? u"application gone"_s : u"mailed"_s;
            row.duplicates = i % 6 == 2 ? 1 + m_random.bounded(3) : 0;
            m_rows += row;
            if (row.result != "mailed"_L1)
                continue;
            MailRow mail;
            mail.id = u"%1.eml"_s.arg(row.id);
            mail.eventId = row.eventId;
            mail.messageId = row.eventId + u"@jobboard.example"_s;
            mail.from = u"Job Board <no-reply@jobboard.example>"_s;
            mail.to = People.at(m_random.bounded(int(People.size()))) + u"@example.com"_s;
            mail.subject =
                u"Your application for %1 at Acme is now: interview"_s.arg(Jobs.at(m_random.bounded(int(Jobs.size()))));
            mail.receivedAt = row.processedAt.addMSecs(-8);
            mail.sizeBytes = 1432;
            mail.copies = i == 2 ? 2 : 1;
            m_mails += mail;
            if (mail.copies == 2) {
                MailRow again = mail;
                again.id += u"-2"_s;
                again.receivedAt = again.receivedAt.addSecs(-31);
                m_mails += again;
            }
        }
    }

    void fillLetters()
    {
        const auto ago = [this](int minutes) { return m_now.addSecs(-60 * minutes - 12); };
        m_letters.letters = {
            letter(u"23e48c51-7f0e-4b7e-8c55-1f0e6a5d9a41"_s, 3, Verdict::NotHandled, u"not handled · replay sends"_s,
                   u"451 4.3.0 mail server down"_s, ago(2)),
            letter(u"9c8dfc41-02bb-4d0b-9a3f-5a4be80977d0"_s, 8, Verdict::NotHandled, u"not handled · replay sends"_s,
                   u"451 4.3.0 mail server down"_s, ago(2)),
            letter(u"b15e66d8-4c1a-47f2-b7ae-90d9f0a7e310"_s, 12, Verdict::Handled,
                   u"handled 14:02:11 · replay is skipped"_s, u"waited behind the first delivery"_s, ago(6)),
            letter(u"51aa9e02-6d6f-4a3c-8f4e-ad8811f20c55"_s, 4, Verdict::InDoubt, u"in doubt · a person decides"_s,
                   u"reply lost after the final dot"_s, ago(9)),
            letter(u"test-no-such-type"_s, 0, Verdict::Invalid, u"invalid · replay fails again"_s,
                   u"type “application.archived” is not known"_s, ago(14)),
            letter(u"0f3b7c9e-11d2-4e9b-b7c1-6c29d4f25b8c"_s, 31, Verdict::NotHandled, u"not handled · replay sends"_s,
                   u"550 5.1.1 no such mailbox (permanent)"_s, ago(21)),
            letter({}, 0, Verdict::Invalid, u"invalid · replay fails again"_s,
                   u"the body is not JSON: illegal value at offset 0"_s, ago(190)),
            letter(u"7d4c3f10-9a77-4f2f-8f51-3f0f5e9b6b12"_s, 17, Verdict::Unknown,
                   u"unknown · the table begins later"_s, {}, {}),
        };
        m_letters.letters[4].eventType = u"application.archived"_s;
        m_letters.letters[4].message.body = body(u"test-no-such-type"_s, 9, u"application.archived"_s);
        m_letters.letters[6].eventType.clear();
        m_letters.letters[6].message.body = "hello <img src='file:///etc/hostname'> world";
        m_letters.about = 8;
        m_letters.finished = true;
        m_letters.browsedAt = m_now.addSecs(-20);
    }

    DeadLetterDetail whole(const QString &messageId) const
    {
        DeadLetterDetail detail;
        for (const DeadLetter &dead : m_letters.letters) {
            if (dead.message.messageId == messageId)
                detail.letter = dead;
        }
        Message &message = detail.letter.message;
        message.attributes = {{u"traceparent"_s, {u"String"_s, u"00-4bf92f3577b34da6a3ce929d0e0e4736-01"_s, {}}},
                              {u"attempt"_s, {u"Number.int"_s, u"3"_s, {}}},
                              {u"signature"_s, {u"Binary"_s, {}, QByteArray::fromHex("00ff10a2b4c8d1e2f30415263748")}}};
        message.systemAttributes = {
            {u"ApproximateReceiveCount"_s, u"4"_s},
            {u"SentTimestamp"_s, QString::number(detail.letter.sentAt.toMSecsSinceEpoch())},
            {u"SenderId"_s, u"AIDAEXAMPLE"_s},
            {u"DeadLetterQueueSourceArn"_s, u"arn:aws:sqs:us-east-1:000000000000:job-board-events"_s}};
        for (int i = 0; i < 3 && !detail.letter.eventId.isEmpty(); ++i) {
            DeliveryReport report;
            report.outcome = Outcome::Failed;
            report.failedStage = Stage::HandedOver;
            report.reason = detail.letter.reason;
            report.receiveCount = i + 1;
            report.lane = 1 + i;
            report.receivedAt = detail.letter.diedAt.addSecs(-30 * (2 - i));
            report.stageUsec[0] = 8200 + 900 * i;
            detail.attempts.append({report, u"mailhost pid 4711"_s});
        }
        detail.hasMailbox = true;
        return detail;
    }

    void fillDoubts()
    {
        const auto doubt = [this](const QString &eventId, int application, Doubt::State state, int minutes,
                                  const QString &reason, const QString &done) {
            Doubt each;
            each.eventId = eventId;
            each.eventType = u"application.status_changed"_s;
            each.applicationId = QString::number(application);
            each.messageId = u"5b1f6a0e-77c2-4a5f-9f0e-%1"_s.arg(qHash(eventId), 12, 16, QLatin1Char('0'));
            each.worker = u"mailhost pid 4711"_s;
            each.lane = 1 + application % 4;
            each.mailReply = u"354 End data with <CR><LF>.<CR><LF>"_s;
            each.recipient = People.at(application % int(People.size())) + u"@example.com"_s;
            each.mailMessageId = u"%1@jobboard.example"_s.arg(qHash(eventId), 40, 16, QLatin1Char('7'));
            each.strategy = application % 2 ? u"claim-send-mark"_s : u"transaction"_s;
            each.state = state;
            each.since = m_now.addSecs(-60 * minutes - 12);
            each.reason = reason;
            each.done = done;
            return each;
        };
        m_doubts.doubts = {
            doubt(u"51aa9e02-6d6f-4a3c-8f4e-ad8811f20c55"_s, 4, Doubt::State::Waiting, 3,
                  u"no complete final reply within 60 s"_s, {}),
            doubt(u"c0a7715e-0b94-4d07-91d2-5be27f5ae2a1"_s, 7, Doubt::State::Waiting, 9,
                  u"the connection ended before the final reply"_s, u"held at 2 redeliveries"_s),
            doubt(u"e8b4f3d2-7c11-4b58-a1f0-0d6a9c4e7713"_s, 11, Doubt::State::Waiting, 26,
                  u"its worker fell silent while it sent"_s, {}),
            doubt(u"30f9c6a8-5d2e-4c1b-bb47-92e1d08f6a54"_s, 2, Doubt::State::SendAgain, 48,
                  u"no complete final reply within 60 s"_s,
                  u"sam on mailhost decided: send again · the next delivery or replay sends"_s),
            doubt(u"9d1e2b60-3f4a-4e77-8c90-6a7b5c3d2e1f"_s, 19, Doubt::State::Over, 75,
                  u"no complete final reply within 60 s"_s, u"sent again 13:41:07"_s),
        };
        m_doubts.waiting = 3;
        m_doubts.maildir = u"/home/sam/.local/share/sendonce/mailbox"_s;
        m_doubts.readAt = m_now;
    }

    /// Every answer of a worker that the dialogs of acts need.
    void connectActs()
    {
        DeadLetterActs *acts = m_window.letterActs();
        QObject::connect(acts, &DeadLetterActs::letterRequested, &m_window,
                         [this](const QString &messageId) { m_window.showDeadLetter(whole(messageId)); });
        QObject::connect(acts, &DeadLetterActs::runsQueried, &m_window,
                         [this, acts] { QTimer::singleShot(0, &m_window, [this, acts] { acts->showRuns(runs()); }); });
        QObject::connect(acts, &DeadLetterActs::runItemsQueried, &m_window, [this, acts](qint64 run) {
            ReplayItems items;
            items.run = run;
            using State = ReplayItem::State;
            const State states[] = {State::Mailed,    State::Skipped,  State::Mailed,
                                    State::DeadAgain, State::Replayed, State::Sending};
            for (int i = 0; i < 12; ++i) {
                const State state = states[i % 6];
                items.items += ReplayItem{uuid(m_random), uuid(m_random), state,
                                          state == State::Mailed          ? u"mailed"_s
                                              : state == State::Skipped   ? u"skipped: handled before"_s
                                              : state == State::DeadAgain ? u"dead again: 550 5.1.1 no such mailbox"_s
                                                                          : QString(),
                                          run};
            }
            QTimer::singleShot(0, &m_window, [acts, items] { acts->showRunItems(items); });
        });
        QObject::connect(acts, &DeadLetterActs::keptQueried, &m_window, [this, acts] {
            KeptLetters kept;
            for (int i = 0; i < 6; ++i)
                kept.letters += KeptLetter{i,
                                           m_now.addSecs(-700 * i),
                                           u"sam"_s,
                                           uuid(m_random),
                                           uuid(m_random),
                                           i == 2 ? uuid(m_random) : QString(),
                                           {}};
            QTimer::singleShot(0, &m_window, [acts, kept] { acts->showKeptLetters(kept); });
        });
        QObject::connect(acts, &DeadLetterActs::moveTaskQueried, &m_window, [acts] {
            MoveTaskProgress progress;
            progress.state = MoveTaskProgress::State::Running;
            progress.moved = 1204;
            progress.toMove = 4711;
            progress.canCancel = true;
            acts->showMoveTask(progress);
        });
        QObject::connect(&m_window, &MainWindow::cleanUpPreviewQueried, &m_window, [this] {
            CleanUp preview;
            preview.keepDays = 45;
            preview.rows = 12'408;
            preview.before = m_now.addDays(-45);
            preview.oldest = m_now.addDays(-210);
            preview.newest = m_now.addDays(-45).addSecs(-90);
            m_window.showCleanUpPreview(preview);
        });
        QObject::connect(&m_window, &MainWindow::auditQueried, &m_window,
                         [this] { QTimer::singleShot(0, &m_window, [this] { m_window.showAudit(audit()); }); });
        m_window.showMoveTasks({MoveTaskSupport::Answer::Yes, {}});
        acts->setQueueNames({u"job-board-events"_s, u"job-board-events-dlq"_s, 3});
        EventRules rules;
        rules.types = {{u"application.received"_s, {{u"application_id"_s, true}}},
                       {u"application.status_changed"_s,
                        {{u"application_id"_s, true}, {u"old_status"_s, false}, {u"new_status"_s, false}}}};
        rules.check = [](const QByteArray &body) { return BodyCheck{{}, u"e"_s, u"t"_s, body.size()}; };
        m_window.showEventRules(rules);
    }

    QList<ReplayProgress> runs() const
    {
        const auto run = [this](qint64 number, ReplayProgress::State state, qint64 done, qint64 left, qint64 failed) {
            ReplayProgress each;
            each.run = number;
            each.act = number == 2 ? u"delete"_s : u"replay"_s;
            each.state = state;
            each.total = done + left + failed;
            each.done = done;
            each.left = left;
            each.failed = failed;
            if (number != 2) {
                each.mailed = done * 3 / 4;
                each.skipped = done / 8;
                each.deadAgain = done / 16;
                each.waiting = done - each.mailed - each.skipped - each.deadAgain;
            }
            each.startedAt = m_now.addSecs(-3600 * (6 - number));
            each.by = u"sam on mailhost"_s;
            return each;
        };
        QList<ReplayProgress> all{
            run(5, ReplayProgress::State::Halted, 32, 15, 2), run(4, ReplayProgress::State::Interrupted, 210, 290, 0),
            run(3, ReplayProgress::State::Finished, 64, 0, 0), run(2, ReplayProgress::State::Finished, 3, 0, 0),
            run(1, ReplayProgress::State::Cancelled, 12, 40, 0)};
        all[0].text = u"2 failures, as asked"_s;
        return all;
    }

    AuditPage audit()
    {
        AuditPage page;
        const auto add = [&](const QString &act, int ids, const QString &text, const QString &outcome) {
            AuditEntry entry;
            entry.id = 1000 - page.entries.size();
            entry.at = m_now.addSecs(-340 * page.entries.size());
            entry.who = u"sam"_s;
            entry.host = u"mailhost"_s;
            entry.profile = u"Local"_s;
            entry.act = act;
            for (int i = 0; i < ids; ++i)
                entry.ids += uuid(m_random);
            entry.text = text;
            entry.outcome = outcome;
            page.entries += entry;
        };
        add(u"replay"_s, 49, {}, u"47 sent, 2 failed, 0 left"_s);
        add(u"replay"_s, 49, u"49 letters: 41 not handled, 6 handled, 0 in doubt, 0 unknown, 2 invalid; canary first"_s,
            {});
        add(u"delete"_s, 3, {}, u"3 deleted, 0 failed, 0 left"_s);
        add(u"delete"_s, 3, u"3 letters, a copy of each is kept"_s, {});
        add(u"forget"_s, 1, {}, u"event 23e48c51 can mail again"_s);
        add(u"forget"_s, 1, u"event 23e48c51 can mail again, because: the first one bounced"_s, {});
        return page;
    }

    void settle(const QStringList &eventIds, DoubtAct act)
    {
        QList<DoubtOutcome> outcomes;
        for (const QString &eventId : eventIds) {
            outcomes += DoubtOutcome{eventId, act,
                                     act == DoubtAct::SendAgain     ? DoubtOutcome::State::Released
                                         : act == DoubtAct::Arrived ? DoubtOutcome::State::Settled
                                                                    : DoubtOutcome::State::NotThere,
                                     act == DoubtAct::SendAgain ? u"the next delivery or replay sends it"_s
                                         : act == DoubtAct::Arrived
                                         ? u"it arrived: a redelivery or replay is skipped"_s
                                         : u"not there, but it may still be on its way (%1)"_s.arg(m_doubts.maildir)};
        }
        m_window.showDoubtsSettled(outcomes);
    }

    void fillDepth()
    {
        double visible = 8;
        for (int second = 900; second >= 1; second -= 3) {
            visible = std::max(0.0,
                               visible + m_random.bounded(2.4) - 1.2 + (second < 300 && second > 180 ? 0.35 : 0)
                                   - (visible > 14 ? 0.5 : 0));
            QueueDepth depth;
            depth.visible = qint64(visible);
            depth.inFlight = m_random.bounded(4);
            depth.delayed = 0;
            depth.deadLetters = second > 620 ? 1 : second > 300 ? 3 : second > 120 ? 6 : 8;
            depth.sampledAt = m_now.addSecs(-second);
            if (second <= 3) {
                depth.visible = 12;
                depth.inFlight = 3;
            }
            m_window.queuePanel()->showDepth(depth);
            if (second <= 3)
                m_window.showDepth(depth);
        }
    }

    void fillLog()
    {
        for (int i = 60; i >= 0; --i) {
            const ProcessedRow &row = m_rows.at(i);
            LogLine line{row.processedAt, LogLevel::Info, {}, row.eventId};
            switch (i % 9) {
            case 3:
                line.text = u"Event %1 already processed; skipping duplicate"_s.arg(row.eventId);
                break;
            case 5:
                line.level = LogLevel::Error;
                line.text =
                    u"Failed to handle message 5b1f6a0e-77c2-4a5f-9f0e-00003a5d9a41 (event %1): 451 4.3.0 mail server down"_s
                        .arg(row.eventId);
                break;
            case 7:
                line.level = LogLevel::Warning;
                line.text = u"Application 99 no longer exists; skipping (event %1)"_s.arg(row.eventId);
                break;
            case 8:
                line.level = LogLevel::Debug;
                line.text = u"received 1 message, 3 in hand"_s;
                line.eventId.clear();
                break;
            default:
                line.text = u"Emailed user 5 about application %1: reviewing -> interview (event %2)"_s.arg(
                    row.applicationId, row.eventId);
            }
            m_window.addLogLine(line);
        }
    }

    ProcessedPage page(const ProcessedQuery &query) const
    {
        ProcessedPage page;
        page.query = query;
        for (const ProcessedRow &row : m_rows) {
            if ((query.beforeId > 0 && row.id >= query.beforeId) || row.id <= query.afterId)
                continue;
            if (!query.search.isEmpty() && !row.eventId.contains(query.search)
                && !row.applicationId.contains(query.search))
                continue;
            if (page.rows.size() == query.limit) {
                page.more = true;
                break;
            }
            page.rows += row;
        }
        return page;
    }

    void open(const QString &id)
    {
        for (const MailRow &row : std::as_const(m_mails)) {
            if (row.id != id)
                continue;
            MailDetail mail;
            mail.row = row;
            mail.headers = {{u"Date"_s, u"Tue, 1 Dec 2026 15:04:41 +0000"_s},
                            {u"From"_s, row.from},
                            {u"To"_s, row.to},
                            {u"Subject"_s, row.subject},
                            {u"Message-ID"_s, u"<%1>"_s.arg(row.messageId)},
                            {u"X-Sendonce-Event"_s, row.eventId},
                            {u"MIME-Version"_s, u"1.0"_s},
                            {u"Content-Type"_s, u"text/plain; charset=utf-8"_s}};
            mail.text =
                u"Hello Sam,\n\nthe status of your application for %1 at Acme changed\nfrom reviewing to interview.\n\nThe Job Board team\n"_s
                    .arg(row.subject.section(u" for "_s, 1).section(u" at "_s, 0, 0));
            for (const auto &[name, value] : mail.headers)
                mail.raw += name.toUtf8() + ": " + value.toUtf8() + "\r\n";
            mail.raw += "\r\n" + mail.text.toUtf8();
            m_window.showMail(mail);
        }
    }

    EventStory story(const QString &eventId) const
    {
        EventStory story;
        story.eventId = eventId;
        const auto at = [this](int seconds) { return m_now.addSecs(-seconds); };
        for (const DeadLetter &dead : m_letters.letters) {
            if (dead.eventId == eventId) {
                story.lines = {{at(231), u"received 1 of 3   lane 1   451 4.3.0 → rolled back"_s},
                               {at(201), u"received 2 of 3   lane 1   451 4.3.0 → rolled back"_s},
                               {at(171), u"received 3 of 3   lane 1   451 4.3.0 → rolled back"_s},
                               {at(141), u"moved to job-board-events-dlq"_s},
                               {at(141), u"no e-mail was sent"_s}};
                return story;
            }
        }
        for (const Doubt &doubt : m_doubts.doubts) {
            if (doubt.eventId == eventId) {
                story.lines = {
                    {doubt.since.addSecs(-61), u"sent as message %1"_s.arg(doubt.messageId)},
                    {doubt.since, u"received 1 of 3 · lane 2 · perhaps mailed: %1 → rolled back"_s.arg(doubt.reason)}};
                return story;
            }
        }
        story.lines = {{at(62), u"received 1 of 3   lane 1   mailed in 27 ms → committed"_s},
                       {at(62), u"deleted from the queue"_s},
                       {at(31), u"received 1 of 3   lane 1   already processed → skipped"_s}};
        return story;
    }

    MainWindow &m_window;
    QDateTime m_now;
    QRandomGenerator m_random;
    QList<ProcessedRow> m_rows;
    QList<MailRow> m_mails;
    DeadLetterList m_letters;
    DoubtList m_doubts;
};

} // namespace

const QHash<QString, LetterAct> LetterActs = {
    {u"canary"_s, LetterAct::Canary},      {u"edit"_s, LetterAct::EditAndReplay}, {u"delete"_s, LetterAct::Delete},
    {u"purge"_s, LetterAct::Purge},        {u"export"_s, LetterAct::Export},      {u"import"_s, LetterAct::Import},
    {u"kept"_s, LetterAct::KeptCopies},    {u"runs"_s, LetterAct::Runs},          {u"move"_s, LetterAct::MoveAll},
    {u"forget"_s, LetterAct::ForgetClaim},
};

int main(int argc, char **argv)
{
    QElapsedTimer started;
    started.start();
    QApplication app(argc, argv);
    QCommandLineParser parser;
    parser.setApplicationDescription(u"The window of Sendonce with values made up, to look at it."_s);
    parser.addHelpOption();
    parser.addOptions({
        {u"theme"_s, u"light, dark or system"_s, u"name"_s, u"light"_s},
        {u"size"_s, u"width x height"_s, u"WxH"_s, u"1280x800"_s},
        {u"text"_s, u"text size in percent"_s, u"percent"_s, u"100"_s},
        {u"fill"_s, u"many rows, dead letters of every verdict, an armed fault"_s},
        {u"letters"_s, u"so many more dead letters; 3: no more than three"_s, u"count"_s},
        {u"armed"_s, u"faults of every kind"_s},
        {u"workspace"_s, u"demo, support or qa"_s, u"name"_s},
        {u"cell"_s, u"of the matrix, to choose"_s, u"row,column"_s},
        {u"groups"_s, u"with the groups of dead letters"_s},
        {u"opening"_s, u"nothing has answered yet"_s},
        {u"fail"_s, u"the worker cannot work"_s},
        {u"tab"_s, u"the panel in front"_s, u"name"_s},
        {u"select"_s, u"row to select in it"_s, u"row"_s, u"-1"_s},
        {u"do"_s,
         u"browse, fail, replay, canary, edit, delete, purge, export, import, kept, runs, move, forget, ownfault, compose, cleanup, strip, replaying, arrived, again, ask, asked, check, note, menu, help, about, float, stopping, search, keys"_s,
         u"what"_s},
        {u"shot"_s, u"save a picture and quit"_s, u"file"_s},
    });
    parser.process(app);

    const QString theme = parser.value(u"theme"_s);
    const int text = parser.value(u"text"_s).toInt();
    applyTheme(app,
               theme == "dark"_L1        ? ThemeChoice::Dark
                   : theme == "light"_L1 ? ThemeChoice::Light
                                         : ThemeChoice::System,
               text);
    MainWindow window;
    window.setTheme(theme == "dark"_L1        ? ThemeChoice::Dark
                        : theme == "light"_L1 ? ThemeChoice::Light
                                              : ThemeChoice::System);
    window.setTextPercent(text);
    const QStringList size = parser.value(u"size"_s).split(u'x');
    window.resize(size.value(0).toInt(), size.value(1).toInt());
    window.resetLayout();
    Gallery gallery(window);
    window.show();
    if (parser.isSet(u"fail"_s))
        gallery.fail();
    else if (parser.isSet(u"fill"_s))
        gallery.fill();
    else if (!parser.isSet(u"opening"_s))
        gallery.open();

    if (const int letters = parser.value(u"letters"_s).toInt(); letters == 3)
        gallery.few();
    else if (letters > 0)
        gallery.fillMany(letters);
    if (parser.isSet(u"armed"_s))
        gallery.armMany();
    if (parser.isSet(u"groups"_s))
        window.deadLettersPanel()->filterMenu()->actions().first()->trigger();
    for (Panel *panel :
         std::initializer_list<Panel *>{window.processedPanel(), window.deadLettersPanel(), window.doubtsPanel(),
                                        window.mailboxPanel(), window.logPanel(), window.auditPanel(),
                                        window.faultsPanel(), window.scenariosPanel(), window.matrixPanel()}) {
        if (window.dockOf(panel)->plainTitle() == parser.value(u"tab"_s))
            window.bringForward(panel);
    }
    const QString workspace = parser.value(u"workspace"_s);
    if (workspace == "demo"_L1)
        window.actions().demo->trigger();
    else if (workspace == "support"_L1)
        window.actions().support->trigger();
    else if (workspace == "qa"_L1)
        window.actions().testing->trigger();
    QTimer::singleShot(300ms, &window, [&] {
        if (const QStringList cell = parser.value(u"cell"_s).split(u','); cell.size() == 2) {
            MatrixView *view = window.matrixPanel()->view();
            view->setCurrentIndex(view->model()->index(cell.at(0).toInt(), cell.at(1).toInt()));
        }
        const int row = parser.value(u"select"_s).toInt();
        Panel *front = window.frontPanel();
        if (row >= 0 && front)
            front->table()->selectRow(row);
        const QString act = parser.value(u"do"_s);
        if (act == "browse"_L1)
            window.actions().browse->trigger();
        else if (act == "fail"_L1)
            window.actions().failMails->trigger();
        else if (act == "replay"_L1)
            window.actions().replay->trigger();
        else if (LetterActs.contains(act))
            window.deadLettersPanel()->acts()->of(LetterActs.value(act))->trigger();
        else if (act == "compose"_L1)
            window.actions().compose->trigger();
        else if (act == "cleanup"_L1)
            window.actions().cleanUp->trigger();
        else if (act == "strip"_L1)
            gallery.showRun();
        else if (act == "note"_L1)
            window.showActFailed(u"Sending"_s,
                                 u"127.0.0.1:9324 did not answer within 5 s. Is the queue running? See --queue-url."_s);
        else if (act == "keys"_L1) {
            window.showMoveTasks({MoveTaskSupport::Answer::No, u"InvalidAction"_s});
            window.showService(
                {ServiceStatus::Service::Queue, ServiceStatus::Health::Paused, u"sqs.eu-west-1.amazonaws.com:443"_s,
                 u"queue endpoint sqs.eu-west-1.amazonaws.com answered ReceiveMessage with ExpiredToken: "
                 "The security token included in the request is expired; put new keys into profile “work” "
                 "(~/.aws/credentials)"_s,
                 QDateTime::currentDateTimeUtc().addSecs(60)});
        } else if (act == "menu"_L1)
            window.menuBar()->setActiveAction(window.menuBar()->actions().at(5));
        else if (act == "ownfault"_L1)
            window.faultsPanel()->findChild<QTabBar *>()->setCurrentIndex(1);
        else if (act == "help"_L1)
            window.actions().help->trigger();
        else if (act == "arrived"_L1)
            window.actions().doubtArrived->trigger();
        else if (act == "again"_L1)
            window.actions().doubtAgain->trigger();
        else if (act == "ask"_L1)
            window.actions().doubtAsk->trigger();
        else if (act == "asked"_L1) {
            window.actions().doubtAsk->trigger();
            for (auto *yes : window.doubtsPanel()->findChildren<QPushButton *>(u"confirmYes"_s))
                yes->click();
        } else if (act == "check"_L1)
            window.actions().check->trigger();
        else if (act == "about"_L1)
            window.actions().about->trigger();
        else if (act == "float"_L1)
            window.actions().floatPanel->trigger();
        else if (act == "search"_L1)
            front->searchField()->search(u"no such thing"_s);
        else if (act == "stopping"_L1) {
            QObject::connect(&window, &MainWindow::closeRequested, &window, [] {});
            window.close();
        } else if (act == "replaying"_L1) {
            const ReplayItem::State states[] = {ReplayItem::State::Sending,   ReplayItem::State::Replayed,
                                                ReplayItem::State::Skipped,   ReplayItem::State::CopyLeft,
                                                ReplayItem::State::DeadAgain, ReplayItem::State::Mailed};
            int i = 0;
            for (const ReplayItem::State state : states) {
                const DeadLetter dead = [&] {
                    return letter(front->table()->model()->index(i, 0).data(EventIdRole).toString(), 1,
                                  Verdict::Unknown, {}, {}, {});
                }();
                window.showReplays({{dead.message.messageId, dead.eventId, state, {}, 0}});
                ++i;
            }
        }
    });
    if (parser.isSet(u"shot"_s)) {
        QTimer::singleShot(1500ms, &window, [&] {
            QWidget *shown = &window;
            const QString act = parser.value(u"do"_s);
            if (LetterActs.contains(act) || act == "replay"_L1 || act == "compose"_L1 || act == "cleanup"_L1
                || act == "help"_L1 || act == "about"_L1 || act == "float"_L1 || act == "menu"_L1) {
                for (QWidget *top : QApplication::topLevelWidgets()) {
                    if (top != &window && top->isVisible() && top->width() > 100)
                        shown = top;
                }
            }
            if (!shown->grab().save(parser.value(u"shot"_s)))
                std::fprintf(stderr, "the picture could not be saved\n");
            app.quit();
        });
    }
    QTimer::singleShot(
        0, &window, [&] { std::fprintf(stderr, "shown after %lld ms\n", static_cast<long long>(started.elapsed())); });
    return app.exec();
}
