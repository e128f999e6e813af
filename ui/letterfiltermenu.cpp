#include "ui/letterfiltermenu.h"

#include "ui/displaytext.h"
#include "ui/icons.h"

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

/// A name as a menu shows it: its ampersands are no mnemonics. The first nine have their number as one.
QString entry(const QString &name, int number)
{
    QString text = shownText(name, 60);
    text.replace(u'&', "&&"_L1);
    return number <= 9 ? u"&%1 %2"_s.arg(number).arg(text) : text;
}

} // namespace

LetterFilterMenu::LetterFilterMenu(QWidget *parent)
    : QMenu(tr("Fil&ter"), parent)
    , m_groups(addAction(tr("Show &groups with counts")))
    , m_clear(addAction(sendonce::icon(u"close"_s), tr("Show &all")))
{
    m_groups->setCheckable(true);
    m_groups->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_G));
    m_groups->setStatusTip(tr("Count dead letters by verdict, reason and type, to choose from"));
    m_clear->setStatusTip(tr("Take the filter and the search away"));
    addSeparator();
    m_savedEnd = addSeparator();
    m_save = addAction(sendonce::icon(u"save"_s), tr("&Save this filter…"));
    m_save->setStatusTip(tr("Keep what is searched and chosen under a name"));
    m_remove = addMenu(tr("D&elete a saved filter"));
    connect(m_groups, &QAction::triggered, this, &LetterFilterMenu::groupsToggled);
    connect(m_clear, &QAction::triggered, this, [this] { Q_EMIT filterChosen({}); });
    connect(m_save, &QAction::triggered, this, &LetterFilterMenu::saveWanted);
    fill();
}

void LetterFilterMenu::keepIn(QSettings *settings)
{
    m_saved.keepIn(settings);
    fill();
}

void LetterFilterMenu::setFilter(const LetterFilter &filter)
{
    m_filter = filter;
    m_clear->setEnabled(!filter.isEmpty());
    m_save->setEnabled(!filter.isEmpty());
    for (qsizetype i = 0; i < m_choices.size(); ++i)
        m_choices.at(i)->setChecked(m_saved.all().at(i).filter == filter);
}

void LetterFilterMenu::setGroupsShown(bool shown)
{
    m_groups->setChecked(shown);
}

void LetterFilterMenu::save(const QString &name)
{
    m_saved.save(name, m_filter);
    fill();
}

void LetterFilterMenu::fill()
{
    qDeleteAll(std::exchange(m_choices, {}));
    m_remove->clear();
    int number = 0;
    for (const SavedFilters::Named &each : m_saved.all()) {
        auto *choice = new QAction(entry(each.name, ++number), this);
        choice->setCheckable(true);
        connect(choice, &QAction::triggered, this, [this, filter = each.filter] {
            setFilter(filter); // else choosing the one in force would uncheck it
            Q_EMIT filterChosen(filter);
        });
        insertAction(m_savedEnd, choice);
        m_choices.append(choice);
        connect(m_remove->addAction(entry(each.name, number)), &QAction::triggered, this, [this, name = each.name] {
            m_saved.remove(name);
            // Not now: this very entry is among those that go.
            QMetaObject::invokeMethod(this, &LetterFilterMenu::fill, Qt::QueuedConnection);
        });
    }
    m_savedEnd->setVisible(!m_choices.isEmpty());
    m_remove->menuAction()->setEnabled(!m_choices.isEmpty());
    setFilter(m_filter);
}

} // namespace sendonce
