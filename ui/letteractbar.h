#pragma once

#include <QWidget>

class QPushButton;

namespace sendonce {

class LetterActions;

/// The buttons of the dead letters panel: replay, canary, and all other acts behind one more button.
class LetterActBar : public QWidget
{
    Q_OBJECT
public:
    explicit LetterActBar(LetterActions *actions, QWidget *parent = nullptr);

private:
    void follow();

    LetterActions *m_actions;
    QPushButton *m_replay;
};

} // namespace sendonce
