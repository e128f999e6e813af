#pragma once

#include "worker/types.h"

#include <QObject>
#include <QString>

#include <optional>

namespace sendonce {

/// What is armed against the embedded mailbox: the next n mails are refused at the end of their data. Asked by
/// LocalMailbox, armed by ControlServer; lives on their thread.
class MailFaults : public QObject
{
    Q_OBJECT
public:
    static constexpr int MaxTimes = 1'000'000;
    static constexpr int MinReplyCode = 400;
    static constexpr int MaxReplyCode = 599;

    explicit MailFaults(QObject *parent = nullptr);

    /// Refuses the next `times` (1…MaxTimes) mails with `replyCode` (400…599), in place of what was armed before.
    /// \param text what follows the code, enhanced status code included; printable ASCII; empty: a default that says it
    /// is armed.
    void failNext(int times, int replyCode, const QString &text = {});
    void disarm();

    /// What is armed now: empty, or one entry.
    ArmedFaults armed() const;

    /// Asked once per mail, at the end of its data. A fault is used up by the answer; `remaining` is what is left after
    /// it.
    std::optional<ArmedFault> takeFault();

Q_SIGNALS:
    void changed();

private:
    ArmedFault m_fault;
};

} // namespace sendonce
