#include "ui/typeddialog.h"

#include "ui/plainlabel.h"

#include <QLineEdit>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace sendonce {

TypedDialog::TypedDialog(const Question &question, QWidget *parent)
    : ActDialog(question.title, question.yes, parent)
    , m_question(question)
    , m_typed(new QLineEdit)
    , m_reason(new QLineEdit)
{
    setWords(question.words);
    m_typed->setObjectName(u"typed"_s);
    m_typed->setAccessibleName(question.prompt);
    m_reason->setObjectName(u"typedReason"_s);
    m_reason->setPlaceholderText(tr("Why; it goes into the audit"));
    m_reason->setAccessibleName(tr("Reason"));
    if (!question.prompt.isEmpty())
        fields()->addWidget(new PlainLabel(question.prompt));
    fields()->addWidget(m_typed);
    fields()->addWidget(m_reason);
    m_typed->setVisible(!question.prompt.isEmpty());
    m_reason->setVisible(question.asksReason);
    connect(m_typed, &QLineEdit::textChanged, this, &TypedDialog::follow);
    connect(m_reason, &QLineEdit::textChanged, this, &TypedDialog::follow);
    connect(this, &ActDialog::confirmed, this, [this] {
        setBusy(m_question.busy);
        Q_EMIT answered(m_typed->text(), m_reason->text().trimmed());
    });
    follow();
}

void TypedDialog::follow()
{
    const QString typed = m_typed->text();
    if (!m_question.prompt.isEmpty()
        && (m_question.expected.isEmpty() ? typed.isEmpty() : typed != m_question.expected))
        setPossible(m_question.expected.isEmpty() ? m_question.prompt
                                                  : tr("Type %1 to go on").arg(m_question.expected));
    else if (m_question.asksReason && m_reason->text().trimmed().isEmpty())
        setPossible(tr("Give a reason"));
    else
        setPossible({});
}

} // namespace sendonce
