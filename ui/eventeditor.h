#pragma once

#include "worker/types.h"

#include <QPlainTextEdit>
#include <QTimer>

namespace sendonce {

/// An event's JSON to be written or corrected, checked as it is typed: by the rules of its type, in size and in its
/// characters. Text of strangers is shown with what could act in it written out, which in JSON is the same text.
class EventEditor : public QPlainTextEdit
{
    Q_OBJECT
public:
    explicit EventEditor(QWidget *parent = nullptr);

    void setRules(const EventRules &rules);
    void setBody(const QByteArray &body);
    QByteArray body() const { return toPlainText().toUtf8(); }
    /// Of what stands there now.
    const BodyCheck &check();
    /// Puts another event_id in the place of the one that stands there. False when none can be found.
    bool setEventId(const QString &eventId);

Q_SIGNALS:
    void checked(const sendonce::BodyCheck &check); ///< after a short rest

protected:
    void changeEvent(QEvent *event) override;

private:
    EventRules m_rules;
    QTimer m_rest;
    BodyCheck m_check;
    bool m_isStale = true;
};

} // namespace sendonce
