#include "ui/letteractbar.h"

#include "ui/actionbutton.h"
#include "ui/consolestyle.h"
#include "ui/icons.h"
#include "ui/letteractions.h"

#include <QAction>
#include <QHBoxLayout>
#include <QMenu>

using namespace Qt::StringLiterals;

namespace sendonce {

LetterActBar::LetterActBar(LetterActions *actions, QWidget *parent)
    : QWidget(parent)
    , m_actions(actions)
    , m_replay(new ActionButton(actions->of(LetterAct::Replay), tr("Replay…"), icon(u"replay"_s, Tone::OnAccent)))
{
    m_replay->setObjectName(u"replay"_s);
    setLook(m_replay, Look::Primary);
    auto *canary = new ActionButton(actions->of(LetterAct::Canary), tr("Canary…"), {});
    canary->setObjectName(u"canary"_s);
    auto *more = new QPushButton(icon(u"chevron-down"_s), tr("More"));
    more->setLayoutDirection(Qt::RightToLeft); // the arrow behind the word
    more->setObjectName(u"moreActs"_s);
    more->setAccessibleName(tr("More acts on dead letters"));
    auto *menu = new QMenu(more);
    menu->setToolTipsVisible(true);
    const auto add = [menu, actions](LetterAct act) { menu->addAction(actions->of(act)); };
    add(LetterAct::EditAndReplay);
    add(LetterAct::Delete);
    menu->addSeparator();
    add(LetterAct::Export);
    add(LetterAct::Import);
    add(LetterAct::KeptCopies);
    add(LetterAct::Runs);
    menu->addSeparator();
    add(LetterAct::MoveAll);
    add(LetterAct::ForgetClaim);
    add(LetterAct::Purge);
    more->setMenu(menu);

    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(SpacingUnit);
    layout->addWidget(more);
    layout->addWidget(canary);
    layout->addWidget(m_replay);
    connect(actions->of(LetterAct::Replay), &QAction::changed, this, &LetterActBar::follow);
    follow();
}

void LetterActBar::follow()
{
    QString text = m_actions->of(LetterAct::Replay)->text();
    m_replay->setText(text.remove(u'&'));
    m_replay->setIcon(icon(u"replay"_s, Tone::OnAccent)); // again, for the theme
}

} // namespace sendonce
