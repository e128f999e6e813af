#pragma once

#include "ui/actdialog.h"

#include <QMap>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLineEdit;
class QSpinBox;

namespace sendonce {

class AttributeRows;
class EventEditor;

/// An event of one's own: its type, the fields that the type needs, copies, delay, attributes; or its JSON as it is
/// written, valid or not. Stays for the next one.
class ComposeDialog : public ActDialog
{
    Q_OBJECT
public:
    ComposeDialog(const EventRules &rules, QWidget *parent);

    void setRules(const EventRules &rules);
    void showSent(const sendonce::SendReport &report); ///< of what it asked for; others are left out

Q_SIGNALS:
    void sendWanted(const sendonce::SendRequest &request);

private:
    void makeFields();
    void compose();
    void follow();

    EventRules m_rules;
    QComboBox *m_type;
    QLineEdit *m_eventId;
    QFormLayout *m_form;
    QMap<QString, QLineEdit *> m_values; ///< by field
    QMap<QString, QString> m_kept; ///< what was typed, for the same field of another type
    QSpinBox *m_copies;
    QSpinBox *m_delay;
    AttributeRows *m_attributes;
    QCheckBox *m_raw;
    EventEditor *m_editor;
    QByteArray m_sentBody;
};

} // namespace sendonce
