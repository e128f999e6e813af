#include "ui/storyview.h"

#include "ui/displaytext.h"
#include "ui/plainlabel.h"
#include "ui/plaintextview.h"

#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace sendonce {

StoryView::StoryView(QWidget *parent)
    : QWidget(parent)
    , m_heading(new PlainLabel(tr("Story of this event"), PlainLabel::Role::Heading))
    , m_lines(new PlainTextView(tr("Story of this event")))
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_heading);
    layout->addWidget(m_lines, 1);
}

void StoryView::expect(const QString &eventId, const QString &why)
{
    if (eventId == m_eventId && !eventId.isEmpty())
        return;
    m_eventId = eventId;
    m_lines->setPlain(eventId.isEmpty() ? why : tr("Reading what the journal knows…"));
}

void StoryView::show(const EventStory &story)
{
    if (story.eventId != m_eventId)
        return;
    if (!story.error.isEmpty())
        m_lines->setPlain(tr("The story could not be read: %1").arg(story.error));
    else if (story.lines.isEmpty())
        m_lines->setPlain(tr("The journal knows nothing of this event:\nno worker of this console has seen it."));
    else
        m_lines->setPlain(storyText(story));
    m_lines->setToolTip(story.lines.isEmpty()
                            ? QString()
                            : toolTipText(tr("Local times. First line: %1").arg(utcText(story.lines.first().at))));
}

void StoryView::setHeadingShown(bool shown)
{
    m_heading->setVisible(shown);
}

QString StoryView::text() const
{
    return m_lines->toPlainText();
}

QString storyText(const EventStory &story)
{
    QStringList lines;
    QDate day;
    for (const StoryLine &line : story.lines) {
        const QDate lineDay = line.at.toLocalTime().date();
        if (line.at.isValid() && lineDay != day) {
            // One day is the usual story and needs no date of its own beside the heading of a longer one.
            if (day.isValid() || story.lines.last().at.toLocalTime().date() != lineDay)
                lines += lineDay.toString(Qt::ISODate);
            day = lineDay;
        }
        lines += (line.at.isValid() ? clockTime(line.at) : u"        "_s) + u"  "_s + shownText(line.text);
    }
    return lines.join(u'\n');
}

} // namespace sendonce
