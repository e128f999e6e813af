#pragma once

#include <QLineEdit>
#include <QTimer>

namespace sendonce {

/// A search line: says what was typed after a short rest; Esc empties it.
class SearchField : public QLineEdit
{
    Q_OBJECT
public:
    explicit SearchField(const QString &placeholder, QWidget *parent = nullptr);

    /// Sets the text and searches at once.
    void search(const QString &text);
    QSize sizeHint() const override;

Q_SIGNALS:
    void searched(const QString &text); ///< trimmed; once per change
    void left(); ///< Esc in an empty field

protected:
    void keyPressEvent(QKeyEvent *event) override;

private:
    void tell();

    QTimer m_rest;
    QString m_told;
};

} // namespace sendonce
