#pragma once

#include "ui/actdialog.h"

class QLineEdit;
class QRadioButton;

namespace sendonce {

/// Dead letters out to a file, or in from one: which file, in which form, to where; and what became of it.
class LetterFileDialog : public ActDialog
{
    Q_OBJECT
public:
    enum class Way { Export, Import };
    /// \param letters of an export: how many
    LetterFileDialog(Way way, qsizetype letters, QWidget *parent);

Q_SIGNALS:
    void exportWanted(const QString &path, bool csv);
    void importWanted(const QString &path, bool toSource);

private:
    void choose();
    void follow();
    void begin();

    const Way m_way;
    QLineEdit *m_path;
    QRadioButton *m_first; ///< JSON lines; into the dead letter queue
    QRadioButton *m_second; ///< CSV; into the queue itself
};

} // namespace sendonce
