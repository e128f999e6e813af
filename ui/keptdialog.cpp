#include "ui/keptdialog.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/emptystate.h"
#include "ui/keptmodel.h"
#include "ui/rights.h"
#include "ui/rowtable.h"
#include "ui/searchfield.h"

#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

constexpr int Limit = 1000; // newest

} // namespace

KeptDialog::KeptDialog(QWidget *parent)
    : ActDialog(tr("Kept copies"), tr("Put back"), parent)
    , m_model(new KeptModel(this))
    , m_filter(new QSortFilterProxyModel(this))
    , m_search(new SearchField(tr("event, message, who…")))
    , m_table(new RowTable(tr("Kept copies")))
{
    setObjectName(u"keptDialog"_s);
    setWords(tr("A copy is kept of each letter that was deleted or edited. Put back, it lies in the dead letter queue "
                "again, as a new message."));
    m_filter->setSourceModel(m_model);
    m_filter->setFilterRole(SearchRole);
    m_filter->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_table->setModel(m_filter);
    m_table->setColumnSample(KeptModel::KeptAt, u"2026-03-01 14:05:41"_s, Face::Figures);
    m_table->setColumnSample(KeptModel::By, u"someone"_s);
    m_table->setColumnSample(KeptModel::Event, u"23e48c51-7f0e…9a41"_s, Face::Monospace);
    m_table->setColumnSample(KeptModel::MessageId, u"23e48c51-7f0e…9a41"_s, Face::Monospace);
    m_table->setStretchColumn(KeptModel::PutBack);
    m_table->emptyState()->setWords(u"list"_s, tr("No copy is kept"),
                                    tr("Of each dead letter that is deleted, a copy is kept here."));
    fields()->addWidget(m_search);
    fields()->addWidget(m_table, 1);
    noButton()->setText(tr("Close"));
    const int unit = fontMetrics().height();
    resize(52 * unit, 28 * unit);

    connect(m_search, &SearchField::searched, m_filter, &QSortFilterProxyModel::setFilterFixedString);
    connect(m_search, &SearchField::left, m_table, [this] { m_table->setFocus(); });
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &KeptDialog::follow);
    connect(m_filter, &QAbstractItemModel::modelReset, this, &KeptDialog::follow);
    connect(this, &ActDialog::confirmed, this, [this] {
        const QList<qint64> ids = chosen();
        setBusy(tr("Putting back…"));
        Q_EMIT putBackWanted(ids);
    });
    QMetaObject::invokeMethod(
        this, [this] { Q_EMIT queried(Limit); }, Qt::QueuedConnection);
    follow();
}

void KeptDialog::setReadOnly(bool readOnly)
{
    m_readOnly = readOnly;
    follow();
}

void KeptDialog::showLetters(const KeptLetters &letters)
{
    m_model->setLetters(letters.letters);
    if (!letters.error.isEmpty())
        showFailure(letters.error);
    follow();
}

void KeptDialog::showPutBack(const ActReport &report)
{
    ActReport partial = report; // it stays open for more
    showFailure({});
    setNote(partial.problems.isEmpty() ? partial.text : partial.text + u"\n"_s + partial.problems.join(u'\n'),
            partial.failed > 0 ? Tone::Failed : Tone::Sent);
    Q_EMIT queried(Limit);
    follow();
}

QList<qint64> KeptDialog::chosen() const
{
    QList<qint64> ids;
    const QModelIndexList selected = m_table->selectedRowIndexes();
    for (const QModelIndex &index : selected) {
        const KeptLetter &letter = m_model->letter(m_filter->mapToSource(index).row());
        if (letter.putBackAs.isEmpty())
            ids += letter.id;
    }
    return ids;
}

void KeptDialog::follow()
{
    if (isBusy())
        return;
    const qsizetype count = chosen().size();
    yesButton()->setText(count > 0 ? tr("Put back %1").arg(countText(count)) : tr("Put back"));
    setPossible(m_readOnly       ? readOnlyReason()
                    : count == 0 ? tr("Choose copies that were not put back yet")
                                 : QString());
}

} // namespace sendonce
