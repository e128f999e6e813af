#include "ui/letterfacets.h"

#include "ui/displaytext.h"
#include "ui/figures.h"
#include "ui/icons.h"
#include "ui/letterwords.h"
#include "ui/theme.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>
#include <QScopedValueRollback>
#include <QStyledItemDelegate>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

using Kind = LetterGroups::Kind;

constexpr int ReasonsShown = 100;
constexpr int TypesShown = 50;

enum Role { CountRole = Qt::UserRole + 1, GlyphRole, ToneRole, HeadingRole };

/// Name at the left, count at the right; a chosen one as a chosen row of a table.
class FacetDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const Tokens &tokens = tokensOf(option.palette);
        const bool heading = index.data(HeadingRole).toBool();
        const bool chosen = option.state & QStyle::State_Selected;
        const bool hovered = option.state & QStyle::State_MouseOver && !heading;
        painter->fillRect(option.rect,
                          chosen        ? tokens.selection
                              : hovered ? mixed(tokens.panel, tokens.header, 0.9)
                                        : tokens.panel);
        if (chosen)
            painter->fillRect(QRect(option.rect.left(), option.rect.top(), 2, option.rect.height()), tokens.accent);
        if (option.state & QStyle::State_HasFocus && !heading) {
            painter->setPen(tokens.accent);
            painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
        }
        painter->save();
        QRect rect = option.rect.adjusted(SpacingUnit + 4, 0, -SpacingUnit - 4, 0);
        const QString count = index.data(CountRole).toString();
        if (!count.isEmpty()) {
            painter->setFont(captionFont());
            painter->setPen(tokens.muted);
            const int width = figuresWidth(painter->fontMetrics(), count);
            drawFigures(painter, QRect(rect.right() - width + 1, rect.top(), width, rect.height()),
                        Qt::AlignVCenter | Qt::AlignLeft, count);
            rect.adjust(0, 0, -width - SpacingUnit, 0);
        }
        const Tone tone = Tone(index.data(ToneRole).toInt());
        if (const QString glyph = index.data(GlyphRole).toString(); !glyph.isEmpty()) {
            const int edge = iconEdge() - 3;
            drawIcon(painter, QRect(rect.left(), rect.top(), edge, rect.height()), glyph, tokens.of(tone), edge);
            rect.adjust(edge + SpacingUnit - 2, 0, 0, 0);
        }
        painter->setFont(heading ? headingFont() : option.font);
        painter->setPen(tokens.of(tone));
        painter->drawText(rect,
                          int((heading ? Qt::AlignBottom : Qt::AlignVCenter) | Qt::AlignLeft | Qt::TextSingleLine),
                          painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, rect.width()));
        painter->restore();
    }

    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const int height = rowHeight(option.widget);
        return QSize(0, index.data(HeadingRole).toBool() ? height + SpacingUnit / 2 : height - 2);
    }
};

} // namespace

LetterFacets::LetterFacets(QWidget *parent) : QListWidget(parent)
{
    setObjectName(u"letterGroups"_s);
    setAccessibleName(tr("Groups of dead letters"));
    setFrameShape(NoFrame);
    setSelectionMode(MultiSelection);
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setMouseTracking(true);
    setItemDelegate(new FacetDelegate(this));
    connect(this, &QListWidget::itemSelectionChanged, this, &LetterFacets::tell);
}

void LetterFacets::show(const LetterGroups &groups, const LetterFilter &filter)
{
    m_filter = filter;
    QList<Line> lines;
    const auto add = [&](Kind kind, const QString &heading, int most) {
        const QList<LetterGroups::Group> found = groups.groups(kind, filter, most);
        if (found.isEmpty())
            return;
        lines.append({heading, {}, false});
        for (const LetterGroups::Group &group : found)
            lines.append({{}, group, false});
        if (const qsizetype more = groups.count(kind) - found.size(); more > 0)
            lines.append({tr("… and %1 smaller ones").arg(countText(more)), {}, true});
    };
    add(Kind::Verdict, tr("Verdict"), 5);
    add(Kind::Reason, tr("Reason"), ReasonsShown);
    add(Kind::Type, tr("Type"), TypesShown);

    const QScopedValueRollback filling(m_filling, true);
    while (count() > lines.size())
        delete takeItem(count() - 1);
    while (count() < lines.size())
        addItem(new QListWidgetItem);
    m_lines = lines;
    for (int i = 0; i < count(); ++i)
        put(item(i), lines.at(i));
}

void LetterFacets::put(QListWidgetItem *item, const Line &line)
{
    const bool group = line.heading.isEmpty();
    item->setFlags(group ? Qt::ItemIsEnabled | Qt::ItemIsSelectable : Qt::NoItemFlags);
    item->setData(HeadingRole, !group && !line.note);
    if (!group) {
        item->setText(line.heading);
        item->setData(CountRole, QString());
        item->setData(GlyphRole, QString());
        item->setData(ToneRole, int(Tone::Muted));
        item->setToolTip({});
        item->setSelected(false);
        return;
    }
    const bool verdict = line.group.kind == Kind::Verdict;
    const QString name = verdict ? verdictName(line.group.verdict)
        : line.group.name.isEmpty()
        ? (line.group.kind == Kind::Reason ? tr("no worker of ours saw it") : tr("not readable"))
        : line.group.kind == Kind::Type ? typeText(line.group.name)
                                        : shownText(line.group.name);
    item->setText(name);
    item->setData(CountRole, countText(line.group.count));
    item->setData(GlyphRole, verdict ? verdictGlyph(line.group.verdict) : QString());
    item->setData(ToneRole, int(verdict ? verdictTone(line.group.verdict) : Tone::Text));
    item->setToolTip(toolTipText(
        tr("%1: %2").arg(verdict || line.group.name.isEmpty() ? name : line.group.name, countText(line.group.count))));
    item->setData(Qt::AccessibleTextRole, tr("%1: %2").arg(name, countText(line.group.count)));
    item->setSelected(verdict                               ? m_filter.verdicts.contains(line.group.verdict)
                          : line.group.kind == Kind::Reason ? m_filter.reasons.contains(line.group.name)
                                                            : m_filter.types.contains(line.group.name));
}

std::optional<LetterGroups::Group> LetterFacets::currentGroup() const
{
    const int row = currentRow();
    if (row < 0 || row >= m_lines.size() || !m_lines.at(row).heading.isEmpty())
        return std::nullopt;
    return m_lines.at(row).group;
}

QSize LetterFacets::sizeHint() const
{
    return QSize(fontMetrics().averageCharWidth() * 32, 10 * fontMetrics().height());
}

void LetterFacets::contextMenuEvent(QContextMenuEvent *event)
{
    // A click with the right button chooses no other rows, but it says which group is meant.
    if (const QModelIndex index = indexAt(event->pos()); event->reason() == QContextMenuEvent::Mouse && index.isValid())
        selectionModel()->setCurrentIndex(index, QItemSelectionModel::NoUpdate); // the list's own would toggle it
    const auto group = currentGroup();
    if (!group)
        return;
    LetterActState state = m_actState;
    state.chosen = state.shown = group->count; // whatever the table shows
    const bool anyActable = !m_actable || m_actable(*group) > 0;
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (const auto &[act, text] : {std::pair(LetterAct::Replay, tr("&Replay this group…")),
                                    std::pair(LetterAct::Export, tr("E&xport this group…")),
                                    std::pair(LetterAct::Delete, tr("&Delete this group…"))}) {
        QAction *action = menu->addAction(text);
        QString reason = whyNot(act, state);
        if (reason.isEmpty() && !anyActable)
            reason = tr("All of this group are under way, or gone");
        action->setEnabled(reason.isEmpty());
        action->setToolTip(reason);
        connect(action, &QAction::triggered, this, [this, act = act] { Q_EMIT actWanted(act); });
    }
    menu->setToolTipsVisible(true);
    menu->popup(event->globalPos());
}

void LetterFacets::changeEvent(QEvent *event)
{
    QListWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        scheduleDelayedItemsLayout();
}

void LetterFacets::tell()
{
    if (m_filling)
        return;
    LetterFilter filter;
    filter.text = m_filter.text;
    for (int i = 0; i < count(); ++i) {
        if (!item(i)->isSelected())
            continue;
        const LetterGroups::Group &group = m_lines.at(i).group;
        if (group.kind == Kind::Verdict)
            filter.verdicts.append(group.verdict);
        else
            (group.kind == Kind::Reason ? filter.reasons : filter.types).append(group.name);
    }
    m_filter = filter;
    Q_EMIT filterChosen(filter);
}

} // namespace sendonce
