#include "ui/displaytext.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QLocale>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

/// Invisible, or changes how its neighbours are drawn.
bool acts(char16_t c)
{
    if (c < 0x20 || (c >= 0x7f && c < 0xa0))
        return true;
    switch (c) {
    case 0x00ad: // soft hyphen
    case 0x061c:
    case 0x180e:
    case 0xfeff:
        return true;
    default:
        return (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f)
            || (c >= 0xfff9 && c <= 0xfffb);
    }
}

QString shown(const QString &text, qsizetype limit, bool lines)
{
    qsizetype end = std::min(text.size(), limit);
    if (end < text.size() && end > 0 && text.at(end - 1).isHighSurrogate())
        --end;
    QString result;
    result.reserve(end + 1);
    for (qsizetype i = 0; i < end; ++i) {
        const QChar c = text.at(i);
        const char16_t unit = c.unicode();
        if (!acts(unit) || (lines && (unit == u'\n' || unit == u'\t')))
            result += c;
        else if (unit == u'\n')
            result += "\\n"_L1;
        else if (unit == u'\r')
            result += lines && i + 1 < text.size() && text.at(i + 1) == u'\n' ? ""_L1 : "\\r"_L1;
        else if (unit == u'\t')
            result += "\\t"_L1;
        else
            result += u"\\u%1"_s.arg(uint(unit), 4, 16, QLatin1Char('0'));
    }
    if (end < text.size())
        result += u'…';
    return result;
}

struct DisplayText
{
    Q_DECLARE_TR_FUNCTIONS(DisplayText)
};

} // namespace

QString shownText(const QString &text, qsizetype limit)
{
    return shown(text, limit, false);
}

QString shownLines(const QString &text, qsizetype limit)
{
    return shown(text, limit, true);
}

QString toolTipText(const QString &text)
{
    if (text.isEmpty())
        return {};
    QString escaped = shownLines(text, 2000).toHtmlEscaped();
    escaped.replace(u'\n', "<br>"_L1);
    return u"<qt>"_s + escaped + u"</qt>"_s;
}

QString clockTime(const QDateTime &utc)
{
    return utc.isValid() ? utc.toLocalTime().toString(u"HH:mm:ss"_s) : QString();
}

QString clockTimeMsec(const QDateTime &utc)
{
    return utc.isValid() ? utc.toLocalTime().toString(u"HH:mm:ss.zzz"_s) : QString();
}

QString dayAndTime(const QDateTime &utc)
{
    return utc.isValid() ? utc.toLocalTime().toString(u"yyyy-MM-dd HH:mm:ss"_s) : QString();
}

QString utcText(const QDateTime &utc)
{
    return utc.isValid() ? utc.toUTC().toString(u"yyyy-MM-dd HH:mm:ss.zzz 'UTC'"_s) : QString();
}

QString agoText(const QDateTime &then, const QDateTime &now)
{
    if (!then.isValid())
        return {};
    const qint64 seconds = then.secsTo(now);
    if (seconds < 1)
        return DisplayText::tr("just now");
    if (seconds < 60)
        return DisplayText::tr("%1 s ago").arg(seconds);
    if (seconds < 3600)
        return DisplayText::tr("%1 min ago").arg(seconds / 60);
    if (seconds < 48 * 3600)
        return DisplayText::tr("%1 h ago").arg(seconds / 3600);
    return DisplayText::tr("%1 days ago").arg(seconds / 86400);
}

QString spanText(const QDateTime &from, const QDateTime &to)
{
    const qint64 seconds = from.secsTo(to);
    if (seconds <= 0)
        return DisplayText::tr("over");
    if (seconds < 60)
        return DisplayText::tr("%1 s").arg(seconds);
    if (seconds < 3600)
        return DisplayText::tr("%1 min").arg(seconds / 60);
    if (seconds < 86400)
        return DisplayText::tr("%1 h %2 min").arg(seconds / 3600).arg(seconds % 3600 / 60);
    return DisplayText::tr("%1 d %2 h").arg(seconds / 86400).arg(seconds % 86400 / 3600);
}

QString typeText(const QString &type)
{
    QString text = type.mid(type.lastIndexOf(u'.') + 1);
    text.replace(u'_', u' ');
    return shownText(text.isEmpty() ? type : text);
}

QString compactId(const QString &id)
{
    constexpr int Head = 13;
    constexpr int Tail = 4;
    const QString text = shownText(id);
    return text.size() <= Head + Tail + 3 ? text : text.left(Head) + u'…' + text.right(Tail);
}

QString countText(qint64 count)
{
    QLocale locale;
    if (locale.language() == QLocale::C)
        locale = QLocale(QLocale::English); // the C locale has no digit groups
    return count < 0 ? u"–"_s : locale.toString(count);
}

QString indentedJson(const QByteArray &json)
{
    // QJsonDocument would sort the members, so it only judges; the text is laid out anew between the strings.
    QJsonParseError error;
    QJsonDocument::fromJson(json, &error);
    if (error.error != QJsonParseError::NoError)
        return {};
    QByteArray result;
    int depth = 0;
    qsizetype openedAt = -1;
    bool inString = false;
    const auto newLine = [&] { result += '\n' + QByteArray(2 * depth, ' '); };
    for (qsizetype i = 0; i < json.size(); ++i) {
        const char c = json.at(i);
        if (inString) {
            result += c;
            if (c == '\\')
                result += json.at(++i);
            else if (c == '"')
                inString = false;
            continue;
        }
        switch (c) {
        case ' ':
        case '\t':
        case '\r':
        case '\n':
            break;
        case '"':
            inString = true;
            result += c;
            break;
        case '{':
        case '[':
            result += c;
            ++depth;
            newLine();
            openedAt = result.size();
            break;
        case '}':
        case ']':
            --depth;
            // An empty object or array stays on its line.
            if (openedAt == result.size())
                result.chop(result.size() - 1 - result.lastIndexOf(c == '}' ? '{' : '['));
            else
                newLine();
            result += c;
            break;
        case ',':
            result += c;
            newLine();
            break;
        case ':':
            result += ": ";
            break;
        default:
            result += c;
        }
    }
    return QString::fromUtf8(result);
}

} // namespace sendonce
