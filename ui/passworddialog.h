#pragma once

#include <QDialog>

class QLineEdit;

namespace sendonce {

/// Asks for a mail server's password that is kept nowhere: it lives as long as the program.
class PasswordDialog : public QDialog
{
    Q_OBJECT
public:
    /// \param why it has to be asked for; plain text, like the account
    PasswordDialog(const QString &account, const QString &why, QWidget *parent = nullptr);

    QString password() const;

private:
    QLineEdit *m_password;
};

} // namespace sendonce
