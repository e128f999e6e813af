#pragma once

#include <QWidget>

class QAbstractItemView;
class QPushButton;

namespace sendonce {

class PlainLabel;

/// Words where rows would be: what is happening (nothing yet, loading, failed) and what to do next. Lies over the
/// viewport of an item view while it has no rows; the view keeps its header and its place.
class EmptyState : public QWidget
{
    Q_OBJECT
public:
    explicit EmptyState(QAbstractItemView *view);

    /// \param act text of a button below the words; empty: none
    void setWords(const QString &iconName, const QString &title, const QString &text, const QString &act = {});
    QString title() const;
    QString text() const;

Q_SIGNALS:
    void acted();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    void fit();

    QAbstractItemView *m_view;
    QString m_icon;
    PlainLabel *m_title;
    PlainLabel *m_text;
    QPushButton *m_act;
};

} // namespace sendonce
