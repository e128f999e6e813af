#pragma once

#include "worker/types.h"

#include <QWidget>

namespace sendonce {

class PlainLabel;
class PlainTextView;

/// "Story of this event": what happened to it, line by line, as the journal has it.
class StoryView : public QWidget
{
    Q_OBJECT
public:
    explicit StoryView(QWidget *parent = nullptr);

    /// Which event's story is to be shown; until show() brings it, says so. Empty: `why` it cannot be told.
    void expect(const QString &eventId, const QString &why = {});
    /// Ignored when it is about another event than the expected one.
    void show(const sendonce::EventStory &story);
    void setHeadingShown(bool shown); ///< not where a tab says it
    QString eventId() const { return m_eventId; }
    QString text() const;

private:
    PlainLabel *m_heading;
    PlainTextView *m_lines;
    QString m_eventId;
};

/// The lines as text: "14:05:41  received 1 of 3", with the day where it is not that of the line before.
QString storyText(const EventStory &story);

} // namespace sendonce
