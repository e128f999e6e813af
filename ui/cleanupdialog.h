#pragma once

#include "ui/actdialog.h"

class QLineEdit;

namespace sendonce {

/// Clean-up of old claims: what it would take away, and then what it took.
class CleanUpDialog : public ActDialog
{
    Q_OBJECT
public:
    /// \param typed the count has to be typed before it can be done
    CleanUpDialog(bool typed, const QString &whyNot, QWidget *parent);

    void showPreview(const sendonce::CleanUp &preview);
    void showDone(const sendonce::CleanUp &report);
    void showActFailed(const QString &text); ///< instead of either

Q_SIGNALS:
    void previewQueried();
    void cleanUpWanted();

private:
    void follow();

    const bool m_isTyped;
    const QString m_whyNot;
    CleanUp m_preview;
    bool m_isKnown = false;
    QLineEdit *m_typed;
};

} // namespace sendonce
