#pragma once

#include "ui/theme.h"

#include <QPainter>
#include <QWidget>

namespace sendonce {

/// One line of one pixel between two groups.
class Hairline : public QWidget
{
public:
    explicit Hairline(QWidget *parent = nullptr) : QWidget(parent) { setFixedHeight(1); }

protected:
    void paintEvent(QPaintEvent *) override { QPainter(this).fillRect(rect(), tokensOf(this).line); }
};

} // namespace sendonce
