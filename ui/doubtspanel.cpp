#include "ui/doubtspanel.h"

#include "ui/coalescer.h"
#include "ui/column.h"
#include "ui/consolestyle.h"
#include "ui/displaytext.h"
#include "ui/doubtsmodel.h"
#include "ui/emptystate.h"
#include "ui/factlist.h"
#include "ui/icons.h"
#include "ui/inlineconfirm.h"
#include "ui/plainlabel.h"
#include "ui/rights.h"
#include "ui/rowsanddetails.h"
#include "ui/rowtable.h"
#include "ui/searchfield.h"
#include "ui/storyview.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QSortFilterProxyModel>

#include <algorithm>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {
namespace {

constexpr int Limit = 500; ///< rows; above it the search of sendoncectl is the better place

enum Fact { EventFact, AboutFact, RecipientFact, SinceFact, ReasonFact, ReplyFact, MailIdFact, DeliveryFact, ByFact };

QString orDash(const QString &text)
{
    return text.isEmpty() ? u"–"_s : shownText(text);
}

} // namespace

DoubtsPanel::DoubtsPanel(QWidget *parent)
    : Panel(parent)
    , m_model(new DoubtsModel(this))
    , m_filter(new QSortFilterProxyModel(this))
    , m_search(new SearchField(tr("id, application, reason, reply…")))
    , m_over(new QPushButton(tr("Also settled")))
    , m_outcome(new PlainLabel)
    , m_ask(new QPushButton(icon(u"inbox"_s, Tone::OnAccent), tr("Ask the mailbox…")))
    , m_again(new QPushButton(icon(u"replay"_s), tr("Send again…")))
    , m_arrived(new QPushButton(icon(u"check"_s), tr("It arrived…")))
    , m_confirm(new InlineConfirm)
    , m_table(new RowTable(tr("Events in doubt")))
    , m_soon(new Coalescer(300ms, this))
{
    m_over->setObjectName(u"doubtsOver"_s);
    m_over->setCheckable(true);
    m_over->setAccessibleName(tr("Show also the events that are settled: sent again, or handled"));
    m_over->setToolTip(toolTipText(m_over->accessibleName()));
    m_ask->setObjectName(u"doubtAsk"_s);
    m_again->setObjectName(u"doubtAgain"_s);
    m_arrived->setObjectName(u"doubtArrived"_s);
    m_outcome->setObjectName(u"doubtOutcome"_s);
    m_outcome->setElided(Qt::ElideRight);
    setLook(m_ask, Look::Primary);
    auto *bar = new PanelBar;
    auto *barLayout = static_cast<QBoxLayout *>(bar->layout());
    barLayout->addWidget(m_search);
    barLayout->addWidget(m_over);
    barLayout->addWidget(m_outcome, 1);
    barLayout->addWidget(m_arrived);
    barLayout->addWidget(m_again);
    barLayout->addWidget(m_ask);
    m_outcome->setAlignment(Qt::AlignRight | Qt::AlignVCenter);

    m_filter->setSourceModel(m_model);
    m_filter->setFilterRole(SearchRole);
    m_filter->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_filter->setSortRole(SortRole);
    m_filter->setSortCaseSensitivity(Qt::CaseInsensitive);
    m_table->setModel(m_filter);
    m_table->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    m_table->setSortingEnabled(true);
    m_table->setGlyphColumn(DoubtsModel::Glyph);
    m_table->setColumnSample(DoubtsModel::Event, u"23e48c51-7f0e…9a41"_s, Face::Monospace);
    m_table->setColumnSample(DoubtsModel::Application, u"Application"_s);
    m_table->setColumnSample(DoubtsModel::Since, u"20 min ago"_s, Face::Figures);
    m_table->setColumnSample(DoubtsModel::Done, u"held at 2 redeliveries · asked"_s);
    m_table->setColumnSample(DoubtsModel::MailId, u"5f2d81c09ab3…e.example"_s, Face::Monospace);
    m_table->setStretchColumn(DoubtsModel::Known, u"250 2.0.0 Ok: queued as"_s);

    m_rows = new RowsAndDetails(m_table, makeDetails());

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(bar);
    layout->addWidget(m_confirm);
    layout->addWidget(m_rows, 1);

    connect(m_arrived, &QPushButton::clicked, this, [this] { ask(DoubtAct::Arrived); });
    connect(m_again, &QPushButton::clicked, this, [this] { ask(DoubtAct::SendAgain); });
    connect(m_ask, &QPushButton::clicked, this, [this] { ask(DoubtAct::Ask); });
    connect(m_over, &QPushButton::toggled, this, [this](bool shown) {
        m_model->setShowOver(shown);
        updateWords();
    });
    connect(m_confirm, &InlineConfirm::confirmed, this, &DoubtsPanel::answered);
    connect(m_confirm, &InlineConfirm::dismissed, this, [this] {
        m_question.reset();
        updateActs();
        m_table->setFocus();
    });
    connect(m_search, &SearchField::searched, this, [this](const QString &text) {
        m_filter->setFilterFixedString(text);
        updateWords();
    });
    connect(m_search, &SearchField::left, m_table, [this] { m_table->setFocus(); });
    connect(m_table, &RowTable::currentRowChanged, this, &DoubtsPanel::showCurrent);
    connect(m_table, &RowTable::currentEventChanged, this, &DoubtsPanel::eventSelected);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &DoubtsPanel::updateActs);
    connect(m_filter, &QAbstractItemModel::modelReset, this, &DoubtsPanel::showCurrent);
    connect(m_filter, &QAbstractItemModel::dataChanged, this, &DoubtsPanel::showCurrent);
    connect(m_filter, &QAbstractItemModel::rowsRemoved, this, &DoubtsPanel::updateActs);
    connect(m_table->emptyState(), &EmptyState::acted, this, [this] {
        if (!m_search->text().isEmpty() && m_model->rowCount() > 0)
            m_search->search({});
        else if (m_error.isEmpty())
            m_over->setChecked(true);
        else
            refresh();
    });
    connect(m_soon, &Coalescer::due, this, &DoubtsPanel::refresh);
    showCurrent();
    updateActs();
    updateWords();
}

void DoubtsPanel::refresh()
{
    if (!m_ready)
        return;
    m_readAgain = m_reading;
    if (std::exchange(m_reading, true))
        return;
    Q_EMIT queried(Limit);
}

void DoubtsPanel::noteDeliveries(const QList<DeliveryReport> &reports)
{
    const auto concerns = [this](const DeliveryReport &report) {
        if (report.outcome == Outcome::InDoubt)
            return true;
        for (int row = 0; row < m_model->rowCount(); ++row) {
            if (m_model->doubt(row).eventId == report.eventId)
                return true;
        }
        return false;
    };
    if (std::any_of(reports.cbegin(), reports.cend(), concerns))
        m_soon->schedule();
}

void DoubtsPanel::showList(const DoubtList &list)
{
    m_reading = false;
    m_read = true;
    m_error = list.error;
    if (list.error.isEmpty()) { // else what was read last stays
        m_maildir = list.maildir;
        m_model->setNow(list.readAt);
        m_model->setList(list);
        m_waiting = list.waiting;
        Q_EMIT waitingChanged(m_waiting);
    }
    updateActs();
    updateWords();
    if (std::exchange(m_readAgain, false))
        refresh();
}

void DoubtsPanel::showOutcomes(const QList<DoubtOutcome> &outcomes)
{
    m_model->setOutcomes(outcomes);
    using State = DoubtOutcome::State;
    const auto count = [&outcomes](State state) {
        return std::count_if(outcomes.cbegin(), outcomes.cend(),
                             [state](const DoubtOutcome &outcome) { return outcome.state == state; });
    };
    QStringList parts;
    for (const auto &[state, words] :
         {std::pair(State::Settled, tr("%1 handled")), std::pair(State::Released, tr("%1 to be sent again")),
          std::pair(State::NotThere, tr("%1 not there")), std::pair(State::Refused, tr("%1 refused")),
          std::pair(State::Failed, tr("%1 failed"))}) {
        if (const auto number = count(state); number > 0)
            parts += words.arg(countText(number));
    }
    const bool bad = count(State::Refused) + count(State::Failed) > 0;
    if (outcomes.size() == 1 && (bad || outcomes.first().state == State::NotThere))
        say(shownText(outcomes.first().text), bad ? Tone::Failed : Tone::InDoubt);
    else
        say(parts.join(u" · "_s), bad ? Tone::Failed : count(State::NotThere) > 0 ? Tone::InDoubt : Tone::Sent);
    updateActs();
    refresh();
    if (!m_story->eventId().isEmpty())
        Q_EMIT storyRequested(m_story->eventId());
}

void DoubtsPanel::showActFailed(const QString &act)
{
    if (act != "settle"_L1)
        return;
    m_model->unlock();
    say({}, Tone::Muted);
    updateActs();
}

void DoubtsPanel::showStory(const EventStory &story)
{
    m_story->show(story);
}

void DoubtsPanel::setNow(const QDateTime &now)
{
    m_model->setNow(now);
}

void DoubtsPanel::setReady()
{
    m_ready = true;
    m_reading = m_readAgain = false;
    m_unavailable.clear();
    updateActs();
    updateWords();
    refresh();
}

void DoubtsPanel::setUnavailable(const QString &text)
{
    m_unavailable = text;
    m_ready = false;
    updateActs();
    updateWords();
}

void DoubtsPanel::ask(DoubtAct act)
{
    if (!canSettle(act))
        return;
    m_question = act;
    m_questioned = chosen();
    const bool one = m_questioned.size() == 1;
    const QString count = countText(m_questioned.size());
    switch (act) {
    case DoubtAct::Arrived:
        m_confirm->ask(
            one ? tr("Mark the chosen event as handled? Its e-mail counts as arrived: a redelivery or replay is "
                     "skipped. If it did not arrive, it is never sent.")
                : tr("Mark %1 chosen events as handled? Their e-mails count as arrived: a redelivery or "
                     "replay is skipped. What did not arrive is never sent.")
                      .arg(count),
            one ? tr("It arrived") : tr("%1 arrived").arg(count));
        break;
    case DoubtAct::SendAgain:
        m_confirm->ask(one ? tr("Let the chosen event be sent again? Nothing is sent now: its next delivery or replay "
                                "sends. Whoever has the first e-mail gets a second one.")
                           : tr("Let %1 chosen events be sent again? Nothing is sent now: the next delivery or replay "
                                "of each sends. Whoever has the first e-mail gets a second one.")
                                 .arg(count),
                       one ? tr("Send again") : tr("Send %1 again").arg(count));
        break;
    case DoubtAct::Ask:
        m_confirm->ask(one ? tr("Look for the e-mail of the chosen event in %1? If it is there, the event is marked as "
                                "handled; if not, you are told, and nothing changes.")
                                 .arg(shownText(m_maildir))
                           : tr("Look for the e-mails of %2 chosen events in %1? Those that are there are marked as "
                                "handled; of the others you are told, and nothing changes.")
                                 .arg(shownText(m_maildir), count),
                       tr("Ask"));
        break;
    }
    updateActs();
}

void DoubtsPanel::setReadOnly(bool readOnly)
{
    m_readOnly = readOnly;
    updateActs();
}

bool DoubtsPanel::canSettle(DoubtAct act) const
{
    return m_ready && !m_readOnly && !m_question && !chosen().isEmpty()
        && (act != DoubtAct::Ask || !m_maildir.isEmpty());
}

QWidget *DoubtsPanel::makeDetails()
{
    m_facts = new FactList;
    m_facts->add(tr("Event"), true);
    m_facts->add(tr("About"));
    m_facts->add(tr("Recipient"));
    m_facts->add(tr("In doubt since"));
    m_facts->add(tr("Why"));
    m_facts->add(tr("Server said"));
    m_facts->add(tr("Message-ID"), true);
    m_facts->add(tr("Delivery"));
    m_facts->add(tr("By"));
    auto *facts = new QWidget;
    auto *factsLayout = new QVBoxLayout(facts);
    factsLayout->setContentsMargins(0, 6, 0, 0); // its heading on the line of the other one's
    factsLayout->setSpacing(SpacingUnit);
    factsLayout->addWidget(new PlainLabel(tr("What is known"), PlainLabel::Role::Heading));
    factsLayout->addWidget(m_facts);
    factsLayout->addStretch(1);

    m_story = new StoryView;
    m_story->layout()->setContentsMargins(0, 6, 0, 0);
    auto *page = new QWidget;
    auto *layout = new QHBoxLayout(page);
    layout->setContentsMargins(2 * SpacingUnit, SpacingUnit - 2, 2 * SpacingUnit, SpacingUnit);
    layout->setSpacing(4 * SpacingUnit);
    layout->addWidget(new Column(facts), 9);
    layout->addWidget(m_story, 10);
    return page;
}

void DoubtsPanel::answered()
{
    const DoubtAct act = *std::exchange(m_question, std::nullopt);
    m_model->lock(m_questioned);
    say(act == DoubtAct::Ask ? tr("asking…") : tr("deciding…"), Tone::InFlight);
    updateActs();
    m_table->setFocus();
    Q_EMIT settleRequested(m_questioned, act);
}

QStringList DoubtsPanel::chosen() const
{
    QStringList eventIds;
    const QModelIndexList selected = m_table->selectedRowIndexes();
    for (const QModelIndex &index : selected) {
        const int row = m_filter->mapToSource(index).row();
        if (m_model->canSettle(row))
            eventIds += m_model->doubt(row).eventId;
    }
    return eventIds;
}

void DoubtsPanel::showCurrent()
{
    const QModelIndex current = m_filter->mapToSource(m_table->currentIndex());
    if (!current.isValid())
        return;
    const Doubt &doubt = m_model->doubt(current.row());
    m_facts->setValue(EventFact, shownText(doubt.eventId));
    m_facts->setValue(
        AboutFact,
        doubt.applicationId.isEmpty()
            ? orDash(typeText(doubt.eventType))
            : tr("%1 · application %2").arg(orDash(typeText(doubt.eventType)), shownText(doubt.applicationId)));
    m_facts->setValue(RecipientFact, orDash(doubt.recipient));
    m_facts->setValue(SinceFact, dayAndTime(doubt.since), utcText(doubt.since));
    m_facts->setValue(ReasonFact, orDash(doubt.reason));
    m_facts->setValue(ReplyFact, orDash(doubt.mailReply));
    m_facts->setValue(MailIdFact, orDash(doubt.mailMessageId));
    QStringList delivery;
    if (!doubt.messageId.isEmpty())
        delivery += tr("message %1").arg(compactId(doubt.messageId));
    if (doubt.lane > 0)
        delivery += tr("lane %1").arg(doubt.lane);
    m_facts->setValue(DeliveryFact, orDash(delivery.join(u" · "_s)));
    m_facts->setValue(ByFact,
                      doubt.worker.isEmpty() ? shownText(doubt.strategy)
                                             : tr("%1 · %2").arg(shownText(doubt.worker), shownText(doubt.strategy)));
    if (doubt.eventId != m_story->eventId()) {
        m_story->expect(doubt.eventId);
        Q_EMIT storyRequested(doubt.eventId);
    }
}

void DoubtsPanel::updateActs()
{
    m_arrived->setEnabled(canSettle(DoubtAct::Arrived));
    m_again->setEnabled(canSettle(DoubtAct::SendAgain));
    m_ask->setEnabled(canSettle(DoubtAct::Ask));
    const QString why = readOnlyReason();
    for (QWidget *button : {static_cast<QWidget *>(m_arrived), static_cast<QWidget *>(m_again)})
        button->setToolTip(m_readOnly ? toolTipText(why) : QString());
    m_ask->setToolTip(toolTipText(m_readOnly ? why
                                      : m_ready && m_read && m_maildir.isEmpty()
                                      ? tr("There is no Maildir to ask: name the receiving side's with --ask-maildir.")
                                      : tr("Look for the Message-ID where the e-mail should have arrived.")));
    Q_EMIT canSettleChanged();
}

void DoubtsPanel::updateWords()
{
    EmptyState *words = m_table->emptyState();
    m_rows->setHint(m_model->rowCount() > 0 ? tr("Choose an event to see what is known and its story.") : QString());
    const int over = m_model->overCount();
    if (!m_unavailable.isEmpty()) {
        words->setWords(u"warning"_s, tr("Nothing can be read"), m_unavailable);
    } else if (m_model->rowCount() > 0) {
        words->setWords(u"search"_s, tr("No event in doubt matches"),
                        tr("The search looks in ids, type, application, recipient, reason, reply and Message-ID."),
                        tr("Clear the search"));
    } else if (!m_error.isEmpty()) {
        words->setWords(u"warning"_s, tr("The events in doubt could not be read"), m_error, tr("Read again"));
    } else if (!m_read) {
        words->setWords(u"clock"_s, tr("Reading the events in doubt…"),
                        tr("They come from the database and the journal."));
    } else {
        words->setWords(
            u"check"_s, tr("No event is in doubt"),
            tr("An event gets here when nobody knows whether its e-mail was sent: the mail server's last answer "
               "was lost, or a worker died while it sent. Here you say that it arrived, let it be sent again, "
               "or ask the mailbox.")
                + (over > 0 ? u"\n"_s
                           + (over == 1
                                  ? tr("1 such event is settled: sent again, or handled.")
                                  : tr("%1 such events are settled: sent again, or handled.").arg(countText(over)))
                            : QString()),
            over > 0 && !m_over->isChecked() ? tr("Show them") : QString());
    }
}

void DoubtsPanel::say(const QString &text, Tone tone)
{
    m_outcome->setPlain(text);
    m_outcome->setTone(tone);
}

} // namespace sendonce
