#include "worker/events/quoted.h"

#include <QChar>

namespace sendonce {

namespace {

constexpr int ShownCodePoints = 60;

bool isInvisible(char32_t point)
{
    switch (QChar::category(point)) {
    case QChar::Other_Control:
    case QChar::Other_Format:
    case QChar::Other_Surrogate:
    case QChar::Separator_Line:
    case QChar::Separator_Paragraph:
        return true;
    default:
        return QChar::isNonCharacter(point);
    }
}

} // namespace

QString quoted(QStringView text)
{
    QString out(QChar(0x201c));
    int shown = 0;
    for (qsizetype at = 0; at < text.size(); ++shown) {
        if (shown == ShownCodePoints) {
            out += QChar(0x2026);
            break;
        }
        const bool pair = text[at].isHighSurrogate() && at + 1 < text.size() && text[at + 1].isLowSurrogate();
        const qsizetype units = pair ? 2 : 1;
        const char32_t point = pair ? QChar::surrogateToUcs4(text[at], text[at + 1]) : text[at].unicode();
        if (isInvisible(point)) {
            for (qsizetype unit = 0; unit < units; ++unit)
                out += QStringLiteral("\\u%1").arg(int(text[at + unit].unicode()), 4, 16, QLatin1Char('0'));
        } else {
            out += text.sliced(at, units);
        }
        at += units;
    }
    return out + QChar(0x201d);
}

QString cutTo(const QString &text, qsizetype count)
{
    if (text.size() <= count)
        return text;
    return text.left(count > 0 && text[count - 1].isHighSurrogate() ? count - 1 : count);
}

} // namespace sendonce
