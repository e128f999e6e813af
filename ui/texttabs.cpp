#include "ui/texttabs.h"

#include "ui/consolestyle.h"
#include "ui/displaytext.h"
#include "ui/theme.h"

#include <QBoxLayout>
#include <QStackedWidget>

namespace sendonce {

TextTabs::TextTabs(const QString &accessibleName, QWidget *parent)
    : QWidget(parent)
    , m_bar(new QTabBar)
    , m_head(new QHBoxLayout)
    , m_pages(new QStackedWidget)
{
    setInnerTabs(m_bar);
    m_bar->setAccessibleName(accessibleName);
    m_bar->setDocumentMode(true);
    m_bar->setExpanding(false);
    m_bar->setDrawBase(false);
    m_bar->setUsesScrollButtons(true);
    m_head->setContentsMargins(0, 0, 0, 0);
    m_head->setSpacing(SpacingUnit);
    m_head->addWidget(m_bar, 1);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(SpacingUnit / 2);
    layout->addLayout(m_head);
    layout->addWidget(m_pages, 1);
    connect(m_bar, &QTabBar::currentChanged, m_pages, &QStackedWidget::setCurrentIndex);
}

int TextTabs::add(QWidget *page, const QString &title)
{
    m_pages->addWidget(page);
    m_titles.append(title);
    return m_bar->addTab(title);
}

void TextTabs::setCount(int tab, int count)
{
    const QString title = m_titles.at(tab);
    m_bar->setTabText(tab, count > 0 ? tr("%1 · %2").arg(title, countText(count)) : title);
}

void TextTabs::setInset(int inset)
{
    m_head->setContentsMargins(inset, 0, 0, 0);
}

void TextTabs::setCorner(QWidget *widget)
{
    m_head->addWidget(widget);
}

} // namespace sendonce
