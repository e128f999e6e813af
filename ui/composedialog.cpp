#include "ui/composedialog.h"

#include "ui/attributerows.h"
#include "ui/displaytext.h"
#include "ui/eventeditor.h"
#include "ui/plainlabel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QUuid>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

QString newId()
{
    return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

QByteArray quoted(const QString &text)
{
    const QByteArray object = QJsonDocument(QJsonObject{{u"i"_s, text}}).toJson(QJsonDocument::Compact);
    return object.mid(5, object.size() - 6); // {"i":"…"}
}

/// What a demo needs, until something is typed.
QString firstValue(const QString &field)
{
    return field == "application_id"_L1 ? u"3"_s
        : field == "old_status"_L1      ? u"reviewing"_s
        : field == "new_status"_L1      ? u"interview"_s
                                        : QString();
}

} // namespace

ComposeDialog::ComposeDialog(const EventRules &rules, QWidget *parent)
    : ActDialog(tr("Compose an event"), tr("Send"), parent)
    , m_rules(rules)
    , m_type(new QComboBox)
    , m_eventId(new QLineEdit(newId()))
    , m_form(new QFormLayout)
    , m_copies(new QSpinBox)
    , m_delay(new QSpinBox)
    , m_attributes(new AttributeRows)
    , m_raw(new QCheckBox(tr("Write the &JSON by hand")))
    , m_editor(new EventEditor)
{
    setObjectName(u"composeDialog"_s);
    noButton()->setText(tr("Close"));
    m_type->setObjectName(u"composeType"_s);
    m_type->setAccessibleName(tr("Type"));
    m_eventId->setObjectName(u"composeEventId"_s);
    m_copies->setObjectName(u"composeCopies"_s);
    m_copies->setRange(1, 10);
    m_copies->setAccessibleName(tr("Copies"));
    m_copies->setToolTip(toolTipText(tr("So many messages of one event: one e-mail, the others are skipped")));
    m_delay->setObjectName(u"composeDelay"_s);
    m_delay->setRange(0, 900);
    m_delay->setSuffix(tr(" s"));
    m_delay->setAccessibleName(tr("Delay"));
    m_raw->setObjectName(u"composeRaw"_s);
    m_editor->setObjectName(u"composeBody"_s);
    m_editor->setReadOnly(true);
    auto *fresh = new QPushButton(tr("&New id"));
    fresh->setAutoDefault(false);
    auto *add = new QPushButton(tr("&Add attribute"));
    add->setObjectName(u"composeAddAttribute"_s);
    add->setAutoDefault(false);

    m_form->setHorizontalSpacing(2 * SpacingUnit);
    m_form->setVerticalSpacing(SpacingUnit / 2);
    m_form->addRow(tr("&Type"), m_type);
    auto *id = new QHBoxLayout;
    id->setSpacing(SpacingUnit);
    id->addWidget(m_eventId, 1);
    id->addWidget(fresh);
    auto *idLabel = new QLabel(tr("&Event id"));
    idLabel->setBuddy(m_eventId);
    m_form->addRow(idLabel, id);
    auto *amounts = new QHBoxLayout;
    amounts->addWidget(new PlainLabel(tr("Copies")));
    amounts->addWidget(m_copies);
    amounts->addSpacing(2 * SpacingUnit);
    amounts->addWidget(new PlainLabel(tr("Delay")));
    amounts->addWidget(m_delay);
    amounts->addStretch(1);
    amounts->addWidget(add);
    fields()->addLayout(m_form);
    fields()->addLayout(amounts);
    fields()->addWidget(m_attributes);
    fields()->addWidget(m_raw);
    fields()->addWidget(m_editor, 1);
    const int unit = fontMetrics().height();
    resize(44 * unit, 40 * unit);

    connect(m_type, &QComboBox::currentIndexChanged, this, &ComposeDialog::makeFields);
    connect(m_eventId, &QLineEdit::textChanged, this, &ComposeDialog::compose);
    connect(fresh, &QPushButton::clicked, this, [this] {
        if (m_raw->isChecked())
            m_editor->setEventId(newId());
        else
            m_eventId->setText(newId());
    });
    connect(add, &QPushButton::clicked, m_attributes, &AttributeRows::addRow);
    connect(m_attributes, &AttributeRows::changed, this, &ComposeDialog::follow);
    connect(m_raw, &QCheckBox::toggled, this, [this](bool raw) {
        m_editor->setReadOnly(!raw);
        m_type->setEnabled(!raw);
        m_eventId->setEnabled(!raw);
        for (QLineEdit *value : std::as_const(m_values))
            value->setEnabled(!raw);
        if (raw)
            m_editor->setFocus();
        else
            compose();
    });
    connect(m_editor, &EventEditor::checked, this, &ComposeDialog::follow);
    connect(this, &ActDialog::confirmed, this, [this] {
        SendRequest request;
        request.rawBody = m_editor->body();
        request.copies = m_copies->value();
        request.delaySeconds = m_delay->value();
        request.attributes = m_attributes->attributes();
        m_sentBody = request.rawBody;
        setBusy(tr("Sending…"));
        Q_EMIT sendWanted(request);
    });
    setRules(rules);
}

void ComposeDialog::setRules(const EventRules &rules)
{
    m_rules = rules;
    m_editor->setRules(rules);
    m_type->clear();
    for (const EventTypeRule &type : rules.types)
        m_type->addItem(type.type);
    m_type->setCurrentIndex(std::max(0, m_type->findText(u"application.status_changed"_s)));
    makeFields();
}

void ComposeDialog::showSent(const SendReport &report)
{
    if (!isBusy() || report.request.rawBody != m_sentBody)
        return;
    const qsizetype count = report.messageIds.size();
    if (!report.error.isEmpty()) {
        showFailure(count == 0 ? tr("Not sent: %1").arg(report.error)
                               : tr("%1 sent, then: %2").arg(count).arg(report.error));
        return;
    }
    showFailure({});
    setNote(count == 1 ? tr("Sent event %1 as message %2").arg(report.eventId, report.messageIds.first())
                       : tr("Sent event %1 as %2 messages").arg(report.eventId, countText(count)),
            Tone::Sent);
}

void ComposeDialog::makeFields()
{
    for (auto it = m_values.cbegin(); it != m_values.cend(); ++it) {
        m_kept.insert(it.key(), (*it)->text());
        m_form->removeRow(*it);
    }
    m_values.clear();
    for (const EventTypeRule &type : std::as_const(m_rules.types)) {
        if (type.type != m_type->currentText())
            continue;
        for (const EventFieldRule &field : type.fields) {
            auto *value = new QLineEdit(m_kept.value(field.name, firstValue(field.name)));
            value->setObjectName(u"field_"_s + field.name);
            value->setEnabled(!m_raw->isChecked());
            value->setAccessibleName(field.name);
            if (field.isInteger)
                value->setPlaceholderText(tr("an integer"));
            m_form->addRow(field.name, value);
            m_values.insert(field.name, value);
            connect(value, &QLineEdit::textChanged, this, &ComposeDialog::compose);
        }
    }
    compose();
}

/// In the order of the type's fields. What is no integer is written as text, and the check says what is wrong with it.
void ComposeDialog::compose()
{
    if (m_raw->isChecked())
        return;
    QByteArray body = "{\"type\": " + quoted(m_type->currentText()) + ", \"event_id\": " + quoted(m_eventId->text());
    for (const EventTypeRule &type : std::as_const(m_rules.types)) {
        if (type.type != m_type->currentText())
            continue;
        for (const EventFieldRule &field : type.fields) {
            const QLineEdit *const value = m_values.value(field.name);
            if (!value)
                continue;
            bool isInteger = false;
            const qint64 number = value->text().trimmed().toLongLong(&isInteger);
            body += ", " + quoted(field.name) + ": "
                + (field.isInteger && isInteger ? QByteArray::number(number) : quoted(value->text()));
        }
    }
    m_editor->setBody(body + '}');
    follow();
}

void ComposeDialog::follow()
{
    if (isBusy())
        return;
    const BodyCheck &check = m_editor->check();
    const QString attributes = m_attributes->problem();
    // By hand also what is no valid event can be sent: somebody wants to see it fail.
    const bool isLenient = m_raw->isChecked() && check.sizeBytes > 0;
    if (!attributes.isEmpty())
        setNote(attributes, Tone::Failed);
    else if (check.problem.isEmpty())
        setNote(tr("Valid · %1 of 1,048,576 bytes").arg(countText(check.sizeBytes)), Tone::Sent);
    else if (isLenient)
        setNote(tr("It will fail and end in the dead letters: %1").arg(check.problem), Tone::InDoubt);
    else
        setNote(check.problem, Tone::Failed);
    setPossible(!attributes.isEmpty() ? attributes : isLenient ? QString() : check.problem);
}

} // namespace sendonce
