#include "ui/letterfiledialog.h"

#include "ui/displaytext.h"

#include <QDir>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>

using namespace Qt::StringLiterals;

namespace sendonce {

LetterFileDialog::LetterFileDialog(Way way, qsizetype letters, QWidget *parent)
    : ActDialog({}, way == Way::Export ? tr("Export") : tr("Import"), parent)
    , m_way(way)
    , m_path(new QLineEdit)
    , m_first(new QRadioButton)
    , m_second(new QRadioButton)
{
    const bool out = way == Way::Export;
    setObjectName(out ? u"exportDialog"_s : u"importDialog"_s);
    setHeading(!out               ? tr("Import letters")
                   : letters == 1 ? tr("Export 1 dead letter")
                                  : tr("Export %1 dead letters").arg(countText(letters)));
    setWords(out ? tr("They stay where they are.")
                 : tr("The letters of an export are sent as new messages, with their bodies and attributes."));
    m_path->setObjectName(u"filePath"_s);
    m_path->setPlaceholderText(tr("File"));
    m_path->setAccessibleName(tr("File"));
    auto *browse = new QPushButton(tr("&Choose…"));
    browse->setAutoDefault(false);
    browse->setObjectName(u"chooseFile"_s);
    m_first->setText(out ? tr("&JSON lines: nothing is lost, and it can be imported")
                         : tr("Into the &dead letter queue: to be looked at first"));
    m_second->setText(out ? tr("C&SV: for a spreadsheet; what it would run is made harmless")
                          : tr("Into the &queue itself: they are worked on at once"));
    m_second->setObjectName(u"fileSecond"_s);
    m_first->setChecked(true);
    auto *line = new QHBoxLayout;
    line->setSpacing(SpacingUnit);
    line->addWidget(m_path, 1);
    line->addWidget(browse);
    fields()->addWidget(m_first);
    fields()->addWidget(m_second);
    fields()->addLayout(line);
    if (out)
        m_path->setText(QDir::home().filePath(u"dead-letters.jsonl"_s));
    connect(browse, &QPushButton::clicked, this, &LetterFileDialog::choose);
    connect(m_path, &QLineEdit::textChanged, this, &LetterFileDialog::follow);
    connect(m_second, &QRadioButton::toggled, this, [this, out](bool second) {
        QString path = m_path->text();
        const QString was = second ? u".jsonl"_s : u".csv"_s;
        if (out && path.endsWith(was))
            m_path->setText(path.chopped(was.size()) + (second ? u".csv"_s : u".jsonl"_s));
    });
    connect(this, &ActDialog::confirmed, this, &LetterFileDialog::begin);
    follow();
}

void LetterFileDialog::choose()
{
    auto *dialog = new QFileDialog(this, windowTitle(), QFileInfo(m_path->text()).path());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    if (m_way == Way::Export) {
        dialog->setAcceptMode(QFileDialog::AcceptSave);
        dialog->setDefaultSuffix(m_second->isChecked() ? u"csv"_s : u"jsonl"_s);
        dialog->selectFile(QFileInfo(m_path->text()).fileName());
    } else {
        dialog->setFileMode(QFileDialog::ExistingFile);
        dialog->setNameFilters({tr("JSON lines (*.jsonl *.json)"), tr("All files (*)")});
    }
    connect(dialog, &QFileDialog::fileSelected, m_path, &QLineEdit::setText);
    dialog->open();
}

void LetterFileDialog::follow()
{
    if (!isBusy())
        setPossible(m_path->text().trimmed().isEmpty() ? tr("Choose a file") : QString());
}

void LetterFileDialog::begin()
{
    const QString path = QFileInfo(m_path->text().trimmed()).absoluteFilePath();
    setBusy(m_way == Way::Export ? tr("Writing…") : tr("Sending…"));
    if (m_way == Way::Export)
        Q_EMIT exportWanted(path, m_second->isChecked());
    else
        Q_EMIT importWanted(path, m_second->isChecked());
}

} // namespace sendonce
