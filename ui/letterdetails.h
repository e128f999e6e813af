#pragma once

#include "worker/types.h"

#include <QWidget>

class QPushButton;
class QTabBar;

namespace sendonce {

class PlainLabel;
class PlainTextView;
class StoryView;
class TextTabs;

/// Everything about one dead letter: at the left the message (body, attributes), at the right what is known of its
/// event (story, attempts, mails).
class LetterDetails : public QWidget
{
    Q_OBJECT
public:
    explicit LetterDetails(QWidget *parent = nullptr);

    /// What its row says; the rest follows by showWhole(). \param item what became of it; null: nothing was done
    void showRow(const DeadLetter &letter, const ReplayItem *item);
    void showWhole(const DeadLetterDetail &detail); ///< ignored when it is about another letter
    void showStory(const EventStory &story); ///< ignored when it is about another event
    void forgetWhole(); ///< a new browse: what is shown may be another delivery
    bool isWhole() const { return m_isWhole; } ///< showWhole() came for the letter that is shown

    const QString &messageId() const { return m_messageId; }

Q_SIGNALS:
    void storyWanted(const QString &eventId);

private:
    void showBody();

    PlainLabel *m_verdict;
    PlainLabel *m_reason;
    PlainLabel *m_message;
    TextTabs *m_left;
    TextTabs *m_right;
    PlainTextView *m_body;
    PlainTextView *m_attributes;
    PlainTextView *m_system;
    QPushButton *m_raw;
    StoryView *m_story;
    PlainTextView *m_attempts;
    PlainTextView *m_mails;

    QString m_messageId;
    QByteArray m_bodyBytes;
    bool m_isWhole = false;
};

} // namespace sendonce
