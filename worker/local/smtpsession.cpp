#include "worker/local/smtpsession.h"

#include "worker/local/mailsubject.h"
#include "worker/local/smtppath.h"

#include <QByteArrayList>

#include <algorithm>
#include <utility>

namespace sendonce {

namespace {

constexpr char HostName[] = "sendonce.local";
constexpr std::chrono::milliseconds BetweenMails{50};

std::optional<QByteArray> decodeBase64(const QByteArray &text)
{
    const auto result = QByteArray::fromBase64Encoding(text, QByteArray::AbortOnBase64DecodingErrors);
    return result ? std::optional(*result) : std::nullopt;
}

bool isAuth(QByteArrayView line)
{
    return line.size() >= 5 && line.first(4).compare("AUTH", Qt::CaseInsensitive) == 0 && line[4] == ' ';
}

/// A web page can make a browser POST to this port; the body would then be read as commands.
bool isHttp(const QByteArray &verb)
{
    static const QByteArrayList verbs = {"GET",    "POST",  "PUT",     "HEAD",  "OPTIONS",
                                         "DELETE", "PATCH", "CONNECT", "TRACE", "PRI"};
    return verbs.contains(verb);
}

} // namespace

SmtpSession::SmtpSession(Accept accept, Ask ask) : m_accept(std::move(accept)), m_ask(std::move(ask)) { }

QByteArray SmtpSession::begin()
{
    bool greeted = false;
    at(FaultPoint::MailConnect, {}, [this, &greeted] {
        reply(QByteArray("220 ") + HostName + " ESMTP Sendonce mailbox");
        greeted = true;
    });
    if (!greeted && m_next == Next::Read) // whom a server does not greet it does not listen to
        m_next = Next::Close;
    return std::exchange(m_replies, {});
}

QByteArray SmtpSession::feed(QByteArrayView bytes)
{
    return goOn(bytes);
}

QByteArray SmtpSession::resume()
{
    m_next = m_afterWait;
    m_afterWait = Next::Read;
    m_replies = std::exchange(m_later, {});
    const QByteArray unread = std::exchange(m_unread, {});
    return goOn(unread);
}

QByteArray SmtpSession::goOn(QByteArrayView bytes)
{
    while (m_next == Next::Read && (m_answered || !bytes.isEmpty())) {
        if (m_answered) {
            betweenMails();
        } else if (m_inData && !m_amidText) {
            m_amidText = true;
            at(FaultPoint::MailText, {}, [] {});
        } else if (m_inData) {
            bytes = bytes.sliced(m_data.read(bytes));
            if (m_data.ended())
                endOfData();
        } else {
            readCommandByte(bytes.front());
            bytes = bytes.sliced(1);
        }
    }
    if (m_next == Next::Wait)
        m_unread = bytes.toByteArray();
    return std::exchange(m_replies, {});
}

/// Answers as always, or as the fault says that strikes at this point.
/// \param rcpt at RCPT its argument, which is not looked at yet
void SmtpSession::at(FaultPoint point, const QByteArray &rcpt, const std::function<void()> &answer)
{
    const std::optional<Fault> fault = m_ask ? m_ask(point, [&] { return subject(rcpt); }) : std::nullopt;
    if (!fault)
        return answer();
    const QByteArray before = std::exchange(m_replies, {});
    switch (fault->what) {
    case FaultEffect::Reply:
        reply(QByteArray::number(fault->code) + ' ' + fault->text.toLatin1());
        if (fault->code == 421)
            m_next = Next::Close;
        break;
    case FaultEffect::Delay:
        answer();
        m_later = std::exchange(m_replies, {});
        m_afterWait = m_next;
        m_next = Next::Wait;
        m_wait = fault->delay;
        break;
    case FaultEffect::HalfReply:
        answer();
        m_replies.truncate(m_replies.indexOf("\r\n") / 2);
        m_next = Next::Close;
        break;
    case FaultEffect::Garbage:
        answer();
        m_replies = "\x16\x03\x01 this is no answer\r\n";
        break;
    case FaultEffect::StoreThenClose:
    case FaultEffect::StoreThenReset:
        answer();
        m_replies.clear();
        m_next = fault->what == FaultEffect::StoreThenReset ? Next::Reset : Next::Close;
        break;
    case FaultEffect::Reset:
        m_next = Next::Reset;
        break;
    default: // Close
        m_next = Next::Close;
        break;
    }
    m_replies.prepend(before);
}

void SmtpSession::readCommandByte(char byte)
{
    ++m_lineLength;
    if (m_line.size() < MaxAuthLine)
        m_line.append(byte);
    if (byte == '\n') {
        endCommandLine();
        m_line.clear();
        m_lineLength = 0;
    }
}

void SmtpSession::endCommandLine()
{
    const bool authText = m_auth != Auth::None || isAuth(m_line);
    if (m_lineLength > (authText ? MaxAuthLine : MaxCommandLine)) {
        m_auth = Auth::None;
        reply(authText ? "500 5.5.6 line too long, 1024 octets are accepted here"
                       : "500 5.5.2 line too long, 512 octets are accepted");
        return;
    }
    if (!m_line.endsWith("\r\n")) {
        m_auth = Auth::None;
        reply("500 5.5.2 a line ends with CRLF");
        return;
    }
    const QByteArray line = m_line.chopped(2);
    if (std::any_of(line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
        m_auth = Auth::None;
        reply("500 5.5.2 control characters are not accepted");
        return;
    }
    if (m_auth != Auth::None)
        authLine(line);
    else
        command(line);
}

void SmtpSession::command(const QByteArray &line)
{
    const qsizetype space = line.indexOf(' ');
    const QByteArray verb = (space < 0 ? line : line.first(space)).toUpper();
    const QByteArray argument = space < 0 ? QByteArray() : line.sliced(space + 1);

    if (verb == "EHLO" || verb == "HELO")
        at(FaultPoint::MailEhlo, {}, [&] { hello(verb == "EHLO" ? Hello::Ehlo : Hello::Helo, argument); });
    else if (verb == "MAIL")
        at(FaultPoint::MailMail, {}, [&] { mail(argument); });
    else if (verb == "RCPT")
        at(FaultPoint::MailRcpt, argument, [&] { recipient(argument); });
    else if (verb == "DATA")
        at(FaultPoint::MailData, {}, [&] { data(argument); });
    else if (verb == "AUTH")
        auth(argument);
    else if (verb == "NOOP")
        reply("250 2.0.0 Ok");
    else if (verb == "RSET") {
        resetTransaction();
        reply("250 2.0.0 Ok");
    } else if (verb == "VRFY") {
        reply(argument.isEmpty() ? "501 5.5.4 VRFY what?" : "252 2.5.0 cannot verify, mail for it is taken");
    } else if (verb == "QUIT") {
        reply(QByteArray("221 2.0.0 ") + HostName + " closes");
        m_next = Next::Close;
    } else if (verb == "EXPN" || verb == "HELP" || verb == "STARTTLS" || verb == "TURN") {
        reply("502 5.5.1 not offered here");
    } else if (isHttp(verb)) {
        reply("421 4.7.0 this is a mail server");
        m_next = Next::Close;
    } else {
        reply("500 5.5.2 unknown command");
    }
}

void SmtpSession::hello(Hello kind, const QByteArray &argument)
{
    if (argument.trimmed().isEmpty()) {
        reply("501 5.5.4 the name of the client is missing");
        return;
    }
    resetTransaction();
    m_hello = kind;
    if (kind == Hello::Helo) {
        reply(QByteArray("250 ") + HostName);
        return;
    }
    reply(QByteArray("250-") + HostName);
    reply("250-SIZE " + QByteArray::number(SmtpData::MaxBytes));
    reply("250-8BITMIME");
    reply("250-SMTPUTF8");
    reply("250-PIPELINING");
    reply("250-AUTH PLAIN LOGIN");
    reply("250 ENHANCEDSTATUSCODES");
}

SmtpSession::Parameters SmtpSession::mailParameters(QByteArrayView text, bool extended)
{
    Parameters parameters;
    QByteArrayList seen;
    const QByteArrayList words = text.toByteArray().split(' ');
    for (const QByteArray &word : words) {
        if (word.isEmpty())
            continue;
        const qsizetype equals = word.indexOf('=');
        const QByteArray key = (equals < 0 ? word : word.first(equals)).toUpper();
        const QByteArray value = equals < 0 ? QByteArray() : word.sliced(equals + 1).toUpper();
        if (!extended) {
            parameters.refusal = "555 5.5.4 parameters need EHLO";
        } else if (seen.contains(key)) {
            parameters.refusal = "501 5.5.4 a parameter is given twice";
        } else if (key == "SIZE") {
            bool number = false;
            const qulonglong size = value.toULongLong(&number);
            if (!number || value.startsWith('+') || value.size() > 20)
                parameters.refusal = "501 5.5.4 SIZE needs a number of octets";
            else if (size > qulonglong(SmtpData::MaxBytes))
                parameters.refusal = "552 5.3.4 too big, at most 26214400 octets are taken";
        } else if (key == "BODY") {
            if (value != "7BIT" && value != "8BITMIME")
                parameters.refusal = "501 5.5.4 BODY is 7BIT or 8BITMIME";
        } else if (key == "SMTPUTF8" && equals < 0) {
            parameters.smtpUtf8 = true;
        } else if (key != "AUTH") { // RFC 4954, 5: whoever offers AUTH takes it here too
            parameters.refusal = "555 5.5.4 unknown parameter";
        }
        if (!parameters.refusal.isEmpty())
            break;
        seen.append(key);
    }
    return parameters;
}

void SmtpSession::mail(const QByteArray &argument)
{
    if (m_hello == Hello::None || m_haveSender) {
        reply(m_haveSender ? "503 5.5.1 a mail is being sent already" : "503 5.5.1 EHLO comes first");
        return;
    }
    if (argument.size() < 5 || argument.first(5).compare("FROM:", Qt::CaseInsensitive) != 0) {
        reply("501 5.5.4 MAIL FROM:<address> is expected");
        return;
    }
    // Whether the address may be UTF-8 is said behind it.
    const SmtpPath path = SmtpPath::parse(QByteArrayView(argument).sliced(5), true);
    const Parameters parameters = mailParameters(path.rest, m_hello == Hello::Ehlo);
    const SmtpPath strict = SmtpPath::parse(QByteArrayView(argument).sliced(5), parameters.smtpUtf8);
    if (!path.error.isEmpty()) {
        reply("501 5.1.7 " + path.error);
    } else if (!parameters.refusal.isEmpty()) {
        reply(parameters.refusal);
    } else if (!strict.error.isEmpty()) {
        reply("553 5.6.7 " + strict.error);
    } else {
        m_haveSender = true;
        m_smtpUtf8 = parameters.smtpUtf8;
        m_mail.sender = path.address;
        reply("250 2.1.0 Ok");
    }
}

void SmtpSession::recipient(const QByteArray &argument)
{
    if (!m_haveSender) {
        reply("503 5.5.1 MAIL comes first");
        return;
    }
    if (argument.size() < 3 || argument.first(3).compare("TO:", Qt::CaseInsensitive) != 0) {
        reply("501 5.5.4 RCPT TO:<address> is expected");
        return;
    }
    const SmtpPath path = SmtpPath::parse(QByteArrayView(argument).sliced(3), true);
    const SmtpPath strict = SmtpPath::parse(QByteArrayView(argument).sliced(3), m_smtpUtf8);
    if (!path.error.isEmpty())
        reply("501 5.1.3 " + path.error);
    else if (path.address.isEmpty())
        reply("501 5.1.3 a recipient is needed");
    else if (!path.rest.trimmed().isEmpty())
        reply("555 5.5.4 RCPT takes no parameters here");
    else if (!strict.error.isEmpty())
        reply("553 5.6.7 " + strict.error);
    else if (m_mail.recipients.size() >= MaxRecipients)
        reply("452 4.5.3 too many recipients, 100 are taken");
    else {
        m_mail.recipients.append(path.address);
        reply("250 2.1.5 Ok");
    }
}

void SmtpSession::data(const QByteArray &argument)
{
    if (!argument.isEmpty()) {
        reply("501 5.5.4 DATA takes nothing behind it");
    } else if (!m_haveSender || m_mail.recipients.isEmpty()) {
        reply(m_haveSender ? "503 5.5.1 no recipient was accepted" : "503 5.5.1 MAIL comes first");
    } else {
        m_inData = true;
        m_amidText = false;
        m_data = SmtpData();
        reply("354 end with <CR><LF>.<CR><LF>");
    }
}

void SmtpSession::endOfData()
{
    m_inData = false;
    switch (m_data.verdict()) {
    case SmtpData::Verdict::Good:
        m_mail.bytes = m_data.take();
        at(FaultPoint::MailEnd, {}, [this] {
            const QByteArray answer = m_accept(m_mail);
            reply(answer);
            if (answer.startsWith("421"))
                m_next = Next::Close;
        });
        m_answered = true; // be it later
        return;
    case SmtpData::Verdict::BareLineEnd:
        reply("550 5.6.0 a CR or LF alone is no line end");
        break;
    case SmtpData::Verdict::TooBig:
        reply("552 5.3.4 too big, at most 26214400 octets are taken");
        break;
    case SmtpData::Verdict::LineTooLong:
        reply("500 5.6.0 a line of the text has more than 1000 octets");
        break;
    }
    resetTransaction();
}

/// A server that has had enough says so when it has had time to think, and the client may have begun another mail.
void SmtpSession::betweenMails()
{
    m_answered = false;
    const QByteArray answer = std::exchange(m_replies, {});
    at(FaultPoint::MailNext, {}, [] {});
    if (m_next != Next::Read) {
        m_later = std::exchange(m_replies, {});
        m_afterWait = m_next;
        m_next = Next::Wait;
        m_wait = BetweenMails;
    }
    m_replies = answer;
    resetTransaction();
}

/// As far as it is known: at RCPT that recipient, later the mail's first.
FaultSubject SmtpSession::subject(const QByteArray &rcpt) const
{
    FaultSubject subject = mailSubject(m_mail.bytes);
    if (!rcpt.isEmpty())
        subject.recipient = QString::fromUtf8(SmtpPath::parse(QByteArrayView(rcpt.mid(3)), true).address);
    else if (!m_mail.recipients.isEmpty())
        subject.recipient = QString::fromUtf8(m_mail.recipients.first());
    if (subject.key.isEmpty())
        subject.key = subject.recipient; // one in n: of each recipient's attempts, however lanes are interleaved
    return subject;
}

void SmtpSession::auth(const QByteArray &argument)
{
    if (m_hello != Hello::Ehlo || m_haveSender || m_authenticated) {
        reply(m_authenticated    ? "503 5.5.1 authenticated already"
                  : m_haveSender ? "503 5.5.1 not while a mail is being sent"
                                 : "503 5.5.1 EHLO comes first");
        return;
    }
    const qsizetype space = argument.indexOf(' ');
    const QByteArray mechanism = (space < 0 ? argument : argument.first(space)).toUpper();
    if (mechanism != "PLAIN" && mechanism != "LOGIN") {
        reply("504 5.5.4 PLAIN and LOGIN are offered");
        return;
    }
    m_auth = mechanism == "PLAIN" ? Auth::PlainAnswer : Auth::LoginUser;
    if (space >= 0) {
        const QByteArray initial = argument.sliced(space + 1);
        authStep(initial == "=" ? QByteArray() : initial);
    } else {
        reply(m_auth == Auth::PlainAnswer ? "334 " : "334 VXNlcm5hbWU6");
    }
}

void SmtpSession::authLine(const QByteArray &line)
{
    if (line == "*") {
        m_auth = Auth::None;
        reply("501 5.7.0 authentication cancelled");
    } else {
        authStep(line);
    }
}

void SmtpSession::authStep(const QByteArray &base64)
{
    // Any credentials will do, so they are looked at for their form and never kept.
    const std::optional<QByteArray> answer = decodeBase64(base64);
    const bool plain = m_auth == Auth::PlainAnswer;
    if (!answer || (plain && answer->count('\0') != 2)) {
        m_auth = Auth::None;
        reply(answer ? "501 5.5.2 PLAIN is user and password, each after a NUL" : "501 5.5.2 that is no base64");
    } else if (m_auth == Auth::LoginUser) {
        m_auth = Auth::LoginPassword;
        reply("334 UGFzc3dvcmQ6");
    } else {
        m_auth = Auth::None;
        m_authenticated = true;
        reply("235 2.7.0 authenticated");
    }
}

void SmtpSession::resetTransaction()
{
    m_haveSender = false;
    m_smtpUtf8 = false;
    m_mail = {};
    m_data = {};
}

void SmtpSession::reply(const QByteArray &line)
{
    m_replies += line + "\r\n";
}

} // namespace sendonce
