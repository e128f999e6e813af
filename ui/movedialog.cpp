#include "ui/movedialog.h"

#include "ui/displaytext.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>

using namespace Qt::StringLiterals;

namespace sendonce {

MoveDialog::MoveDialog(const QString &queueName, qint64 about, QWidget *parent)
    : ActDialog(tr("Move all dead letters back"), tr("Move all"), parent)
    , m_limit(new QCheckBox(tr("At &most this many messages a second:")))
    , m_perSecond(new QSpinBox)
    , m_bar(new QProgressBar)
    , m_cancel(addButton(tr("&Cancel the task")))
{
    setObjectName(u"moveDialog"_s);
    setWords(
        (about < 0 ? tr("The queue itself moves everything in %1 back, each message to the queue it came from.")
                         .arg(shownText(queueName))
                   : tr("The queue itself moves everything in %1 back, about %2, each message to the queue it "
                        "came from.")
                         .arg(shownText(queueName), countText(about)))
        + u"\n\n"_s
        + tr("What it cannot do: it takes all, without verdicts, so what was handled goes back too and is skipped; "
             "it shows no outcome of each letter, knows no canary and does not stop after failures; messages get "
             "new ids; what is moved before a cancel stays moved; and what cannot be read here by a browse is "
             "moved as well. It costs no receives. To choose, browse and replay instead."));
    m_limit->setObjectName(u"moveLimit"_s);
    m_perSecond->setObjectName(u"movePerSecond"_s);
    m_perSecond->setRange(1, 500);
    m_perSecond->setValue(50);
    m_perSecond->setEnabled(false);
    m_perSecond->setAccessibleName(tr("Messages a second"));
    m_bar->setObjectName(u"moveBar"_s);
    m_bar->setTextVisible(false);
    m_bar->hide();
    m_cancel->setObjectName(u"moveCancel"_s);
    m_cancel->setEnabled(false);
    noButton()->setText(tr("Close"));
    auto *line = new QHBoxLayout;
    line->addWidget(m_limit);
    line->addWidget(m_perSecond);
    line->addStretch(1);
    fields()->addLayout(line);
    fields()->addWidget(m_bar);

    connect(m_limit, &QCheckBox::toggled, m_perSecond, &QWidget::setEnabled);
    connect(m_cancel, &QPushButton::clicked, this, &MoveDialog::cancelWanted);
    connect(this, &ActDialog::confirmed, this, [this] {
        m_started = true;
        setBusy(tr("Starting…"));
        Q_EMIT startWanted(m_limit->isChecked() ? m_perSecond->value() : 0);
    });
    QMetaObject::invokeMethod(this, &MoveDialog::queried, Qt::QueuedConnection);
}

void MoveDialog::showProgress(const MoveTaskProgress &progress)
{
    using State = MoveTaskProgress::State;
    m_cancel->setEnabled(progress.canCancel);
    m_bar->setVisible(progress.isUnderWay()); // the words that follow make room for it
    m_bar->setRange(0, progress.toMove > 0 ? int(std::min<qint64>(progress.toMove, INT_MAX)) : 0);
    m_bar->setValue(int(std::min<qint64>(progress.moved, INT_MAX)));
    const QString moved = progress.toMove >= 0
        ? tr("about %1 of %2 moved").arg(countText(progress.moved), countText(progress.toMove))
        : tr("about %1 moved").arg(countText(progress.moved));
    const QString why = progress.text.isEmpty() ? QString() : u"\n"_s + progress.text;
    switch (progress.state) {
    case State::None:
        if (!m_started)
            showFailure({});
        return;
    case State::Starting:
        setBusy(tr("Starting…"));
        return;
    case State::Running:
        setBusy(tr("Moving: %1").arg(moved) + why);
        return;
    case State::Cancelling:
        setBusy(tr("Cancelling: %1").arg(moved) + why);
        return;
    case State::Completed:
    case State::Cancelled:
        showFailure({});
        setNote((!m_started                               ? tr("The last task: %1")
                     : progress.state == State::Completed ? tr("Completed: %1")
                                                          : tr("Cancelled: %1"))
                    .arg(moved),
                m_started ? Tone::Sent : Tone::Muted);
        return;
    case State::Failed:
    case State::Unknown:
        showFailure(progress.text.isEmpty() ? tr("It failed: %1").arg(moved) : progress.text);
        return;
    }
}

} // namespace sendonce
