#pragma once

#include "worker/types.h"

#include <QByteArray>
#include <QString>
#include <QStringList>

#include <optional>

namespace sendonce {

/// Which dead letters are shown: those that hold the text and are in one of the named groups of each kind.
struct LetterFilter
{
    QString text; ///< in ids, type, application, verdict, reason and body; case does not matter; empty: all
    QList<Verdict> verdicts; ///< none: all; so the next two
    QStringList reasons; ///< as reasonGroup() writes them
    QStringList types;

    bool isEmpty() const { return text.isEmpty() && !namesGroups(); }
    bool namesGroups() const { return !verdicts.isEmpty() || !reasons.isEmpty() || !types.isEmpty(); }
    bool operator==(const LetterFilter &) const = default;
};

/// For settings; back, nothing when it is no such text. Pure.
QByteArray packed(const LetterFilter &filter);
std::optional<LetterFilter> unpackedFilter(const QByteArray &json);

/// What of a letter is in its row holds the text, or the beginning of its body.
bool rowHolds(const DeadLetter &letter, const QString &text);

/// What reasons of one kind have in common: what differs between letters (ids, addresses, long numbers, quoted text)
/// is an ellipsis; reply codes stay.
QString reasonGroup(const QString &reason);

} // namespace sendonce
