#pragma once

#include "worker/result.h"

#include <QByteArray>
#include <QByteArrayView>
#include <QString>
#include <QStringList>

#include <optional>

namespace sendonce {

/// A complete reply of a mail server: the code of its last line, the text of every line.
struct SmtpReply
{
    int code = 0; ///< 200…599
    QStringList lines; ///< without the code; never empty

    bool isPositive() const { return code / 100 == 2; }
    bool isTransient() const { return code / 100 == 4; }
    bool isPermanent() const { return code / 100 == 5; }
    QString lastLine() const; ///< "451 4.3.0 busy"
    QString text() const; ///< the code, then the text of all lines: "550 5.1.1 No such user here"
    bool operator==(const SmtpReply &) const = default;
};

/// Whether a refusal ("454 Throttling failure") asks for fewer mails rather than refuse this one: 421, 454, and what
/// RFC 3463 calls system not accepting (4.3.2), too much for the mailbox (4.2.1) and policy (4.7.x), all of them
/// temporary.
bool asksForPatience(const QString &reply);

/// Reads replies from bytes as they come; split-invariant. Strict where a mistake could pass for an answer: lines end
/// CRLF only, no control characters, codes 2yz to 5yz. RFC 5321, 4.2 and 4.5.3.1.5.
class SmtpReplyParser
{
public:
    static constexpr qsizetype MaxLine = 4096; ///< the RFC says 512; a longer 250 is still a 250
    static constexpr qsizetype MaxLines = 100;

    void feed(QByteArrayView bytes);

    /// The next complete reply; nothing: more bytes are needed. Protocol: what came is no SMTP, and so is all after it.
    std::optional<Result<SmtpReply>> next();

    /// Nothing was fed that next() has not returned.
    bool isEmpty() const { return m_bytes.isEmpty() && m_reply.lines.isEmpty(); }
    /// What has come of an unfinished reply, for people; cut, control characters replaced.
    QString partial() const;

private:
    Error fail(const QString &text);

    QByteArray m_bytes; ///< not yet made into lines
    SmtpReply m_reply; ///< the lines so far of an unfinished reply
    std::optional<Error> m_error;
};

} // namespace sendonce
