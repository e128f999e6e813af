#include "worker/mail/smtpconversation.h"

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {

using Kind = SmtpConversation::Step::Kind;

namespace {

bool isEightBit(const QByteArray &bytes)
{
    return std::any_of(bytes.cbegin(), bytes.cend(), [](char c) { return (c & 0x80) != 0; });
}

bool isAscii(const QString &text)
{
    return std::all_of(text.cbegin(), text.cend(), [](QChar c) { return c.unicode() < 0x80; });
}

} // namespace

SmtpConversation::SmtpConversation(const QString &heloName, const SmtpTerms &terms)
    : m_heloName(heloName.toLatin1())
    , m_terms(terms)
{ }

QByteArray SmtpConversation::dotStuffed(const QByteArray &message)
{
    QByteArray stuffed = message;
    stuffed.replace("\r\n.", "\r\n..");
    if (stuffed.startsWith('.'))
        stuffed.prepend('.');
    if (!stuffed.endsWith("\r\n"))
        stuffed += "\r\n";
    return stuffed;
}

SmtpConversation::Step SmtpConversation::begin(const MimeMessage &message)
{
    Q_ASSERT(m_state == State::Greeting || m_state == State::Idle);
    m_message = message;
    m_hasMail = true;
    m_outcome = {};
    m_isRefused = false;
    m_reused = m_state == State::Idle;
    return m_reused ? startMail() : read(State::Greeting);
}

SmtpConversation::Step SmtpConversation::greet()
{
    Q_ASSERT(m_state == State::Greeting);
    return read(State::Greeting);
}

SmtpConversation::Step SmtpConversation::reply(const SmtpReply &received)
{
    SmtpReply reply = received;
    if (m_state == State::Auth) { // some servers repeat what they were told
        for (QString &line : reply.lines)
            line = m_auth->redacted(line);
    }
    // RFC 5321, 3.8: a 421 may be the answer to anything, and nothing comes after it.
    if (reply.code == 421 && m_state != State::Final) {
        if (nothingAnswered())
            return reopen();
        return refused(reply, State::Closed);
    }
    switch (m_state) {
    case State::Greeting:
    case State::Ehlo:
    case State::Helo:
        return hello(reply);
    case State::StartTls:
        if (reply.code != 220)
            return refused(reply, State::Closed);
        m_state = State::Encrypt;
        return {Kind::Encrypt, {}};
    case State::Auth:
        return logInAnswered(reply);
    case State::Reset:
        if (!reply.isPositive())
            return reopen();
        m_needsReset = false;
        return sendEnvelope();
    case State::Mail:
        return mailAnswered(reply);
    case State::Rcpt:
        return rcptAnswered(reply);
    case State::Data:
        return dataAnswered(reply);
    case State::Body: // it was not to say anything now, so it refuses; whatever it says, our mail has no end yet
        return refused(reply, State::Closed);
    case State::EmptyEnd:
        return done(m_outcome, reply.isPositive() ? State::Closed : State::Idle);
    case State::Final:
        return finalAnswered(reply);
    case State::Encrypt:
    case State::Idle:
    case State::Closed:
        break;
    }
    return {Kind::Done, {}};
}

SmtpConversation::Step SmtpConversation::hello(const SmtpReply &reply)
{
    const QByteArray ehlo = "EHLO " + m_heloName + "\r\n";
    if (m_state == State::Greeting) {
        m_greeting = reply.text();
        return reply.isPositive() ? read(State::Ehlo, ehlo) : refused(reply, State::Closed);
    }
    if (m_state == State::Ehlo && (reply.code == 500 || reply.code == 502 || reply.code == 504))
        return read(State::Helo, "HELO " + m_heloName + "\r\n");
    if (!reply.isPositive())
        return refused(reply, State::Closed);
    if (m_state == State::Ehlo)
        readOffers(reply.lines.mid(1));
    return greeted();
}

void SmtpConversation::readOffers(const QStringList &lines)
{
    m_extensions = lines;
    m_offers = {};
    for (const QString &line : lines) {
        QStringList words = line.toUpper().split(u' ', Qt::SkipEmptyParts);
        const QString keyword = words.isEmpty() ? QString() : words.takeFirst();
        if (keyword == "PIPELINING"_L1)
            m_offers.pipelining = true;
        else if (keyword == "8BITMIME"_L1)
            m_offers.eightBitMime = true;
        else if (keyword == "SMTPUTF8"_L1)
            m_offers.smtpUtf8 = true;
        else if (keyword == "STARTTLS"_L1)
            m_offers.startTls = true;
        else if (keyword == "AUTH"_L1)
            m_offers.logIns = words;
        else if (keyword == "SIZE"_L1) {
            m_offers.size = true;
            m_offers.sizeLimit = words.value(0).toLongLong();
        }
    }
}

SmtpConversation::Step SmtpConversation::greeted()
{
    // Not offered may mean that somebody on the way took it out (RFC 3207, section 6): never on in the clear.
    if (m_terms.startTls && !m_isEncrypted)
        return m_offers.startTls
            ? read(State::StartTls, "STARTTLS\r\n")
            : unfit(u"The mail server offers no STARTTLS, which the mail URL asks for; nothing was sent in clear."_s);
    return m_terms.login && !m_isLoggedIn ? logIn() : startMail();
}

SmtpConversation::Step SmtpConversation::encrypted()
{
    m_isEncrypted = true;
    m_extensions.clear();
    m_offers = {};
    return read(State::Ehlo, "EHLO " + m_heloName + "\r\n");
}

SmtpConversation::Step SmtpConversation::logIn()
{
    if (!m_isEncrypted && !m_terms.confidential)
        return unfit(u"A password is never sent in clear: use smtps:// or smtp+starttls:// in the mail URL."_s);
    Result<SmtpAuth> auth = SmtpAuth::choose(*m_terms.login, m_offers.logIns);
    if (!auth)
        return unfit(auth.error().text);
    m_auth = auth.take();
    return read(State::Auth, m_auth->command());
}

SmtpConversation::Step SmtpConversation::logInAnswered(const SmtpReply &reply)
{
    if (reply.code == 334) {
        if (const std::optional<QByteArray> answer = m_auth->answer())
            return read(State::Auth, *answer);
        return refused(reply, State::Closed);
    }
    if (!reply.isPositive()) {
        m_logInRefused = reply.isPermanent();
        return refused(reply, State::Closed);
    }
    m_isLoggedIn = true;
    return startMail();
}

/// The connection will not do: nothing of a mail was said.
SmtpConversation::Step SmtpConversation::unfit(const QString &text)
{
    return done({SendResult::Status::NotSent, {}, text, false, false}, State::Closed);
}

SmtpConversation::Step SmtpConversation::startMail()
{
    if (!m_hasMail)
        return done({}, State::Idle);
    // Nothing of the mail was said yet, so the connection stays good.
    const auto notFor = [this](const QString &text) {
        return done({SendResult::Status::NotSent, {}, text, true, false}, State::Idle);
    };
    if (m_offers.sizeLimit > 0 && m_message.bytes.size() > m_offers.sizeLimit)
        return notFor(u"The mail has %1 octets; the mail server takes at most %2."_s.arg(m_message.bytes.size())
                          .arg(m_offers.sizeLimit));
    if (m_message.needsSmtpUtf8 && !m_offers.smtpUtf8) {
        const QString address = isAscii(m_message.recipient) ? m_message.sender : m_message.recipient;
        return notFor(u"The address %1 needs SMTPUTF8, which the mail server does not offer."_s.arg(address));
    }
    if (isEightBit(m_message.bytes) && !m_offers.eightBitMime)
        return notFor(u"The mail has 8-bit text, which the mail server does not take (no 8BITMIME)."_s);
    return m_needsReset ? read(State::Reset, "RSET\r\n") : sendEnvelope();
}

QByteArray SmtpConversation::mailCommand() const
{
    QByteArray command = "MAIL FROM:<" + m_message.sender.toUtf8() + '>';
    if (m_offers.size)
        command += " SIZE=" + QByteArray::number(m_message.bytes.size());
    if (isEightBit(m_message.bytes))
        command += " BODY=8BITMIME";
    if (m_message.needsSmtpUtf8)
        command += " SMTPUTF8";
    return command + "\r\n";
}

SmtpConversation::Step SmtpConversation::sendEnvelope()
{
    if (!m_offers.pipelining)
        return read(State::Mail, mailCommand());
    // RFC 2920, 3.1: DATA must be the last of the group.
    return read(State::Mail, mailCommand() + "RCPT TO:<" + m_message.recipient.toUtf8() + ">\r\nDATA\r\n");
}

SmtpConversation::Step SmtpConversation::mailAnswered(const SmtpReply &reply)
{
    if (!reply.isPositive()) {
        if (!m_offers.pipelining)
            return refused(reply, State::Idle);
        refuse(reply);
    }
    return read(State::Rcpt, m_offers.pipelining ? QByteArray() : "RCPT TO:<" + m_message.recipient.toUtf8() + ">\r\n");
}

SmtpConversation::Step SmtpConversation::rcptAnswered(const SmtpReply &reply)
{
    if (!reply.isPositive()) {
        if (!m_offers.pipelining)
            return refused(reply, State::Idle);
        if (!m_isRefused)
            refuse(reply);
    }
    return read(State::Data, m_offers.pipelining ? QByteArray() : QByteArray("DATA\r\n"));
}

SmtpConversation::Step SmtpConversation::dataAnswered(const SmtpReply &reply)
{
    if (reply.code == 354) {
        if (m_isRefused) // RFC 2920, 3.1: end it at once; what is ended holds nothing of the mail
            return read(State::EmptyEnd, ".\r\n");
        m_state = State::Body;
        return {Kind::Body, {}};
    }
    if (m_isRefused)
        return done(m_outcome, reply.isPositive() ? State::Closed : State::Idle);
    return refused(reply, State::Idle);
}

SmtpConversation::Step SmtpConversation::handOver()
{
    Q_ASSERT(m_state == State::Body);
    return read(State::Final, ".\r\n");
}

SmtpConversation::Step SmtpConversation::finalAnswered(const SmtpReply &reply)
{
    if (reply.isPositive())
        return done({SendResult::Status::Sent, reply.lastLine(), reply.text(), false, false}, State::Idle);
    if (reply.isTransient() || reply.isPermanent())
        return refused(reply, reply.code == 421 ? State::Closed : State::Idle);
    // 3yz: an SMTP reply, but neither yes nor no.
    return done({SendResult::Status::InDoubt, reply.lastLine(),
                 u"The mail server's answer to the whole mail is neither yes nor no: %1"_s.arg(reply.text()), false,
                 false},
                State::Closed);
}

SmtpConversation::Step SmtpConversation::lost(const QString &why)
{
    return nothingAnswered() ? reopen() : giveUp(why);
}

SmtpConversation::Step SmtpConversation::giveUp(const QString &why, bool aborted)
{
    if (m_state == State::Final)
        return done({SendResult::Status::InDoubt,
                     {},
                     u"The whole mail was handed over, but not answered: %1"_s.arg(why),
                     false,
                     false},
                    State::Closed);
    if (m_isRefused)
        return done(m_outcome, State::Closed);
    QString text = m_state == State::Auth ? m_auth->redacted(why) : why;
    if (m_state == State::Body)
        text += u" (before the end of the mail)"_s;
    else if (m_state != State::Encrypt)
        text += u" (waiting for the answer to %1)"_s.arg(stage());
    return done({SendResult::Status::NotSent, {}, text, false, aborted}, State::Closed);
}

SmtpConversation::Step SmtpConversation::read(State state, const QByteArray &bytes)
{
    m_state = state;
    return {Kind::Read, bytes};
}

void SmtpConversation::refuse(const SmtpReply &reply)
{
    const bool no = reply.isTransient() || reply.isPermanent();
    const QString text =
        no ? u"The mail server refused %1: %2"_s : u"The mail server gave no proper answer to %1: %2"_s;
    m_outcome = {SendResult::Status::NotSent, reply.lastLine(), text.arg(stage(), reply.text()), reply.isPermanent(),
                 false};
    m_isRefused = true;
    m_needsReset = true;
}

SmtpConversation::Step SmtpConversation::refused(const SmtpReply &reply, State next)
{
    if (!m_isRefused)
        refuse(reply);
    // A yes where only a no was to be expected: replies and commands no longer belong together.
    const bool inStep = reply.isTransient() || reply.isPermanent();
    return done(m_outcome, inStep ? next : State::Closed);
}

SmtpConversation::Step SmtpConversation::reopen()
{
    m_state = State::Closed;
    return {Kind::Reopen, {}};
}

SmtpConversation::Step SmtpConversation::done(const SendResult &outcome, State next)
{
    m_outcome = outcome;
    m_state = next;
    m_message = {};
    m_hasMail = false;
    return {Kind::Done, {}};
}

QString SmtpConversation::stage() const
{
    switch (m_state) {
    case State::Greeting:
        return u"the connection"_s;
    case State::Ehlo:
        return u"EHLO"_s;
    case State::Helo:
        return u"HELO"_s;
    case State::StartTls:
        return u"STARTTLS"_s;
    case State::Auth:
        return u"the log-in (AUTH %1)"_s.arg(m_auth ? m_auth->mechanism() : QString());
    case State::Reset:
        return u"RSET"_s;
    case State::Mail:
        return u"the sender (MAIL)"_s;
    case State::Rcpt:
        return u"the recipient (RCPT)"_s;
    case State::Data:
        return u"DATA"_s;
    case State::Encrypt:
    case State::Idle:
    case State::Body:
    case State::EmptyEnd:
    case State::Final:
    case State::Closed:
        break;
    }
    return u"the mail"_s;
}

} // namespace sendonce
