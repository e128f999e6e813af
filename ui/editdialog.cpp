#include "ui/editdialog.h"

#include "ui/displaytext.h"
#include "ui/eventeditor.h"

#include <QPushButton>
#include <QRadioButton>
#include <QUuid>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace sendonce {

EditDialog::EditDialog(const DeadLetter &letter, const EventRules &rules, QWidget *parent)
    : ActDialog(tr("Edit and replay"), tr("Replay edited"), parent)
    , m_letter(letter)
    , m_editor(new EventEditor)
    , m_same(new QRadioButton(tr("The &same event: corrects a message that was never mailed")))
    , m_new(new QRadioButton(tr("A &new event: with an event_id of its own, linked in the story of both")))
{
    setObjectName(u"editDialog"_s);
    setWords(tr("Event %1 · message %2\nIts attributes stay as they are; a copy of the letter is kept.")
                 .arg(letter.eventId.isEmpty() ? tr("unreadable") : shownText(letter.eventId),
                      shownText(letter.message.messageId)));
    m_editor->setObjectName(u"editBody"_s);
    m_editor->setRules(rules);
    m_editor->setReadOnly(true);
    m_editor->setPlaceholderText(tr("Reading the body…"));
    m_same->setObjectName(u"editSame"_s);
    m_new->setObjectName(u"editNew"_s);
    auto *lay = addButton(tr("&Lay out"));
    lay->setToolTip(toolTipText(tr("Line ends and indentation for the JSON")));
    fields()->addWidget(m_editor, 1);
    fields()->addWidget(m_same);
    fields()->addWidget(m_new);
    m_same->setChecked(true);
    const int unit = fontMetrics().height();
    resize(46 * unit, 34 * unit);

    connect(lay, &QPushButton::clicked, this, [this] { m_editor->setBody(m_editor->body()); });
    connect(m_editor, &EventEditor::checked, this, &EditDialog::follow);
    connect(m_editor, &QPlainTextEdit::textChanged, this, [this] { setPossible(tr("Still being checked")); });
    connect(m_new, &QRadioButton::toggled, this, &EditDialog::chooseKind);
    connect(this, &ActDialog::confirmed, this, [this] {
        follow();
        if (!yesButton()->isEnabled())
            return;
        const EditOrder order{messageId(), m_editor->body(), m_new->isChecked()};
        setBusy(tr("Sending…"));
        Q_EMIT ordered(order);
    });
    update({letter});
}

void EditDialog::setRules(const EventRules &rules)
{
    m_editor->setRules(rules);
}

void EditDialog::showLetter(const DeadLetterDetail &detail)
{
    if (detail.letter.message.messageId != messageId() || m_isLoaded)
        return;
    if (!detail.error.isEmpty()) {
        showFailure(detail.error);
        return;
    }
    m_isLoaded = true;
    m_editor->setReadOnly(false);
    m_editor->setBody(detail.letter.message.body);
    if (m_new->isChecked())
        chooseKind(true);
    follow();
}

void EditDialog::update(const QList<DeadLetter> &letters)
{
    for (const DeadLetter &letter : letters) {
        if (letter.message.messageId == messageId())
            m_letter = letter;
    }
    const bool handled = m_letter.verdict == Verdict::Handled;
    m_same->setEnabled(!handled);
    m_same->setToolTip(handled ? toolTipText(tr("%1: a corrected message of it would be skipped. Make it a new event "
                                                "to mail again.")
                                                 .arg(m_letter.verdictText))
                               : QString());
    if (handled)
        m_new->setChecked(true);
    follow();
}

void EditDialog::chooseKind(bool isNew)
{
    if (m_isLoaded)
        m_editor->setEventId(isNew ? QUuid::createUuid().toString(QUuid::WithoutBraces) : m_letter.eventId);
    follow();
}

void EditDialog::follow()
{
    if (isBusy())
        return;
    if (!m_isLoaded) {
        setPossible(tr("The body is still being read"));
        return;
    }
    const BodyCheck &check = m_editor->check();
    QString problem = check.problem;
    if (problem.isEmpty() && m_same->isChecked() && !m_letter.eventId.isEmpty() && check.eventId != m_letter.eventId)
        problem = tr("the event_id was changed: choose a new event, or put %1 back").arg(m_letter.eventId);
    if (problem.isEmpty() && m_new->isChecked() && check.eventId == m_letter.eventId)
        problem = tr("a new event needs an event_id of its own");
    if (m_same->isEnabled())
        setNote(problem.isEmpty()
                    ? tr("Valid · %1 of 1,048,576 bytes · event %2").arg(countText(check.sizeBytes), check.eventId)
                    : problem,
                problem.isEmpty() ? Tone::Sent : Tone::Failed);
    else
        setNote(
            tr("%1 · a corrected message of the same event would be skipped, so it becomes a new event.\n%2")
                .arg(m_letter.verdictText,
                     problem.isEmpty() ? tr("Valid · %1 of 1,048,576 bytes").arg(countText(check.sizeBytes)) : problem),
            problem.isEmpty() ? Tone::InDoubt : Tone::Failed);
    setPossible(problem);
}

} // namespace sendonce
