#pragma once

#include <QWidget>

class QGridLayout;

namespace sendonce {

class PlainLabel;

/// Names and values of one thing, one pair a line.
class FactList : public QWidget
{
    Q_OBJECT
public:
    explicit FactList(QWidget *parent = nullptr);

    void add(const QString &name, bool monospace = false);
    void setValue(int line, const QString &value, const QString &toolTip = {});

private:
    QGridLayout *m_grid;
    QList<PlainLabel *> m_values;
};

} // namespace sendonce
