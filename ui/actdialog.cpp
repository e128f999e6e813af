#include "ui/actdialog.h"

#include "ui/consolestyle.h"
#include "ui/displaytext.h"
#include "ui/plainlabel.h"
#include "ui/plaintextview.h"

#include <QHBoxLayout>
#include <QPushButton>

using namespace Qt::StringLiterals;

namespace sendonce {

ActDialog::ActDialog(const QString &title, const QString &yes, QWidget *parent)
    : QDialog(parent)
    , m_heading(new PlainLabel(title, PlainLabel::Role::Strong))
    , m_words(new PlainLabel)
    , m_note(new PlainLabel({}, PlainLabel::Role::Caption))
    , m_problems(new PlainTextView(tr("What failed")))
    , m_fields(new QVBoxLayout)
    , m_buttons(new QHBoxLayout)
    , m_yes(new QPushButton(yes))
    , m_no(new QPushButton(tr("Cancel")))
{
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(title);
    m_words->setWordWrap(true);
    m_words->setObjectName(u"words"_s);
    m_words->hide();
    m_note->setWordWrap(true);
    m_note->setObjectName(u"note"_s);
    m_note->hide();
    m_problems->setObjectName(u"problems"_s);
    m_problems->setMaximumHeight(8 * fontMetrics().height());
    m_problems->hide();
    m_yes->setObjectName(u"yes"_s);
    m_yes->setDefault(true);
    setLook(m_yes, Look::Primary);
    m_no->setObjectName(u"no"_s);
    m_no->setAutoDefault(false);
    m_fields->setSpacing(SpacingUnit);
    m_buttons->setSpacing(SpacingUnit);
    m_buttons->addStretch(1);
    m_buttons->addWidget(m_no);
    m_buttons->addWidget(m_yes);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(3 * SpacingUnit, 2 * SpacingUnit, 3 * SpacingUnit, 2 * SpacingUnit);
    layout->setSpacing(SpacingUnit);
    layout->addWidget(m_heading);
    layout->addWidget(m_words);
    layout->addLayout(m_fields, 1);
    layout->addWidget(m_note);
    layout->addWidget(m_problems);
    layout->addSpacing(SpacingUnit);
    layout->addLayout(m_buttons);
    setMinimumWidth(34 * fontMetrics().height());

    connect(m_yes, &QPushButton::clicked, this, &ActDialog::confirmed);
    connect(m_no, &QPushButton::clicked, this, &QDialog::close);
}

QString ActDialog::words() const
{
    return m_words->text();
}

QString ActDialog::note() const
{
    return m_note->text();
}

void ActDialog::showReport(const ActReport &report)
{
    m_isBusy = false;
    const bool bad = report.failed > 0;
    setNote(bad && report.done > 0 ? tr("%1 · %2 failed").arg(report.text, countText(report.failed)) : report.text,
            bad ? Tone::Failed : Tone::Sent);
    if (report.problems.size() > 1 || (report.problems.size() == 1 && report.problems.first() != report.text)) {
        m_problems->setPlain(report.problems.join(u'\n'));
        m_problems->show();
        fit();
    }
    if (bad && report.done == 0) {
        m_yes->setEnabled(true); // nothing was done: it can be tried again
        return;
    }
    m_yes->hide();
    m_no->setText(tr("Close"));
    m_no->setFocus();
}

void ActDialog::showFailure(const QString &text)
{
    m_isBusy = false;
    setNote(text, Tone::Failed);
    m_yes->setEnabled(true);
}

void ActDialog::setHeading(const QString &text)
{
    m_heading->setPlain(text);
    setWindowTitle(text);
}

void ActDialog::setWords(const QString &text)
{
    m_words->setPlainLines(text);
    m_words->setVisible(!text.isEmpty());
    fit();
}

void ActDialog::setNote(const QString &text, Tone tone)
{
    m_note->setTone(tone);
    m_note->setPlainLines(text);
    m_note->setVisible(!text.isEmpty());
    fit();
}

QPushButton *ActDialog::addButton(const QString &text)
{
    auto *button = new QPushButton(text);
    button->setAutoDefault(false);
    m_buttons->insertWidget(m_buttons->count() - 3, button);
    return button;
}

void ActDialog::setPossible(const QString &why)
{
    m_yes->setEnabled(why.isEmpty());
    m_yes->setToolTip(why.isEmpty() ? QString() : toolTipText(why));
}

void ActDialog::setBusy(const QString &text)
{
    m_isBusy = true;
    m_problems->hide();
    setNote(text, Tone::Muted);
    m_yes->setEnabled(false);
}

void ActDialog::showEvent(QShowEvent *event)
{
    QDialog::showEvent(event);
    if (!testAttribute(Qt::WA_Resized)) // QWidget's own guess: of wrapped words it asks for too much
        m_fitted = height();
    fit();
}

void ActDialog::fit()
{
    if (!isVisible())
        return;
    layout()->activate();
    const int needed = layout()->hasHeightForWidth() ? layout()->totalHeightForWidth(width()) : sizeHint().height();
    if (height() >= needed && height() != m_fitted)
        return;
    resize(width(), needed);
    m_fitted = height();
}

} // namespace sendonce
