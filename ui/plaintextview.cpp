#include "ui/plaintextview.h"

#include "ui/displaytext.h"
#include "ui/theme.h"

#include <QEvent>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextLayout>

#include <cmath>

namespace sendonce {
namespace {

/// QPlainTextEdit ignores the line height of block formats; this layout moves the lines apart after they were laid out.
class SpacedLayout : public QPlainTextDocumentLayout
{
public:
    using QPlainTextDocumentLayout::QPlainTextDocumentLayout;

    QRectF blockBoundingRect(const QTextBlock &block) const override
    {
        QRectF rect = QPlainTextDocumentLayout::blockBoundingRect(block);
        QTextLayout *layout = block.isValid() && block.isVisible() ? block.layout() : nullptr;
        if (!layout || layout->lineCount() == 0)
            return rect;
        const qreal gap = std::round(layout->lineAt(0).height() * 0.26);
        const qreal bottom = layout->boundingRect().bottom();
        if (layout->lineAt(0).y() == 0) { // laid out since the last call
            for (int i = 0; i < layout->lineCount(); ++i) {
                QTextLine line = layout->lineAt(i);
                line.setPosition(QPointF(line.x(), line.y() + gap / 2 + i * gap));
            }
        }
        rect.setHeight(rect.height() + layout->boundingRect().bottom() - bottom + gap / 2);
        return rect;
    }
};

} // namespace

PlainTextView::PlainTextView(const QString &accessibleName, QWidget *parent) : QPlainTextEdit(parent)
{
    setAccessibleName(accessibleName);
    setReadOnly(true);
    setUndoRedoEnabled(false);
    setTabChangesFocus(true);
    setFrameShape(NoFrame);
    setAcceptDrops(false);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setLineWrapMode(WidgetWidth);
    setFont(monospaceFont());
    document()->setDocumentLayout(new SpacedLayout(document()));
    document()->setDocumentMargin(0);
}

void PlainTextView::setPlain(const QString &text)
{
    const QString shown = shownLines(text);
    if (shown == toPlainText())
        return;
    const int top = verticalScrollBar()->value();
    setPlainText(shown);
    verticalScrollBar()->setValue(top);
}

void PlainTextView::changeEvent(QEvent *event)
{
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        setFont(monospaceFont());
}

} // namespace sendonce
