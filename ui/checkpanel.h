#pragma once

#include "ui/panel.h"
#include "worker/types.h"

class QPushButton;

namespace sendonce {

class CheckModel;
class PlainLabel;

/// What a check of the services found, line by line as it comes; the chosen line is told whole below the table.
class CheckPanel : public Panel
{
    Q_OBJECT
public:
    explicit CheckPanel(QWidget *parent = nullptr);

    RowTable *table() const override { return m_table; }
    CheckModel *model() const { return m_model; }
    bool isChecking() const { return m_checking; }

    /// Begins a check, unless one runs.
    void check();
    void refresh() override { check(); }
    void addLine(const sendonce::CheckLine &line);
    void finish();

Q_SIGNALS:
    void checkRequested();
    void checkingChanged(bool checking);

private:
    void setChecking(bool checking);
    void updateWords();
    void showCurrent();

    CheckModel *m_model;
    PlainLabel *m_words;
    QPushButton *m_again;
    RowTable *m_table;
    PlainLabel *m_text;
    PlainLabel *m_remedy;
    bool m_checking = false;
    bool m_checked = false;
};

} // namespace sendonce
