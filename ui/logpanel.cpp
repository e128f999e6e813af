#include "ui/logpanel.h"

#include "ui/consolestyle.h"
#include "ui/displaytext.h"
#include "ui/emptystate.h"
#include "ui/icons.h"
#include "ui/logmodel.h"
#include "ui/plainlabel.h"
#include "ui/rowtable.h"
#include "ui/searchfield.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QEvent>
#include <QPushButton>
#include <QScrollBar>

using namespace Qt::StringLiterals;

namespace sendonce {

LogPanel::LogPanel(QWidget *parent)
    : Panel(parent)
    , m_model(new LogModel(this))
    , m_filter(new LogFilter(this))
    , m_search(new SearchField(tr("text, event id…")))
    , m_level(new QComboBox)
    , m_pause(new QPushButton(icon(u"pause"_s), tr("Pause")))
    , m_copy(new QPushButton(icon(u"copy"_s), tr("Copy")))
    , m_table(new RowTable(tr("Log")))
    , m_new(new QPushButton(m_table))
{
    m_level->setAccessibleName(tr("Lowest level shown"));
    m_level->addItem(tr("All levels"), int(LogLevel::Debug));
    m_level->addItem(tr("Info and above"), int(LogLevel::Info));
    m_level->addItem(tr("Warnings and errors"), int(LogLevel::Warning));
    m_level->addItem(tr("Errors"), int(LogLevel::Error));
    m_pause->setObjectName(u"pauseLog"_s);
    m_pause->setCheckable(true);
    m_copy->setObjectName(u"copyLog"_s);
    m_copy->setToolTip(toolTipText(tr("Copies the chosen lines, or all that are shown")));
    auto *bar = new PanelBar;
    auto *barLayout = static_cast<QBoxLayout *>(bar->layout());
    barLayout->addWidget(m_search);
    barLayout->addWidget(m_level);
    barLayout->addStretch(1);
    barLayout->addWidget(m_pause);
    barLayout->addWidget(m_copy);

    m_filter->setSourceModel(m_model);
    m_table->setModel(m_filter);
    m_table->setColumnSample(LogModel::Time, u"14:05:41.123"_s, Face::Monospace);
    m_table->setColumnSample(LogModel::Level, tr("warning"), Face::Body, true);
    m_table->setStretchColumn(LogModel::Text);
    m_table->emptyState()->setWords(u"log"_s, tr("Nothing has been logged yet"),
                                    tr("What the worker does appears here, line by line."));

    m_new->setObjectName(u"newLines"_s);
    m_new->setIcon(icon(u"arrow-down"_s, Tone::Accent));
    m_new->hide();
    m_table->viewport()->installEventFilter(this);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(bar);
    layout->addWidget(m_table, 1);

    connect(m_search, &SearchField::searched, this, [this](const QString &text) {
        m_filter->setText(text);
        updateWords();
    });
    connect(m_search, &SearchField::left, m_table, [this] { m_table->setFocus(); });
    connect(m_level, &QComboBox::currentIndexChanged, this, [this] {
        m_filter->setMinimumLevel(LogLevel(m_level->currentData().toInt()));
        updateWords();
    });
    connect(m_pause, &QPushButton::toggled, this, &LogPanel::pauseToggled);
    connect(m_copy, &QPushButton::clicked, this, [this] {
        if (m_table->selectedRowIndexes().isEmpty())
            m_table->selectAll();
        m_table->copySelection();
    });
    connect(m_new, &QPushButton::clicked, this, &LogPanel::toEnd);
    connect(m_table->verticalScrollBar(), &QScrollBar::valueChanged, this, [this] {
        if (atEnd())
            updateNew();
    });
    connect(m_table, &RowTable::currentEventChanged, this, &LogPanel::eventSelected);
    connect(m_table, &QTableView::doubleClicked, this, [this](const QModelIndex &index) {
        if (const QString eventId = index.data(EventIdRole).toString(); !eventId.isEmpty())
            Q_EMIT jumpRequested(eventId);
    });
}

void LogPanel::append(const QList<LogLine> &lines)
{
    if (!isPaused()) {
        add(lines);
        return;
    }
    m_held += lines;
    if (m_held.size() > LogModel::Bound)
        m_held.remove(0, m_held.size() - LogModel::Bound);
    m_pause->setText(tr("Resume · %1 new").arg(countText(m_held.size())));
}

bool LogPanel::isPaused() const
{
    return m_pause->isChecked();
}

void LogPanel::setPaused(bool paused)
{
    m_pause->setChecked(paused);
}

void LogPanel::pauseToggled(bool paused)
{
    m_pause->setIcon(icon(paused ? u"play"_s : u"pause"_s));
    m_pause->setText(paused ? tr("Resume") : tr("Pause"));
    if (!paused)
        add(std::exchange(m_held, {}));
    Q_EMIT pausedChanged(paused);
}

bool LogPanel::revealEvent(const QString &eventId)
{
    for (int row = m_filter->rowCount() - 1; row >= 0; --row) {
        const QModelIndex index = m_filter->index(row, 0);
        if (index.data(EventIdRole).toString() != eventId)
            continue;
        if (!atEnd()) // following the end goes on
            m_table->scrollTo(index);
        return true;
    }
    return false;
}

bool LogPanel::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize)
        updateNew();
    return Panel::eventFilter(watched, event);
}

bool LogPanel::atEnd() const
{
    const QScrollBar *bar = m_table->verticalScrollBar();
    return bar->value() >= bar->maximum();
}

void LogPanel::add(const QList<LogLine> &lines)
{
    if (lines.isEmpty())
        return;
    const bool follow = atEnd();
    QScrollBar *bar = m_table->verticalScrollBar();
    const int place = bar->value();
    const int before = m_filter->rowCount();
    int removed = 0;
    const QMetaObject::Connection counting =
        connect(m_filter, &QAbstractItemModel::rowsRemoved, this,
                [&removed](const QModelIndex &, int first, int last) { removed += last - first + 1; });
    m_model->append(lines);
    disconnect(counting);
    if (follow) {
        m_table->scrollToBottom();
    } else {
        m_unseen += m_filter->rowCount() - before + removed;
        bar->setValue(place - removed); // the lines that are being read stay where they are
    }
    updateNew();
}

void LogPanel::toEnd()
{
    m_table->scrollToBottom();
    updateNew();
}

void LogPanel::updateNew()
{
    if (atEnd())
        m_unseen = 0;
    m_new->setVisible(m_unseen > 0);
    if (m_unseen == 0)
        return;
    m_new->setText(tr("%1 new").arg(countText(m_unseen)));
    m_new->adjustSize();
    const QRect view = m_table->viewport()->geometry();
    m_new->move(view.right() - m_new->width() - 2 * SpacingUnit, view.bottom() - m_new->height() - SpacingUnit - 4);
    m_new->raise();
}

void LogPanel::updateWords()
{
    if (m_model->rowCount() == 0)
        return;
    m_table->emptyState()->setWords(u"search"_s, tr("No line matches"),
                                    tr("Lines come and stay in the log; only the filter hides them here."));
}

} // namespace sendonce
