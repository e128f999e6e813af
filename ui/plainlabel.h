#pragma once

#include "ui/theme.h"

#include <QLabel>

namespace sendonce {

/// A label that shows text and nothing else: never rich text (QLabel guesses, and loads local images), control and
/// direction characters written out. Font and colour follow the theme.
class PlainLabel : public QLabel
{
    Q_OBJECT
public:
    enum class Role { Body, Caption, Small, Heading, Strong, Monospace };

    explicit PlainLabel(const QString &text = {}, Role role = Role::Body, QWidget *parent = nullptr);

    void setPlain(const QString &text);
    /// Line ends stay line ends.
    void setPlainLines(const QString &text);
    void setTone(Tone tone);
    /// Digits of one width: for numbers that change where they stand.
    void setTabular(bool on);
    /// Shortens the text to the room there is; the whole text is in the tool tip.
    void setElided(Qt::TextElideMode mode);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void changeEvent(QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    void follow();
    void updateElision();

    Role m_role;
    Tone m_tone = Tone::Text;
    Qt::TextElideMode m_elide = Qt::ElideNone;
    bool m_tabular = false;
    bool m_following = false;
    bool m_ownToolTip = false; ///< the tool tip is the whole of the cut text
};

} // namespace sendonce
