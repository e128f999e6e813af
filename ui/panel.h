#pragma once

#include <QWidget>

namespace sendonce {

class RowTable;
class SearchField;

/// What the window asks of every panel. A panel shows values and says what the person wants; it knows no worker.
class Panel : public QWidget
{
    Q_OBJECT
public:
    using QWidget::QWidget;

    virtual SearchField *searchField() const { return nullptr; }
    virtual RowTable *table() const { return nullptr; }
    /// Marks what is about the event that was chosen somewhere.
    virtual void highlightEvent(const QString &eventId);
    /// Selects the row about the event, if there is one.
    virtual bool revealEvent(const QString &eventId);
    /// Reads again what it shows (F5). Does nothing where values come by themselves.
    virtual void refresh() { }

Q_SIGNALS:
    void eventSelected(const QString &eventId);

protected:
    /// Panels are sheets of the panel colour, without frames.
    void paintEvent(QPaintEvent *event) override;
};

/// The row above a table: search at the left, words and acts at the right. Its lower edge is a hairline.
class PanelBar : public QWidget
{
    Q_OBJECT
public:
    explicit PanelBar(QWidget *parent = nullptr);

protected:
    void paintEvent(QPaintEvent *event) override;
};

} // namespace sendonce
