#pragma once

#include <QScrollArea>

namespace sendonce {

/// Lets its content be as high as it wants and scrolls when there is less room, instead of making the window higher.
class Column : public QScrollArea
{
    Q_OBJECT
public:
    explicit Column(QWidget *content, QWidget *parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
};

} // namespace sendonce
