#include "worker/local/smtpdata.h"

#include <algorithm>
#include <utility>

namespace sendonce {

qsizetype SmtpData::read(QByteArrayView bytes)
{
    qsizetype used = 0;
    while (used < bytes.size() && !ended()) {
        if (m_state == State::Text) {
            const auto begin = bytes.begin() + used;
            const auto end = std::find_if(begin, bytes.end(), [](char c) { return c == '\r' || c == '\n'; });
            append(bytes.sliced(used, end - begin));
            used += end - begin;
            if (used == bytes.size())
                break;
        }
        readByte(bytes[used++]);
    }
    return used;
}

void SmtpData::readByte(char byte)
{
    const QByteArrayView one(&byte, 1);
    switch (m_state) {
    case State::LineStart:
        if (byte == '.') {
            m_state = State::Dot;
            return;
        }
        break;
    case State::Dot: // the dot itself is not kept
        if (byte == '\r') {
            m_state = State::DotCr;
            return;
        }
        break;
    case State::DotCr:
        if (byte == '\n') {
            m_state = State::Ended;
            return;
        }
        m_bare = true;
        break;
    case State::Cr:
        if (byte == '\n') {
            endLine();
            return;
        }
        m_bare = true;
        break;
    case State::Text:
    case State::Ended:
        break;
    }

    if (byte == '\r') {
        m_state = State::Cr;
        return;
    }
    if (byte == '\n')
        m_bare = true;
    append(one);
    m_state = State::Text;
}

void SmtpData::append(QByteArrayView bytes)
{
    m_lineLength += bytes.size();
    if (m_lineLength + 2 > MaxLine)
        m_lineTooLong = true;
    keep(bytes);
}

void SmtpData::endLine()
{
    keep(QByteArrayView("\r\n", 2));
    m_lineLength = 0;
    m_state = State::LineStart;
}

void SmtpData::keep(QByteArrayView bytes)
{
    m_size += bytes.size();
    if (verdict() == Verdict::Good)
        m_bytes.append(bytes);
    else if (!m_bytes.isEmpty())
        m_bytes = QByteArray(); // it will be refused: read to its end, but not kept
}

SmtpData::Verdict SmtpData::verdict() const
{
    if (m_bare)
        return Verdict::BareLineEnd;
    if (m_size > MaxBytes)
        return Verdict::TooBig;
    if (m_lineTooLong)
        return Verdict::LineTooLong;
    return Verdict::Good;
}

QByteArray SmtpData::take()
{
    return verdict() == Verdict::Good ? std::exchange(m_bytes, QByteArray()) : QByteArray();
}

} // namespace sendonce
