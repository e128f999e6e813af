#include "ui/column.h"

#include "ui/theme.h"

namespace sendonce {

Column::Column(QWidget *content, QWidget *parent) : QScrollArea(parent)
{
    setWidget(content);
    setWidgetResizable(true);
    setFrameShape(NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    viewport()->setAutoFillBackground(false);
    content->setAutoFillBackground(false);
}

QSize Column::sizeHint() const
{
    return widget()->sizeHint();
}

QSize Column::minimumSizeHint() const
{
    return QSize(widget()->minimumSizeHint().width(), 4 * fontMetrics().height());
}

} // namespace sendonce
