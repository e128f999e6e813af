#include "app/ctl/commands.h"
#include "app/ctl/terminal.h"
#include "app/process/privacy.h"

#include <QCoreApplication>

using namespace Qt::StringLiterals;

namespace {

struct Command
{
    QString name;
    QString summary;
    int (*run)(const QStringList &words);
};

const QList<Command> &commands()
{
    using namespace sendonce;
    static const QList<Command> Commands = {
        {u"demo"_s, u"send one event, deliver it twice, show one e-mail and one skip"_s, runDemo},
        {u"local"_s, u"run the embedded queue and mailbox with demo data"_s, runLocal},
        {u"worker"_s, u"take events from the queue and send one e-mail for each"_s, runWorker},
        {u"send"_s, u"send an event to the queue"_s, runSend},
        {u"check"_s, u"check queue, database and mail server, and say what to put right"_s, runCheck},
        {u"events list"_s, u"list the processed events, newest first"_s, runEventsList},
        {u"events clean"_s, u"forget events that were handled long ago"_s, runEventsClean},
        {u"mail list"_s, u"list the mails in the embedded mailbox, newest first"_s, runMailList},
        {u"mail password"_s, u"keep the mail server's password in the keychain"_s, runMailPassword},
        {u"dlq list"_s, u"look through the dead letters, with verdict and reason"_s, runDlqList},
        {u"dlq show"_s, u"show body, attributes and story of dead letters"_s, runDlqShow},
        {u"dlq replay"_s, u"send dead letters to the queue again"_s, runDlqReplay},
        {u"dlq runs"_s, u"list the replays, with what became of their letters"_s, runDlqRuns},
        {u"dlq delete"_s, u"delete dead letters; copies are kept"_s, runDlqDelete},
        {u"dlq kept"_s, u"list the copies of deleted letters"_s, runDlqKept},
        {u"dlq put-back"_s, u"put deleted letters back"_s, runDlqPutBack},
        {u"dlq export"_s, u"write dead letters to a file, as JSON lines or CSV"_s, runDlqExport},
        {u"dlq import"_s, u"send the letters of such a file"_s, runDlqImport},
        {u"dlq purge"_s, u"empty the embedded dead letter queue"_s, runDlqPurge},
        {u"dlq forget"_s, u"take an event's claim away: it can mail again"_s, runDlqForget},
        {u"dlq move"_s, u"let the queue itself move all dead letters back"_s, runDlqMove},
        {u"dlq audit"_s, u"list who did what to dead letters"_s, runDlqAudit},
        {u"doubt list"_s, u"list the events that may have been mailed"_s, runDoubtList},
        {u"doubt settle"_s, u"say that they arrived, send them again, or ask"_s, runDoubtSettle},
        {u"scenario list"_s, u"list the scenarios: what can go wrong, and what is to happen then"_s, runScenarioList},
        {u"scenario run"_s, u"run scenarios, each on embedded services of its own"_s, runScenarioRun},
        {u"matrix"_s, u"run each design under each hazard, and count the e-mails"_s, runMatrix},
        {u"fault list"_s, u"list the armed faults"_s, runFaultList},
        {u"fault points"_s, u"list where faults can strike, and what can happen there"_s, runFaultPoints},
        {u"fault arm"_s, u"let something fail: embedded services and their workers only"_s, runFaultArm},
        {u"fault disarm"_s, u"take armed faults back"_s, runFaultDisarm},
    };
    return Commands;
}

QString overview()
{
    QString text =
        u"sendoncectl %1: Sendonce without a window\n\nUsage: sendoncectl COMMAND [OPTIONS]\n\nCommands\n"_s.arg(
            QStringLiteral(SENDONCE_VERSION));
    for (const Command &command : commands())
        text += u"  %1%2\n"_s.arg(command.name, -14).arg(command.summary);
    text += u"\nEach has --help. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration,\n"
            "3 a guarantee was found broken, 4 a service could not be reached, 130 interrupted.\n"_s;
    return text;
}

} // namespace

int main(int argc, char **argv)
{
    sendonce::keepPrivate();
    // Nothing else here needs GLib's loop, and Qt's own takes less of the processor. The keychain's library does.
    if (argc < 3 || qstrcmp(argv[1], "mail") != 0 || qstrcmp(argv[2], "password") != 0)
        qputenv("QT_NO_GLIB", "1");
    QCoreApplication application(argc, argv);
    QCoreApplication::setApplicationName(u"sendonce"_s);
    QCoreApplication::setApplicationVersion(QStringLiteral(SENDONCE_VERSION));

    const QStringList words = QCoreApplication::arguments().mid(1);
    if (words.isEmpty() || words.first() == "--help"_L1 || words.first() == "-h"_L1 || words.first() == "help"_L1) {
        sendonce::say(overview().trimmed());
        return words.isEmpty() ? sendonce::Usage : sendonce::Done;
    }
    if (words.first() == "--version"_L1) {
        sendonce::say(u"sendoncectl "_s + QStringLiteral(SENDONCE_VERSION));
        return sendonce::Done;
    }
    for (const Command &command : commands()) {
        const QStringList name = command.name.split(u' ');
        if (words.mid(0, name.size()) == name)
            return command.run(words.mid(name.size()));
    }
    QStringList names;
    for (const Command &command : commands())
        names.append(command.name);
    sendonce::complain(u"“%1” is no command; commands are %2"_s.arg(words.mid(0, 2).join(u' '), names.join(u", "_s)));
    return sendonce::Usage;
}
