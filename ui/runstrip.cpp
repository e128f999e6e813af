#include "ui/runstrip.h"

#include "ui/displaytext.h"
#include "ui/plainlabel.h"
#include "ui/rights.h"
#include "ui/runwords.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

constexpr int BarHeight = 3; // px

} // namespace

RunStrip::RunStrip(QWidget *parent)
    : QWidget(parent)
    , m_name(new PlainLabel({}, PlainLabel::Role::Strong))
    , m_state(new PlainLabel)
    , m_counts(new PlainLabel({}, PlainLabel::Role::Caption))
    , m_pause(new QPushButton(tr("&Pause")))
    , m_resume(new QPushButton(tr("&Resume")))
    , m_cancel(new QPushButton(tr("Cancel run")))
    , m_all(new QPushButton(tr("Runs…")))
    , m_close(new QPushButton(tr("Close")))
{
    m_state->setElided(Qt::ElideRight);
    m_state->setObjectName(u"runState"_s);
    m_counts->setTabular(true);
    m_counts->setObjectName(u"runCounts"_s);
    m_pause->setObjectName(u"runPause"_s);
    m_resume->setObjectName(u"runResume"_s);
    m_cancel->setObjectName(u"runCancel"_s);
    m_all->setObjectName(u"runAll"_s);
    m_close->setObjectName(u"runClose"_s);
    m_close->setAccessibleName(tr("Close the line about this replay"));
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(2 * SpacingUnit, SpacingUnit / 2, SpacingUnit + 4, SpacingUnit / 2 + BarHeight);
    layout->setSpacing(SpacingUnit);
    auto *line = new QHBoxLayout;
    line->setSpacing(SpacingUnit);
    line->addWidget(m_name);
    line->addWidget(m_state, 1);
    auto *words = new QVBoxLayout;
    words->setSpacing(2);
    words->addLayout(line);
    words->addWidget(m_counts);
    layout->addLayout(words, 1);
    for (QPushButton *button : {m_pause, m_resume, m_cancel, m_all, m_close})
        layout->addWidget(button);

    connect(m_pause, &QPushButton::clicked, this, [this] { Q_EMIT pauseRequested(m_run.run); });
    connect(m_resume, &QPushButton::clicked, this, [this] { Q_EMIT resumeRequested(m_run.run); });
    connect(m_cancel, &QPushButton::clicked, this, [this] { Q_EMIT cancelRequested(m_run.run); });
    connect(m_all, &QPushButton::clicked, this, &RunStrip::allRequested);
    connect(m_close, &QPushButton::clicked, this, [this] {
        hide();
        Q_EMIT closed(m_run.run);
    });
    hide();
}

void RunStrip::show(const ReplayProgress &run, int others)
{
    m_run = run;
    m_others = others;
    follow();
    QWidget::show();
}

void RunStrip::setReadOnly(bool readOnly)
{
    m_readOnly = readOnly;
    follow();
}

void RunStrip::follow()
{
    m_name->setPlain(runName(m_run));
    m_state->setPlain(runStateWords(m_run));
    m_state->setTone(runTone(m_run));
    const QString outcomes = runOutcomeWords(m_run);
    QString counts = runCountWords(m_run);
    if (!outcomes.isEmpty())
        counts += u" — "_s + outcomes;
    m_counts->setPlain(counts);
    m_pause->setVisible(canPause(m_run));
    m_resume->setVisible(canResume(m_run));
    m_cancel->setVisible(canCancel(m_run));
    m_close->setVisible(m_run.isOver());
    m_all->setText(m_others > 0 ? tr("%1 more…").arg(countText(m_others)) : tr("Runs…"));
    for (QPushButton *button : {m_pause, m_resume, m_cancel})
        button->setEnabled(!m_readOnly);
    const QString why = m_readOnly ? readOnlyReason() : QString();
    m_pause->setToolTip(toolTipText(why));
    m_resume->setToolTip(toolTipText(why));
    m_cancel->setToolTip(
        toolTipText(m_readOnly ? why : tr("What is on its way is settled; the others stay dead letters")));
    setAccessibleName(u"%1, %2, %3"_s.arg(m_name->text(), m_state->text(), counts));
    update();
}

void RunStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const Tokens &tokens = tokensOf(this);
    painter.fillRect(rect(), tokens.header);
    QRect bar(0, height() - BarHeight, width(), BarHeight);
    painter.fillRect(bar, tokens.line);
    if (m_run.total <= 0)
        return;
    const int done = int(double(width()) * double(m_run.done) / double(m_run.total));
    const int failed = int(double(width()) * double(m_run.failed) / double(m_run.total));
    painter.fillRect(QRect(0, bar.y(), done, BarHeight), tokens.sent);
    painter.fillRect(QRect(done, bar.y(), failed, BarHeight), tokens.failed);
}

} // namespace sendonce
