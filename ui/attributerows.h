#pragma once

#include "worker/types.h"

#include <QWidget>

class QVBoxLayout;

namespace sendonce {

/// Message attributes to be written: name, type and value, one a line, ten at most. Binary is written as hex.
class AttributeRows : public QWidget
{
    Q_OBJECT
public:
    explicit AttributeRows(QWidget *parent = nullptr);

    void addRow(); ///< nothing when there are ten
    MessageAttributes attributes() const; ///< lines without a name are left out
    QString problem() const; ///< why they cannot be sent; empty: they can

Q_SIGNALS:
    void changed();

private:
    struct Row;
    QList<Row> rows() const;

    QVBoxLayout *m_layout;
};

} // namespace sendonce
