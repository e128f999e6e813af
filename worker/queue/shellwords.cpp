#include "worker/queue/shellwords.h"

#include <QStringView>

using namespace Qt::StringLiterals;

namespace sendonce {

std::optional<QStringList> splitShellWords(const QString &line)
{
    QStringList words;
    QString word;
    bool inWord = false; // "" is a word too
    QChar quote;
    for (qsizetype i = 0; i < line.size(); ++i) {
        const QChar character = line[i];
        if (character == u'\\' && quote != u'\'') {
            if (i + 1 == line.size())
                return std::nullopt;
            const QChar next = line[++i];
            if (quote == u'"' && !u"$`\"\\"_s.contains(next))
                word += character;
            word += next;
            inWord = true;
        } else if (!quote.isNull()) {
            if (character == quote)
                quote = {};
            else
                word += character;
        } else if (character == u'\'' || character == u'"') {
            quote = character;
            inWord = true;
        } else if (character.isSpace()) {
            if (inWord)
                words.append(word);
            word.clear();
            inWord = false;
        } else {
            word += character;
            inWord = true;
        }
    }
    if (!quote.isNull())
        return std::nullopt;
    if (inWord)
        words.append(word);
    return words;
}

} // namespace sendonce
