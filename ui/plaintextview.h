#pragma once

#include <QPlainTextEdit>

namespace sendonce {

/// Read-only text of strangers, in a monospaced face: no markup, no links, nothing loaded, direction characters written
/// out.
class PlainTextView : public QPlainTextEdit
{
    Q_OBJECT
public:
    explicit PlainTextView(const QString &accessibleName, QWidget *parent = nullptr);

    void setPlain(const QString &text);

protected:
    void changeEvent(QEvent *event) override;
};

} // namespace sendonce
