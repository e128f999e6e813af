#include "ui/letterdetails.h"

#include "ui/displaytext.h"
#include "ui/lettertext.h"
#include "ui/letterwords.h"
#include "ui/plainlabel.h"
#include "ui/plaintextview.h"
#include "ui/storyview.h"
#include "ui/texttabs.h"

#include <QBoxLayout>
#include <QPushButton>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

enum LeftTab { BodyTab, AttributesTab, SystemTab };
enum RightTab { StoryTab, AttemptsTab, MailsTab };

} // namespace

LetterDetails::LetterDetails(QWidget *parent)
    : QWidget(parent)
    , m_verdict(new PlainLabel({}, PlainLabel::Role::Strong))
    , m_reason(new PlainLabel)
    , m_message(new PlainLabel({}, PlainLabel::Role::Caption))
    , m_left(new TextTabs(tr("Parts of the message")))
    , m_right(new TextTabs(tr("What is known of the event")))
    , m_body(new PlainTextView(tr("Body")))
    , m_attributes(new PlainTextView(tr("Attributes")))
    , m_system(new PlainTextView(tr("System attributes")))
    , m_raw(new QPushButton(tr("Raw")))
    , m_story(new StoryView)
    , m_attempts(new PlainTextView(tr("Attempts")))
    , m_mails(new PlainTextView(tr("E-mails")))
{
    m_verdict->setElided(Qt::ElideRight);
    m_reason->setElided(Qt::ElideRight);
    m_message->setElided(Qt::ElideMiddle);
    m_message->setTone(Tone::Muted);
    m_message->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_raw->setObjectName(u"rawBody"_s);
    m_raw->setCheckable(true);
    m_raw->setAccessibleName(tr("Show the body exactly as it was received"));
    m_story->setHeadingShown(false);

    m_left->add(m_body, tr("Body"));
    m_left->add(m_attributes, tr("Attributes"));
    m_left->add(m_system, tr("System"));
    m_left->setCorner(m_raw);
    m_right->add(m_story, tr("Story of this event"));
    m_right->add(m_attempts, tr("Attempts"));
    m_right->add(m_mails, tr("E-mails"));

    auto *head = new QHBoxLayout;
    head->setSpacing(SpacingUnit);
    head->addWidget(m_verdict, 4);
    head->addWidget(m_reason, 6);
    head->addWidget(m_message, 3);
    m_message->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    auto *parts = new QHBoxLayout;
    parts->setSpacing(4 * SpacingUnit);
    parts->addWidget(m_left, 9);
    parts->addWidget(m_right, 10);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(2 * SpacingUnit, SpacingUnit, 2 * SpacingUnit, SpacingUnit);
    layout->setSpacing(SpacingUnit / 2);
    layout->addLayout(head);
    layout->addLayout(parts, 1);

    connect(m_raw, &QPushButton::toggled, this, &LetterDetails::showBody);
    connect(m_left->bar(), &QTabBar::currentChanged, m_raw, [this](int tab) { m_raw->setVisible(tab == BodyTab); });
}

void LetterDetails::showRow(const DeadLetter &letter, const ReplayItem *item)
{
    const QString &messageId = letter.message.messageId;
    m_verdict->setPlain(letterText(letter, item));
    m_verdict->setTone(letterTone(letter, item));
    m_reason->setPlain(reasonText(letter));
    m_message->setPlain(tr("message %1").arg(messageId));
    if (messageId != m_messageId) {
        m_messageId = messageId;
        m_isWhole = false;
        m_bodyBytes = letter.message.body; // empty in lists
        for (PlainTextView *view : {m_attributes, m_system, m_attempts, m_mails})
            view->setPlain(tr("Reading…"));
        for (const int tab : {AttributesTab, SystemTab})
            m_left->setCount(tab, 0);
        for (const int tab : {AttemptsTab, MailsTab})
            m_right->setCount(tab, 0);
        showBody();
        m_body->moveCursor(QTextCursor::Start);
    }
    if (letter.eventId.isEmpty()) {
        m_story->expect({}, tr("The body names no event that can be read,\nso the journal has nothing about it."));
    } else if (letter.eventId != m_story->eventId()) {
        m_story->expect(letter.eventId);
        Q_EMIT storyWanted(letter.eventId);
    }
}

void LetterDetails::showWhole(const DeadLetterDetail &detail)
{
    const Message &message = detail.letter.message;
    if (message.messageId != m_messageId)
        return;
    m_isWhole = true;
    m_bodyBytes = detail.error.isEmpty() || !message.body.isEmpty() ? message.body : detail.error.toUtf8();
    showBody();
    m_attributes->setPlain(attributesText(message.attributes));
    m_left->setCount(AttributesTab, int(message.attributes.size()));
    m_system->setPlain(systemAttributesText(message.systemAttributes));
    m_left->setCount(SystemTab, int(message.systemAttributes.size()));
    m_attempts->setPlain(attemptsText(detail.attempts));
    m_right->setCount(AttemptsTab, int(detail.attempts.size()));
    m_mails->setPlain(mailsText(detail));
    m_right->setCount(MailsTab, mailCount(detail));
}

void LetterDetails::showStory(const EventStory &story)
{
    m_story->show(story);
}

void LetterDetails::forgetWhole()
{
    m_messageId.clear();
    m_isWhole = false;
}

void LetterDetails::showBody()
{
    const QString laidOut = indentedJson(m_bodyBytes);
    m_raw->setEnabled(!laidOut.isNull());
    m_body->setPlain(laidOut.isNull() || m_raw->isChecked() ? QString::fromUtf8(m_bodyBytes) : laidOut);
}

} // namespace sendonce
