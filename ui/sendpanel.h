#pragma once

#include "ui/panel.h"
#include "ui/theme.h"
#include "worker/faults/fault.h"
#include "worker/types.h"

class QPushButton;
class QSpinBox;

namespace sendonce {

class PlainLabel;

/// Send an event, send one twice, make the next mails fail. Each act says under the buttons what became of it.
class SendPanel : public Panel
{
    Q_OBJECT
public:
    explicit SendPanel(QWidget *parent = nullptr);

    void showReport(const sendonce::SendReport &report);
    void showArmed(const sendonce::FaultRules &rules);
    void showFailure(const QString &text);
    bool isArming() const { return m_arming; } ///< a click is not answered yet
    /// \param why nothing can be sent, for the tool tips; empty: it cannot yet
    void setReady(bool ready, const QString &why = {});
    void setFaultsOffered(bool offered); ///< only where the mailbox is the embedded one
    void askToFailMails(); ///< opens the two fields

public Q_SLOTS:
    void send();
    void injectDuplicate(const QString &eventId = {}); ///< empty: a new event, sent twice

Q_SIGNALS:
    void sendRequested(const sendonce::SendRequest &request);
    void composeRequested();
    void injectDuplicateRequested(const QString &eventId);
    void failNextMailsRequested(int times, int replyCode);

protected:
    void keyPressEvent(QKeyEvent *event) override;

private:
    QWidget *makeFailForm();
    void say(const QString &text, Tone tone);
    void arm();

    QPushButton *m_send;
    QPushButton *m_duplicate;
    QPushButton *m_fail;
    QPushButton *m_compose;
    QWidget *m_form;
    QSpinBox *m_times;
    QSpinBox *m_code;
    QPushButton *m_arm;
    PlainLabel *m_outcome;
    bool m_arming = false;
};

} // namespace sendonce
