#pragma once

#include "ui/theme.h"

#include <QAbstractButton>

namespace sendonce {

/// A large number with what it counts under it. One that leads somewhere can be clicked.
class FigureTile : public QAbstractButton
{
    Q_OBJECT
public:
    /// \param tone of the number while it is above zero
    FigureTile(const QString &caption, Tone tone, bool leads, QWidget *parent = nullptr);

    void setFigure(qint64 figure); ///< negative: not known
    QString figureText() const { return m_text; }

    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void enterEvent(QEnterEvent *event) override;
    void leaveEvent(QEvent *event) override;

private:
    QString m_caption;
    QString m_text;
    Tone m_tone;
    bool m_leads;
    bool m_positive = false;
};

} // namespace sendonce
