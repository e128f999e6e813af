#include "ui/passworddialog.h"

#include "ui/plainlabel.h"

#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace sendonce {

PasswordDialog::PasswordDialog(const QString &account, const QString &why, QWidget *parent)
    : QDialog(parent)
    , m_password(new QLineEdit)
{
    setWindowTitle(tr("Mail password"));
    // The account is no part of a text with a mnemonic: an & in it would be taken for one.
    auto *label = new QLabel(tr("&Password of this mail account, for as long as the console runs:"));
    label->setBuddy(m_password);
    auto *reason = new PlainLabel(why);
    reason->setWordWrap(true);
    m_password->setEchoMode(QLineEdit::Password);
    m_password->setAccessibleName(tr("Password of %1").arg(account));
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    QPushButton *const ok = buttons->button(QDialogButtonBox::Ok);
    ok->setText(tr("&Use it"));
    ok->setEnabled(false);
    connect(m_password, &QLineEdit::textChanged, ok, [ok](const QString &text) { ok->setEnabled(!text.isEmpty()); });
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);

    auto *layout = new QVBoxLayout(this);
    layout->addWidget(reason);
    layout->addWidget(label);
    layout->addWidget(new PlainLabel(account, PlainLabel::Role::Strong));
    layout->addWidget(m_password);
    layout->addWidget(buttons);
    setMinimumWidth(fontMetrics().averageCharWidth() * 64);
}

QString PasswordDialog::password() const
{
    return m_password->text();
}

} // namespace sendonce
