#include "ui/checkpanel.h"

#include "ui/checkmodel.h"
#include "ui/displaytext.h"
#include "ui/emptystate.h"
#include "ui/icons.h"
#include "ui/plainlabel.h"
#include "ui/rowtable.h"

#include <QBoxLayout>
#include <QEvent>
#include <QHeaderView>
#include <QPainter>
#include <QPushButton>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

/// Two lines of words in the panel's colour, with a hairline above.
class Details : public QWidget
{
public:
    Details(PlainLabel *text, PlainLabel *remedy)
    {
        auto *layout = new QVBoxLayout(this);
        layout->setContentsMargins(SpacingUnit + 4, SpacingUnit, SpacingUnit + 4, SpacingUnit);
        layout->setSpacing(SpacingUnit / 2);
        for (PlainLabel *label : {text, remedy}) {
            label->setWordWrap(true);
            label->setTextInteractionFlags(Qt::TextSelectableByMouse);
            layout->addWidget(label);
        }
        layout->addStretch(1);
        follow();
    }

protected:
    void changeEvent(QEvent *event) override
    {
        QWidget::changeEvent(event);
        if (event->type() == QEvent::FontChange)
            follow();
    }
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        painter.fillRect(QRect(0, 0, width(), 1), tokensOf(this).line);
    }

private:
    /// The same height whatever is chosen: nothing jumps while the rows are walked through.
    void follow() { setFixedHeight(7 * fontMetrics().lineSpacing() + 3 * SpacingUnit); }
};

} // namespace

CheckPanel::CheckPanel(QWidget *parent)
    : Panel(parent)
    , m_model(new CheckModel(this))
    , m_words(new PlainLabel)
    , m_again(new QPushButton(icon(u"refresh"_s), tr("Check")))
    , m_table(new RowTable(tr("Check")))
    , m_text(new PlainLabel)
    , m_remedy(new PlainLabel)
{
    m_again->setObjectName(u"checkAgain"_s);
    m_words->setTone(Tone::Muted);
    m_words->setTabular(true);
    m_remedy->setTone(Tone::Muted);
    auto *bar = new PanelBar;
    auto *barLayout = static_cast<QBoxLayout *>(bar->layout());
    barLayout->addWidget(m_words);
    barLayout->addStretch(1);
    barLayout->addWidget(m_again);

    m_table->setModel(m_model);
    m_table->setColumnSample(CheckModel::Level, tr("warning"), Face::Body, true);
    m_table->setStretchColumn(CheckModel::Text);
    m_table->horizontalHeader()->setSectionResizeMode(CheckModel::Remedy, QHeaderView::Stretch);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(bar);
    layout->addWidget(m_table, 1);
    layout->addWidget(new Details(m_text, m_remedy));

    connect(m_again, &QPushButton::clicked, this, &CheckPanel::check);
    connect(m_table->emptyState(), &EmptyState::acted, this, &CheckPanel::check);
    connect(m_table, &RowTable::currentRowChanged, this, &CheckPanel::showCurrent);
    updateWords();
    showCurrent();
}

void CheckPanel::check()
{
    if (m_checking)
        return;
    m_model->clear();
    setChecking(true);
    showCurrent();
    Q_EMIT checkRequested();
}

void CheckPanel::addLine(const CheckLine &line)
{
    m_model->append(line);
    updateWords();
}

void CheckPanel::finish()
{
    m_checked = true;
    setChecking(false);
    // What has to be put right first, unless the person looks at something already.
    int row = m_model->firstOf(CheckLine::Level::Error);
    if (row < 0)
        row = m_model->firstOf(CheckLine::Level::Warning);
    if (row >= 0 && !m_table->currentIndex().isValid())
        m_table->selectRow(row);
}

void CheckPanel::setChecking(bool checking)
{
    m_checking = checking;
    m_again->setEnabled(!checking);
    updateWords();
    Q_EMIT checkingChanged(checking);
}

void CheckPanel::updateWords()
{
    const int errors = m_model->count(CheckLine::Level::Error);
    const int warnings = m_model->count(CheckLine::Level::Warning);
    const int good = m_model->count(CheckLine::Level::Ok);
    QString words = tr("in order %1 · warnings %2 · errors %3").arg(good).arg(warnings).arg(errors);
    if (m_checking)
        words = tr("Checking… %1").arg(words);
    m_words->setPlain(m_checking || m_checked ? words : QString());
    m_words->setTone(errors > 0 ? Tone::Failed : warnings > 0 ? Tone::InDoubt : Tone::Muted);
    if (m_checking)
        m_table->emptyState()->setWords(u"clock"_s, tr("Checking the services…"),
                                        tr("Each finding appears as soon as it is known."));
    else
        m_table->emptyState()->setWords(
            u"check"_s, tr("The services have not been checked yet"),
            tr("A check looks at queue, database and mail server, changes nothing, and says what to "
               "put right."),
            tr("Check"));
}

void CheckPanel::showCurrent()
{
    const QModelIndex current = m_table->currentIndex();
    const bool any = current.isValid();
    m_text->setPlain(any ? m_model->line(current.row()).text : QString());
    QString remedy;
    if (any)
        remedy = m_model->line(current.row()).remedy.isEmpty() ? tr("Nothing has to be done.")
                                                               : m_model->line(current.row()).remedy;
    m_remedy->setPlain(remedy);
}

} // namespace sendonce
