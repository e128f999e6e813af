#include "ui/matrixview.h"

#include "ui/celldelegate.h"
#include "ui/emptystate.h"
#include "ui/icons.h"
#include "ui/matrixmodel.h"
#include "ui/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

constexpr int Padding = SpacingUnit / 2; ///< at the left and right of a cell and of a title above it
constexpr int MostLines = 5; ///< of a title
constexpr int WidestColumn = 116; ///< px at the default font

int scaled(int pixels)
{
    return pixels * QApplication::font().pixelSize() / 13;
}

/// The longest word decides how narrow a column can be.
int widestWord(const QFontMetrics &metrics, const QString &text)
{
    int widest = 0;
    for (const QString &word : text.split(u' ', Qt::SkipEmptyParts))
        widest = std::max(widest, metrics.horizontalAdvance(word));
    return widest;
}

/// What goes wrong, wrapped to the width of its column.
class HazardHeader : public QHeaderView
{
public:
    explicit HazardHeader(QWidget *parent) : QHeaderView(Qt::Horizontal, parent)
    {
        setHighlightSections(false);
        setSectionsClickable(false);
        setFocusPolicy(Qt::NoFocus);
        setMinimumSectionSize(24);
    }

    QSize sizeHint() const override
    {
        const QFontMetrics metrics(headingFont());
        int height = metrics.height();
        for (int column = 0; column < count(); ++column) {
            const QRect room(0, 0, sectionSize(column) - 2 * Padding, MostLines * metrics.lineSpacing());
            height = std::max(height, metrics.boundingRect(room, Flags, titleOf(column)).height());
        }
        return QSize(QHeaderView::sizeHint().width(), height + SpacingUnit + 3);
    }

protected:
    void paintSection(QPainter *painter, const QRect &rect, int column) const override
    {
        const Tokens &tokens = tokensOf(this);
        painter->save();
        painter->fillRect(rect, tokens.header);
        painter->fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), tokens.line);
        painter->setFont(headingFont());
        painter->setPen(tokens.muted);
        painter->drawText(rect.adjusted(Padding, 3, -Padding, -Padding - 1), Flags | Qt::AlignBottom, titleOf(column));
        painter->restore();
    }

private:
    static constexpr int Flags = int(Qt::AlignHCenter) | int(Qt::TextWordWrap);

    QString titleOf(int column) const { return model()->headerData(column, Qt::Horizontal).toString(); }
};

/// The designs, each with what it is for.
class DesignHeader : public QHeaderView
{
public:
    explicit DesignHeader(QWidget *parent) : QHeaderView(Qt::Vertical, parent)
    {
        setHighlightSections(false);
        setSectionsClickable(false);
        setSectionResizeMode(QHeaderView::Fixed);
        setFocusPolicy(Qt::NoFocus);
    }

    QSize sizeHint() const override
    {
        const QFontMetrics title(strongFont()), caption(captionFont());
        int width = scaled(120);
        for (int row = 0; row < count(); ++row) {
            width = std::max({width, title.horizontalAdvance(model()->headerData(row, Qt::Vertical).toString()),
                              caption.horizontalAdvance(captionOf(row))});
        }
        // A long title is cut rather than the cells.
        return QSize(std::min(width, scaled(230)) + 3 * SpacingUnit, QHeaderView::sizeHint().height());
    }

protected:
    void paintSection(QPainter *painter, const QRect &rect, int row) const override
    {
        const Tokens &tokens = tokensOf(this);
        const QRect text = rect.adjusted(SpacingUnit + 4, SpacingUnit / 2, -SpacingUnit, -SpacingUnit / 2);
        painter->save();
        painter->fillRect(rect, tokens.panel);
        painter->fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), tokens.line);
        const bool production = designOf(row).production;
        painter->setFont(production ? strongFont() : QApplication::font());
        painter->setPen(tokens.text);
        painter->drawText(text, int(Qt::AlignLeft | Qt::AlignTop),
                          painter->fontMetrics().elidedText(model()->headerData(row, Qt::Vertical).toString(),
                                                            Qt::ElideRight, text.width()));
        painter->setFont(captionFont());
        painter->setPen(production ? tokens.accent : tokens.muted);
        painter->drawText(text, int(Qt::AlignLeft | Qt::AlignBottom),
                          painter->fontMetrics().elidedText(captionOf(row), Qt::ElideRight, text.width()));
        painter->restore();
    }

    void paintEvent(QPaintEvent *event) override
    {
        QHeaderView::paintEvent(event);
        // Below the last design it is the panel that goes on, not the header.
        const int end = std::max(0, length() - offset());
        QPainter(viewport()).fillRect(QRect(0, end, width(), height()), tokensOf(this).panel);
    }

private:
    const MatrixDesign &designOf(int row) const { return static_cast<const MatrixModel *>(model())->design(row); }
    QString captionOf(int row) const
    {
        const MatrixDesign &design = designOf(row);
        return design.production && design.suppressing ? MatrixView::tr("production · copies dropped")
            : design.production                        ? MatrixView::tr("production")
            : design.suppressing                       ? MatrixView::tr("copies dropped")
                                                       : MatrixView::tr("to see it fail");
    }
};

/// Glyph and figure, a word below; framed where it is not what the design promises.
class MatrixDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const Tokens &tokens = tokensOf(option.palette);
        const MatrixLook look = lookOf(static_cast<const MatrixModel *>(index.model())->cell(index));
        const QRect rect = option.rect.adjusted(0, 0, -1, -1);
        const QColor tone = tokens.of(look.tone);
        const bool selected = option.state & QStyle::State_Selected;
        painter->save();
        painter->fillRect(option.rect, tokens.line);
        painter->fillRect(rect,
                          selected                       ? tokens.selection
                              : look.tone == Tone::Muted ? tokens.panel
                                                         : mixed(tokens.panel, tone, 0.09));
        if (look.isOff || selected) {
            painter->setPen(QPen(selected ? tokens.accent : tokens.failed, 2));
            painter->drawRect(rect.adjusted(1, 1, -1, -1));
        }
        painter->setFont(strongFont());
        const QFontMetrics figures = painter->fontMetrics();
        const int glyph = look.glyph.isEmpty() ? 0 : iconEdge() - 2;
        const int gap = glyph ? SpacingUnit / 2 : 0;
        const int width = glyph + gap + figures.horizontalAdvance(look.figure);
        const QFontMetrics words(smallFont());
        const int height = figures.height() + (look.word.isEmpty() ? 0 : words.height());
        const int top = rect.top() + (rect.height() - height) / 2;
        const int left = rect.left() + (rect.width() - width) / 2;
        if (glyph)
            drawIcon(painter, QRect(left, top, glyph, figures.height()), look.glyph, tone, glyph);
        painter->setPen(tone);
        painter->drawText(QRect(left + glyph + gap, top, figures.horizontalAdvance(look.figure) + 2, figures.height()),
                          int(Qt::AlignLeft | Qt::AlignVCenter), look.figure);
        painter->setFont(smallFont());
        painter->setPen(look.isOff ? tokens.failed : tone);
        painter->drawText(QRect(rect.left() + 2, top + figures.height(), rect.width() - 4, words.height()),
                          int(Qt::AlignCenter), words.elidedText(look.word, Qt::ElideRight, rect.width() - 4));
        painter->restore();
    }
};

} // namespace

MatrixView::MatrixView(QWidget *parent) : QTableView(parent), m_empty(new EmptyState(this))
{
    setAccessibleName(tr("Guarantee matrix"));
    setFrameShape(QFrame::NoFrame);
    setShowGrid(false);
    setCornerButtonEnabled(false);
    setTabKeyNavigation(false);
    setSelectionMode(SingleSelection);
    setEditTriggers(NoEditTriggers);
    setHorizontalScrollMode(ScrollPerPixel);
    setVerticalScrollMode(ScrollPerPixel);
    setItemDelegate(new MatrixDelegate(this));
    setHorizontalHeader(new HazardHeader(this));
    setVerticalHeader(new DesignHeader(this));
}

void MatrixView::setModel(QAbstractItemModel *model)
{
    QTableView::setModel(model);
    const auto follow = [this] {
        m_empty->setVisible(this->model()->rowCount() == 0);
        fit();
    };
    connect(model, &QAbstractItemModel::modelReset, this, follow);
    follow();
}

void MatrixView::copyAll() const
{
    QStringList lines{QString()};
    for (int column = 0; column < model()->columnCount(); ++column)
        lines.first() += u'\t' + model()->headerData(column, Qt::Horizontal).toString();
    for (int row = 0; row < model()->rowCount(); ++row) {
        QString line = model()->headerData(row, Qt::Vertical, Qt::AccessibleTextRole).toString();
        for (int column = 0; column < model()->columnCount(); ++column)
            line += u'\t' + model()->index(row, column).data(CopyRole).toString();
        lines += line;
    }
    QGuiApplication::clipboard()->setText(lines.join(u'\n'));
}

void MatrixView::keyPressEvent(QKeyEvent *event)
{
    if (event->matches(QKeySequence::Copy))
        copyAll();
    else
        QTableView::keyPressEvent(event);
}

void MatrixView::changeEvent(QEvent *event)
{
    QTableView::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        fit();
}

void MatrixView::resizeEvent(QResizeEvent *event)
{
    QTableView::resizeEvent(event);
    fit();
}

void MatrixView::currentChanged(const QModelIndex &current, const QModelIndex &previous)
{
    QTableView::currentChanged(current, previous);
    Q_EMIT currentCellChanged();
}

void MatrixView::fit()
{
    if (!model() || model()->columnCount() == 0)
        return;
    const QFontMetrics headings(headingFont()), words(smallFont());
    verticalHeader()->setDefaultSectionSize(QFontMetrics(strongFont()).height() + QFontMetrics(captionFont()).height()
                                            + SpacingUnit + 2);
    // Room for the longest word of a title, and for those of the cells.
    int least = words.horizontalAdvance(tr("twice, told"));
    for (int column = 0; column < model()->columnCount(); ++column)
        least = std::max(least, widestWord(headings, model()->headerData(column, Qt::Horizontal).toString()));
    least += 2 * Padding + 1;
    const int room = viewport()->width() / model()->columnCount();
    const int width = std::clamp(room, least, std::max(least, scaled(WidestColumn)));
    for (int column = 0; column < model()->columnCount(); ++column)
        setColumnWidth(column, width);
    updateGeometries();
}

} // namespace sendonce
