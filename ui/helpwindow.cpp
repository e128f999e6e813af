#include "ui/helpwindow.h"

#include "ui/icons.h"
#include "ui/plainlabel.h"

#include <QAction>
#include <QGridLayout>
#include <QMenu>
#include <QMenuBar>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

class Sheet : public QWidget
{
protected:
    void paintEvent(QPaintEvent *) override { QPainter(this).fillRect(rect(), tokensOf(this).panel); }
};

void addSection(QVBoxLayout *layout, const QString &heading, const QStringList &paragraphs)
{
    layout->addSpacing(SpacingUnit);
    layout->addWidget(new PlainLabel(heading, PlainLabel::Role::Strong));
    for (const QString &paragraph : paragraphs) {
        auto *text = new PlainLabel(paragraph);
        text->setWordWrap(true);
        layout->addWidget(text);
    }
}

void addShortcuts(QGridLayout *grid, const QList<QAction *> &actions, const QString &path)
{
    for (QAction *action : actions) {
        QString name = action->text();
        name.remove(u'&');
        if (action->menu()) {
            addShortcuts(grid, action->menu()->actions(), path.isEmpty() ? name : path + u" > "_s + name);
            continue;
        }
        QStringList keys;
        for (const QKeySequence &sequence : action->shortcuts())
            keys += sequence.toString(QKeySequence::NativeText);
        if (keys.isEmpty())
            continue;
        const int row = grid->rowCount();
        auto *where = new PlainLabel(path);
        where->setTone(Tone::Muted);
        grid->addWidget(new PlainLabel(keys.join(u", "_s), PlainLabel::Role::Monospace), row, 0);
        grid->addWidget(new PlainLabel(name), row, 1);
        grid->addWidget(where, row, 2);
    }
}

} // namespace

HelpWindow::HelpWindow(const QMenuBar *menus, QWidget *parent) : QDialog(parent), m_scroll(new QScrollArea)
{
    setWindowTitle(tr("Sendonce help"));
    auto *sheet = new Sheet;
    auto *layout = new QVBoxLayout(sheet);
    layout->setContentsMargins(3 * SpacingUnit, SpacingUnit, 3 * SpacingUnit, 3 * SpacingUnit);
    addSection(layout, tr("What it does"),
               {tr("A worker takes job-board events from a queue and sends one e-mail for each, even when the same "
                   "event arrives "
                   "twice. The memory of what was sent is a unique row in the database, written in the same "
                   "transaction that the "
                   "e-mail is sent in: committed together, or not at all.")});
    addSection(
        layout, tr("Try this"),
        {tr("1. Press Start, then Send one event: a row appears in Processed events, one e-mail in Mailbox."),
         tr("2. Press Inject duplicate: two messages, one event. One e-mail is sent, the other message is skipped."),
         tr("3. Press Fail next mails, arm 3, send an event. The claim is rolled back, the queue delivers it again "
            "after 30 "
            "seconds, and after three failures it is in Dead letters. Browse, Replay: one e-mail.")});
    addSection(layout, tr("What the words mean"),
               {tr("visible: waiting. in flight: received by somebody and not deleted. delayed: not yet visible. dead "
                   "letters: "
                   "failed three times. The queue's numbers are approximate."),
                tr("mailed: the mail server took it. skipped: it was handled before. failed: nothing was sent, the "
                   "queue delivers it "
                   "again. in doubt: the mail server's last answer was lost, so perhaps it was sent; In doubt lists "
                   "them, and you "
                   "decide: it arrived, send it again, or ask the mailbox."),
                tr("Copies in Mailbox: 1 is the proof. 2 is red: somebody got the same e-mail twice.")});
    addSection(
        layout, tr("Panels"),
        {tr("Every panel can be dragged by its heading or its tab, floated, put beside another one, or hidden "
            "(View > Panels). "
            "View > Reset layout puts them back. Choosing an event in one panel marks it in all of them."),
         tr("Queue: how many messages wait, and how that went. Send and inject: events and duplicates of your own. "
            "Log: what the worker says. Check: queue, database and mail server looked at, and what to do about "
            "each finding. Audit: who replayed, edited, deleted or settled what, and when."),
         tr("Faults: make mail server, queue, database or worker fail on purpose, by a ready-made fault or one of "
            "your own. Scenarios: stories of what can go wrong, each run in a world of its own and judged. "
            "Guarantee matrix: several designs, the failing ones too, measured under each thing that can go "
            "wrong."),
         tr("View > Workspace arranges the panels. Demo: scenarios, mailbox and log, for an audience. Support: dead "
            "letters, processed events, doubts and audit; nothing that makes anything fail. QA: faults, "
            "scenarios, matrix and log.")});

    layout->addSpacing(SpacingUnit);
    m_shortcuts = new PlainLabel(tr("Keyboard"), PlainLabel::Role::Strong);
    layout->addWidget(m_shortcuts);
    auto *grid = new QGridLayout;
    grid->setHorizontalSpacing(3 * SpacingUnit);
    grid->setVerticalSpacing(SpacingUnit / 2);
    grid->setColumnStretch(2, 1);
    addShortcuts(grid, menus->actions(), {});
    for (const auto &[keys, what] : {std::pair(u"Ctrl+C"_s, tr("Copy the chosen rows as tab-separated text")),
                                     std::pair(u"Esc"_s, tr("Empty the search; say no to a question; close a form")),
                                     std::pair(u"Alt"_s, tr("With an underlined letter: open that menu"))}) {
        const int row = grid->rowCount();
        grid->addWidget(new PlainLabel(keys, PlainLabel::Role::Monospace), row, 0);
        grid->addWidget(new PlainLabel(what), row, 1, 1, 2);
    }
    layout->addLayout(grid);
    layout->addStretch(1);

    m_scroll->setWidget(sheet);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setAccessibleName(tr("Help"));
    auto *outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(m_scroll);
    const int unit = fontMetrics().height();
    resize(46 * unit, 42 * unit);
}

void HelpWindow::showHelp()
{
    show();
    raise();
    activateWindow();
    m_scroll->verticalScrollBar()->setValue(0);
}

void HelpWindow::showShortcuts()
{
    showHelp();
    layout()->activate();
    m_scroll->verticalScrollBar()->setValue(m_shortcuts->y() - SpacingUnit);
}

AboutWindow::AboutWindow(QWidget *parent) : QDialog(parent)
{
    setWindowTitle(tr("About Sendonce"));
    auto *picture = new QLabel;
    picture->setPixmap(applicationIcon().pixmap(QSize(64, 64), devicePixelRatioF()));
    auto *words = new QVBoxLayout;
    words->setSpacing(SpacingUnit / 2);
    words->addWidget(
        new PlainLabel(tr("Sendonce %1").arg(QLatin1StringView(SENDONCE_VERSION)), PlainLabel::Role::Strong));
    words->addWidget(new PlainLabel(tr("One e-mail for each event, even when the event arrives twice.")));
    auto *licence = new PlainLabel(tr("MIT licence. Made with Qt %1.").arg(QLatin1StringView(qVersion())));
    licence->setTone(Tone::Muted);
    words->addWidget(licence);
    words->addStretch(1);
    auto *close = new QPushButton(tr("Close"));
    close->setDefault(true);
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    auto *layout = new QGridLayout(this);
    layout->setContentsMargins(3 * SpacingUnit, 3 * SpacingUnit, 3 * SpacingUnit, 2 * SpacingUnit);
    layout->setHorizontalSpacing(3 * SpacingUnit);
    layout->setVerticalSpacing(2 * SpacingUnit);
    layout->addWidget(picture, 0, 0, Qt::AlignTop);
    layout->addLayout(words, 0, 1);
    layout->addWidget(close, 1, 1, Qt::AlignRight);
}

} // namespace sendonce
