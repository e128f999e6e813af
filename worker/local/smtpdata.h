#pragma once

#include <QByteArray>
#include <QByteArrayView>

namespace sendonce {

/// The text of one mail between 354 and CRLF.CRLF, as a server reads it: takes the leading dot off, finds the end,
/// watches the limits. Pure and split-invariant. RFC 5321, 4.5.2 and 4.5.3.1.
class SmtpData
{
public:
    static constexpr qint64 MaxBytes = 26'214'400;
    static constexpr int MaxLine = 1000; ///< with CRLF, without the dot that is taken off

    enum class Verdict {
        Good,
        BareLineEnd, ///< a CR or LF alone: taking it for a line end is what SMTP smuggling lives on
        TooBig,
        LineTooLong,
    };

    /// Reads until the end of data or of `bytes`; returns how many bytes were used.
    qsizetype read(QByteArrayView bytes);

    bool ended() const { return m_state == State::Ended; }
    Verdict verdict() const;
    /// What was received, once ended; empty unless the verdict is Good.
    QByteArray take();

private:
    enum class State { LineStart, Dot, DotCr, Text, Cr, Ended };

    void readByte(char byte);
    void append(QByteArrayView bytes);
    void endLine();
    void keep(QByteArrayView bytes);

    State m_state = State::LineStart;
    QByteArray m_bytes;
    qint64 m_size = 0;
    qint64 m_lineLength = 0; ///< without CRLF
    bool m_bare = false;
    bool m_lineTooLong = false;
};

} // namespace sendonce
