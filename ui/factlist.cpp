#include "ui/factlist.h"

#include "ui/displaytext.h"
#include "ui/plainlabel.h"

#include <QGridLayout>

namespace sendonce {

FactList::FactList(QWidget *parent) : QWidget(parent), m_grid(new QGridLayout(this))
{
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setHorizontalSpacing(2 * SpacingUnit);
    m_grid->setVerticalSpacing(SpacingUnit / 2);
    m_grid->setColumnStretch(1, 1);
}

void FactList::add(const QString &name, bool monospace)
{
    const int line = int(m_values.size());
    auto *label = new PlainLabel(name);
    label->setTone(Tone::Muted);
    auto *value = new PlainLabel({}, monospace ? PlainLabel::Role::Monospace : PlainLabel::Role::Body);
    value->setElided(Qt::ElideMiddle);
    m_grid->addWidget(label, line, 0, Qt::AlignVCenter | Qt::AlignLeft);
    m_grid->addWidget(value, line, 1, Qt::AlignVCenter);
    m_values += value;
}

void FactList::setValue(int line, const QString &value, const QString &toolTip)
{
    m_values.at(line)->setPlain(value);
    if (!toolTip.isEmpty())
        m_values.at(line)->setToolTip(toolTipText(toolTip));
}

} // namespace sendonce
