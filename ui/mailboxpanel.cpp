#include "ui/mailboxpanel.h"

#include "ui/coalescer.h"
#include "ui/consolestyle.h"
#include "ui/displaytext.h"
#include "ui/emptystate.h"
#include "ui/filesave.h"
#include "ui/hairline.h"
#include "ui/icons.h"
#include "ui/mailboxmodel.h"
#include "ui/plainlabel.h"
#include "ui/plaintextview.h"
#include "ui/rowtable.h"
#include "ui/searchfield.h"

#include <QBoxLayout>
#include <QFileDialog>
#include <QHeaderView>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {
namespace {

constexpr int Limit = 1000; // newest; the search reaches the rest
enum Part { Headers, Text, Html, Raw };

QString headerLines(const MailDetail &mail)
{
    qsizetype widest = 0;
    for (const auto &[name, value] : mail.headers)
        widest = std::max(widest, std::min<qsizetype>(name.size(), 28));
    QStringList lines;
    for (const auto &[name, value] : mail.headers)
        lines += shownText(name).leftJustified(widest + 2) + shownText(value, 4000);
    return lines.join(u'\n');
}

} // namespace

MailboxPanel::MailboxPanel(QWidget *parent)
    : Panel(parent)
    , m_model(new MailboxModel(this))
    , m_order(new QSortFilterProxyModel(this))
    , m_search(new SearchField(tr("recipient, subject, event id…")))
    , m_count(new PlainLabel)
    , m_table(new RowTable(tr("Mailbox")))
    , m_save(new QPushButton(icon(u"save"_s), tr("Save .eml…")))
    , m_changes(new Coalescer(200ms, this))
{
    auto *bar = new PanelBar;
    auto *barLayout = static_cast<QBoxLayout *>(bar->layout());
    m_count->setTone(Tone::Muted);
    m_save->setObjectName(u"saveMail"_s);
    barLayout->addWidget(m_search);
    barLayout->addStretch(1);
    barLayout->addWidget(m_count);
    barLayout->addSpacing(SpacingUnit / 2);
    barLayout->addWidget(m_save);

    m_order->setSourceModel(m_model);
    m_order->setSortRole(SortRole);
    m_table->setModel(m_order);
    m_table->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    m_table->setSortingEnabled(true);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setColumnSample(MailboxModel::To, u"sam.candidate@jobboard.example"_s);
    m_table->setColumnSample(MailboxModel::Event, u"23e48c51-7f0e…9a41"_s, Face::Monospace);
    m_table->setColumnSample(MailboxModel::Copies, tr("%1 copies").arg(12), Face::Strong, true);
    m_table->setColumnSample(MailboxModel::Received, u"2026-03-01 14:05:41"_s, Face::Figures);
    m_table->setStretchColumn(MailboxModel::Subject, u"Your application for"_s);

    auto *splitter = new QSplitter(Qt::Vertical);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_table);
    splitter->addWidget(makeDetails());
    // Both give way in a low panel: some rows and some lines.
    splitter->setStretchFactor(0, 5);
    splitter->setStretchFactor(1, 4);
    splitter->setSizes({500, 400});

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(bar);
    layout->addWidget(splitter, 1);

    connect(m_search, &SearchField::searched, this, &MailboxPanel::ask);
    connect(m_search, &SearchField::left, m_table, [this] { m_table->setFocus(); });
    connect(m_changes, &Coalescer::due, this, [this] {
        if (isVisible())
            ask();
    });
    connect(m_table, &RowTable::currentRowChanged, this, &MailboxPanel::showCurrent);
    connect(m_table, &RowTable::currentEventChanged, this, &MailboxPanel::eventSelected);
    connect(m_order, &QAbstractItemModel::modelReset, this, &MailboxPanel::showCurrent);
    connect(m_parts, &QTabBar::currentChanged, this, &MailboxPanel::showPart);
    connect(m_save, &QPushButton::clicked, this, &MailboxPanel::askWhereToSave);
    connect(m_table->emptyState(), &EmptyState::acted, this, [this] {
        if (m_error.isEmpty())
            m_search->search({});
        else
            ask();
    });
    showCurrent();
    updateWords();
}

void MailboxPanel::refresh()
{
    ask();
}

void MailboxPanel::showSnapshot(const MailboxSnapshot &snapshot)
{
    m_open = false;
    m_loaded = true;
    m_error = snapshot.error;
    if (m_error.isEmpty()) {
        m_model->setRows(snapshot.rows);
        const qint64 total = std::max<qint64>(snapshot.total, snapshot.rows.size());
        m_count->setPlain(total == 0 ? QString()
                              : total > snapshot.rows.size()
                              ? tr("newest %1 of %2").arg(countText(snapshot.rows.size()), countText(total))
                              : total == 1 ? tr("1 e-mail")
                                           : tr("%1 e-mails").arg(countText(total)));
    }
    updateWords();
    showPart();
    // What changed, or was typed, while the answer was on its way.
    if (m_stale || m_asked != m_search->text().trimmed())
        m_changes->schedule();
}

void MailboxPanel::showMail(const MailDetail &mail)
{
    if (mail.row.id != m_wantedId)
        return;
    m_mail = mail;
    showPart();
    Q_EMIT canSaveChanged();
}

void MailboxPanel::noteChange()
{
    m_stale = true;
    if (isVisible())
        m_changes->schedule();
}

void MailboxPanel::setReady()
{
    m_ready = true;
    m_unavailable.clear();
    updateWords();
    if (isVisible())
        ask();
}

void MailboxPanel::setUnavailable(const QString &text)
{
    m_unavailable = text;
    updateWords();
}

bool MailboxPanel::canSave() const
{
    return !m_mail.raw.isEmpty() && m_mail.row.id == m_wantedId;
}

void MailboxPanel::askWhereToSave()
{
    if (!canSave())
        return;
    auto *dialog = new QFileDialog(this, tr("Save the e-mail"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({tr("E-mail (*.eml)"), tr("All files (*)")});
    dialog->setDefaultSuffix(u"eml"_s);
    const QString eventId = m_mail.row.eventId;
    const bool plain = !eventId.isEmpty() && std::all_of(eventId.cbegin(), eventId.cend(), [](QChar c) {
        return c.isLetterOrNumber() || c == u'-' || c == u'_';
    });
    dialog->selectFile((plain ? eventId : u"mail"_s) + u".eml"_s);
    connect(dialog, &QFileDialog::fileSelected, this, &MailboxPanel::saveTo);
    dialog->open();
}

void MailboxPanel::saveTo(const QString &path)
{
    m_saved->setTone(Tone::Muted);
    m_saved->setPlain(tr("saving…"));
    saveFile(path, m_mail.raw, this, [this, path](const QString &error) {
        m_saved->setTone(error.isEmpty() ? Tone::Sent : Tone::Failed);
        m_saved->setPlain(error.isEmpty() ? tr("saved as %1").arg(path) : tr("not saved: %1").arg(error));
    });
}

void MailboxPanel::showEvent(QShowEvent *event)
{
    Panel::showEvent(event);
    if (m_stale)
        ask();
}

QWidget *MailboxPanel::makeDetails()
{
    m_details = new QStackedWidget;
    m_hint = new PlainLabel;
    m_hint->setTone(Tone::Muted);
    m_hint->setAlignment(Qt::AlignCenter);
    m_details->addWidget(m_hint);

    m_parts = new QTabBar;
    setInnerTabs(m_parts);
    m_parts->setAccessibleName(tr("Parts of the e-mail"));
    m_parts->setDocumentMode(true);
    m_parts->setExpanding(false);
    m_parts->addTab(tr("Headers"));
    m_parts->addTab(tr("Text"));
    m_parts->addTab(tr("HTML"));
    m_parts->addTab(tr("Raw"));
    m_parts->setCurrentIndex(Text);
    m_parts->setTabToolTip(Html, toolTipText(tr("The HTML part as inert text: nothing is drawn, loaded or clicked")));
    m_saved = new PlainLabel({}, PlainLabel::Role::Caption);
    m_saved->setElided(Qt::ElideMiddle);
    m_saved->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_view = new PlainTextView(tr("E-mail"));

    auto *head = new QHBoxLayout;
    head->setContentsMargins(SpacingUnit - 1, 0, 2 * SpacingUnit, 0);
    head->addWidget(m_parts);
    head->addWidget(m_saved, 1);
    auto *body = new QHBoxLayout;
    body->setContentsMargins(2 * SpacingUnit, SpacingUnit, SpacingUnit, SpacingUnit);
    body->addWidget(m_view);
    auto *page = new QWidget;
    auto *layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(head);
    layout->addWidget(new Hairline);
    layout->addLayout(body, 1);
    m_details->addWidget(page);
    return m_details;
}

/// One question at a time: the next one starts after the answer to the last.
void MailboxPanel::ask()
{
    if (!m_ready)
        return;
    m_stale = m_open;
    if (m_open)
        return;
    m_open = true;
    m_asked = m_search->text().trimmed();
    Q_EMIT queried(m_asked, Limit);
    updateWords();
}

void MailboxPanel::showCurrent()
{
    const QModelIndex current = m_order->mapToSource(m_table->currentIndex());
    m_details->setCurrentIndex(current.isValid() ? 1 : 0);
    const QString id = current.isValid() ? m_model->row(current.row()).id : QString();
    if (id == m_wantedId)
        return;
    m_wantedId = id;
    m_mail = {};
    m_saved->setPlain({});
    if (!id.isEmpty())
        Q_EMIT openRequested(id);
    showPart();
    m_view->moveCursor(QTextCursor::Start);
    Q_EMIT canSaveChanged();
}

void MailboxPanel::showPart()
{
    m_save->setEnabled(canSave());
    if (m_wantedId.isEmpty())
        return;
    if (m_mail.row.id != m_wantedId) {
        m_view->setPlain(tr("Opening the e-mail…"));
        return;
    }
    if (!m_mail.error.isEmpty()) {
        m_view->setPlain(tr("The e-mail could not be opened: %1").arg(m_mail.error));
        return;
    }
    switch (m_parts->currentIndex()) {
    case Headers:
        m_view->setPlain(headerLines(m_mail));
        break;
    case Text:
        m_view->setPlain(m_mail.text.isEmpty() ? tr("The e-mail has no text part.") : m_mail.text);
        break;
    case Html:
        m_view->setPlain(m_mail.html.isEmpty() ? tr("The e-mail has no HTML part.") : m_mail.html);
        break;
    default:
        m_view->setPlain(QString::fromUtf8(m_mail.raw));
        break;
    }
}

void MailboxPanel::updateWords()
{
    EmptyState *words = m_table->emptyState();
    m_hint->setPlain(m_model->rowCount() > 0 ? tr("Choose an e-mail to read it.")
                                             : QString()); // nothing to choose from: nothing said
    if (!m_unavailable.isEmpty())
        words->setWords(u"warning"_s, tr("Nothing can be read"), m_unavailable);
    else if (!m_error.isEmpty())
        words->setWords(u"warning"_s, tr("The mailbox could not be read"), m_error, tr("Try again"));
    else if (!m_loaded)
        words->setWords(u"inbox"_s, tr("Opening the mailbox…"), tr("The e-mails appear here in a moment."));
    else if (!m_asked.isEmpty())
        words->setWords(u"search"_s, tr("No e-mail matches"),
                        tr("The search looks in recipient, subject and event id."), tr("Clear the search"));
    else
        words->setWords(
            u"inbox"_s, tr("The mailbox is empty"),
            tr("Every e-mail the worker sends arrives here. One for each event, however often the event comes."));
}

} // namespace sendonce
