#include "worker/mail/headertext.h"

#include <QByteArrayList>
#include <QStringList>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr qsizetype MaxLine = 76; ///< RFC 2047, section 2: of a line that holds encoded words
constexpr qsizetype MaxWord = 75;
constexpr QByteArrayView QPrefix = "=?utf-8?q?";
constexpr QByteArrayView BPrefix = "=?utf-8?b?";
constexpr QByteArrayView Suffix = "?=";

bool isAscii(const QString &text)
{
    return std::all_of(text.cbegin(), text.cend(), [](QChar c) { return c >= u' ' && c <= u'~'; });
}

/// ASCII that a reader takes as it stands.
bool isPlain(const QString &text)
{
    return isAscii(text) && !text.contains("=?"_L1) && !text.startsWith(u' ') && !text.endsWith(u' ');
}

/// RFC 2047, section 5 (3): what may stand unencoded in a word of a display name; used everywhere.
bool isSafeInWord(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
        || QByteArrayView("!*+-/").contains(c);
}

bool isAtomText(QChar c)
{
    return (c >= u'0' && c <= u'9') || (c >= u'A' && c <= u'Z') || (c >= u'a' && c <= u'z')
        || QStringView(u"!#$%&'*+-/=?^_`{|}~").contains(c);
}

QByteArray quoted(QByteArrayView utf8)
{
    static const char hex[] = "0123456789ABCDEF";
    QByteArray word;
    for (const char c : utf8) {
        if (c == ' ')
            word += '_';
        else if (isSafeInWord(c))
            word += c;
        else
            word.append('=').append(hex[static_cast<unsigned char>(c) >> 4]).append(hex[c & 0xf]);
    }
    return word;
}

/// The characters of a text, each in UTF-8: never split.
QByteArrayList characters(const QString &text)
{
    QByteArrayList list;
    for (qsizetype i = 0; i < text.size();) {
        const qsizetype length = text[i].isHighSurrogate() && i + 1 < text.size() ? 2 : 1;
        list.append(QStringView(text).sliced(i, length).toUtf8());
        i += length;
    }
    return list;
}

/// Folds at single blanks; empty where that cannot be done.
QByteArray folded(const QByteArray &name, const QByteArray &text)
{
    QByteArray lines = name + ':';
    qsizetype column = lines.size();
    bool first = true;
    for (qsizetype i = 0; i < text.size();) {
        qsizetype end = i;
        while (end < text.size() && text[end] == ' ')
            ++end;
        while (end < text.size() && text[end] != ' ')
            ++end;
        const QByteArray piece = first ? ' ' + text.sliced(i, end - i) : text.sliced(i, end - i);
        if (column + piece.size() > MaxLine) {
            // Readers differ about a fold at more than one blank.
            if (first || piece.size() > MaxLine || piece.startsWith("  "))
                return {};
            lines += "\r\n";
            column = 0;
        }
        lines += piece;
        column += piece.size();
        first = false;
        i = end;
    }
    return lines + "\r\n";
}

/// The display name where it begins at `column`; may have more than one line.
QByteArray phrase(const QString &name, qsizetype column)
{
    if (isAscii(name) && !name.contains("=?"_L1)) {
        const QStringList words = name.split(u' ');
        const bool atoms = std::all_of(words.cbegin(), words.cend(), [](const QString &word) {
            return !word.isEmpty() && std::all_of(word.cbegin(), word.cend(), isAtomText);
        });
        QString text = name;
        if (!atoms)
            text = u'"' + text.replace(u'\\', "\\\\"_L1).replace(u'"', "\\\""_L1) + u'"';
        if (column + text.size() <= MaxLine)
            return text.toLatin1();
    }
    return encodedWords(name, column);
}

} // namespace

QString refusedInHeader(const QString &what, const QString &text)
{
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar c = text[i];
        if (c >= u' ' && c <= u'~')
            continue; // nearly all
        if (c.isHighSurrogate() && i + 1 < text.size() && text[i + 1].isLowSurrogate()) {
            ++i;
            continue;
        }
        QString kind;
        switch (c.category()) {
        case QChar::Other_Control:
            kind = u"a control character"_s;
            break;
        case QChar::Separator_Line:
        case QChar::Separator_Paragraph:
            kind = u"a line separator"_s;
            break;
        case QChar::Other_Surrogate:
            kind = u"half a character"_s;
            break;
        default:
            continue;
        }
        return u"%1 holds U+%2, %3"_s.arg(what).arg(QString::number(c.unicode(), 16).toUpper().rightJustified(4, u'0'),
                                                    kind);
    }
    return {};
}

QByteArray encodedWords(const QString &text, qsizetype column)
{
    const QByteArray utf8 = text.toUtf8();
    const qsizetype base64Size = (utf8.size() + 2) / 3 * 4;
    const bool q = quoted(utf8).size() <= base64Size;
    const qsizetype frame = QPrefix.size() + Suffix.size();

    QByteArrayList words;
    QByteArray raw;
    qsizetype room = std::min(MaxWord, MaxLine - column) - frame;
    const auto size = [q](const QByteArray &bytes) { return q ? quoted(bytes).size() : (bytes.size() + 2) / 3 * 4; };
    const auto endWord = [&] {
        words.append((q ? QPrefix.toByteArray() + quoted(raw) : BPrefix.toByteArray() + raw.toBase64())
                     + Suffix.toByteArray());
        raw.clear();
        room = MaxWord - frame;
    };
    for (const QByteArray &character : characters(text)) {
        if (!raw.isEmpty() && size(raw + character) > room)
            endWord();
        raw += character;
    }
    endWord();
    return words.join("\r\n ");
}

QByteArray textHeader(const QByteArray &name, const QString &text)
{
    if (text.isEmpty())
        return name + ":\r\n";
    if (isPlain(text)) {
        const QByteArray lines = folded(name, text.toLatin1());
        if (!lines.isEmpty())
            return lines;
    }
    return name + ": " + encodedWords(text, name.size() + 2) + "\r\n";
}

QByteArray addressHeader(const QByteArray &name, const MailAddress &address)
{
    const QByteArray wire = address.wireAddress().toUtf8();
    if (address.name.isEmpty())
        return name + ": " + wire + "\r\n";
    QByteArray lines = name + ": " + phrase(address.name, name.size() + 2);
    const qsizetype column = lines.size() - (lines.lastIndexOf('\n') + 1);
    lines += column + wire.size() + 3 > MaxLine ? "\r\n <" : " <";
    return lines + wire + ">\r\n";
}

} // namespace sendonce
