#include "ui/lettercells.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/letterwords.h"

#include <QCoreApplication>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

struct LetterCells
{
    Q_DECLARE_TR_FUNCTIONS(LetterCells)
};

QVariant glyphCell(const DeadLetter &letter, const ReplayItem *item, int role)
{
    switch (role) {
    case GlyphRole:
        return letterGlyph(letter, item);
    case ToneRole:
        return int(letterTone(letter, item));
    case Qt::AccessibleTextRole:
    case CopyRole:
        return letterText(letter, item);
    case Qt::ToolTipRole:
        return toolTipText(letterText(letter, item));
    default:
        return {};
    }
}

QVariant figureCell(qint64 count, int role)
{
    switch (role) {
    case Qt::DisplayRole:
        return countText(count);
    case ToneRole:
        return int(Tone::Muted);
    case FaceRole:
        return int(Face::Figures);
    default:
        return {};
    }
}

/// An instant, shown as the time from or to now.
QVariant instantCell(const QDateTime &at, QString (*text)(const QDateTime &, const QDateTime &), const QDateTime &now,
                     int role)
{
    switch (role) {
    case Qt::DisplayRole:
        return at.isValid() && now.isValid() ? text(at, now) : u"–"_s;
    case CopyRole:
        return utcText(at);
    case ToneRole:
        return int(Tone::Muted);
    case FaceRole:
        return int(Face::Figures);
    default:
        return {};
    }
}

QString leftText(const QDateTime &at, const QDateTime &now)
{
    return spanText(now, at);
}

/// \param known with places for local time and UTC
QString instantToolTip(const QDateTime &at, const QString &known, const QString &unknown)
{
    return toolTipText(at.isValid() ? known.arg(dayAndTime(at), utcText(at)) : unknown);
}

/// The cells of which only the tool tip is long: made when it is wanted, for there is no end of cells.
QString toolTipOf(const DeadLetter &letter, LetterColumns::Column column)
{
    switch (column) {
    case LetterColumns::Event:
        return toolTipText(LetterCells::tr("Event %1\nMessage %2")
                               .arg(letter.eventId.isEmpty() ? u"–"_s : letter.eventId, letter.message.messageId));
    case LetterColumns::Type:
        return toolTipText(letter.eventType);
    case LetterColumns::Received:
        return toolTipText(LetterCells::tr("Received %1 times before this look").arg(letter.receiveCount));
    case LetterColumns::Back:
        return toolTipText(letter.timesBack == 0
                               ? LetterCells::tr("It was not replayed before")
                               : LetterCells::tr("Its event was replayed %1 times before").arg(letter.timesBack));
    case LetterColumns::Died:
        return instantToolTip(letter.diedAt, LetterCells::tr("%1 · %2"),
                              LetterCells::tr("When it last failed was not recorded: no worker of ours saw it"));
    case LetterColumns::FirstFailed:
        return instantToolTip(letter.firstFailedAt, LetterCells::tr("%1 · %2"),
                              LetterCells::tr("When it first failed was not recorded: no worker of ours saw it"));
    case LetterColumns::Age:
        return instantToolTip(letter.sentAt, LetterCells::tr("Sent %1 · %2"), LetterCells::tr("The queue did not say"));
    case LetterColumns::Left:
        return instantToolTip(letter.expiresAt, LetterCells::tr("The queue drops it, unseen, at %1 · %2"),
                              LetterCells::tr("The queue did not say how long it keeps messages"));
    default:
        return {};
    }
}

} // namespace

QVariant letterCell(const DeadLetter &letter, const ReplayItem *item, LetterColumns::Column column, int role,
                    const QDateTime &now)
{
    if (role == EventIdRole)
        return letter.eventId;
    if (role == RowKeyRole)
        return letter.message.messageId;
    if (role == Qt::ToolTipRole && column != LetterColumns::Glyph) {
        const QString toolTip = toolTipOf(letter, column);
        return toolTip.isEmpty() ? QVariant() : toolTip; // none: the delegate shows what was cut
    }
    switch (column) {
    case LetterColumns::Glyph:
        return glyphCell(letter, item, role);
    case LetterColumns::Event:
        if (role == Qt::DisplayRole)
            return letter.eventId.isEmpty() ? LetterCells::tr("not readable") : compactId(letter.eventId);
        if (role == CopyRole)
            return letter.eventId;
        if (role == FaceRole)
            return int(letter.eventId.isEmpty() ? Face::Body : Face::Monospace);
        if (role == ToneRole && letter.eventId.isEmpty())
            return int(Tone::Muted);
        if (role == ElideRole)
            return int(Qt::ElideMiddle);
        break;
    case LetterColumns::Type:
        if (role == Qt::DisplayRole)
            return letter.eventType.isEmpty() ? u"–"_s : typeText(letter.eventType);
        if (role == CopyRole)
            return letter.eventType;
        break;
    case LetterColumns::Application:
        if (role == Qt::DisplayRole)
            return letter.applicationId.isEmpty() ? u"–"_s : shownText(letter.applicationId);
        if (role == ToneRole)
            return int(Tone::Muted);
        if (role == FaceRole)
            return int(Face::Figures);
        break;
    case LetterColumns::Verdict:
        if (role == Qt::DisplayRole)
            return letterText(letter, item);
        if (role == ToneRole)
            return int(letterTone(letter, item));
        break;
    case LetterColumns::Reason:
        if (role == Qt::DisplayRole)
            return reasonText(letter);
        if (role == ToneRole && letter.reason.isEmpty())
            return int(Tone::Muted);
        break;
    case LetterColumns::Received:
        return figureCell(letter.receiveCount, role);
    case LetterColumns::Back:
        return figureCell(letter.timesBack, role);
    case LetterColumns::Died:
        return instantCell(letter.diedAt, agoText, now, role);
    case LetterColumns::FirstFailed:
        return instantCell(letter.firstFailedAt, agoText, now, role);
    case LetterColumns::Age:
        return instantCell(letter.sentAt, spanText, now, role);
    case LetterColumns::Left:
        if (role == ToneRole && letter.expiresAt.isValid() && now.isValid() && now.secsTo(letter.expiresAt) < 24 * 3600)
            return int(Tone::Failed); // SQS drops it without a word
        return instantCell(letter.expiresAt, leftText, now, role);
    default:
        break;
    }
    return {};
}

QString letterHeading(LetterColumns::Column column)
{
    switch (column) {
    case LetterColumns::Event:
        return LetterCells::tr("Event");
    case LetterColumns::Type:
        return LetterCells::tr("Type");
    case LetterColumns::Application:
        return LetterCells::tr("Application");
    case LetterColumns::Verdict:
        return LetterCells::tr("Verdict");
    case LetterColumns::Reason:
        return LetterCells::tr("Reason");
    case LetterColumns::Received:
        return LetterCells::tr("Received");
    case LetterColumns::Died:
        return LetterCells::tr("Last failed");
    case LetterColumns::FirstFailed:
        return LetterCells::tr("First failed");
    case LetterColumns::Back:
        return LetterCells::tr("Back");
    case LetterColumns::Age:
        return LetterCells::tr("Age");
    case LetterColumns::Left:
        return LetterCells::tr("Time left");
    default:
        return QString();
    }
}

bool letterBefore(const DeadLetter &a, const DeadLetter &b, LetterColumns::Column column)
{
    const auto text = [](const QString &left, const QString &right) {
        return left.compare(right, Qt::CaseInsensitive) < 0;
    };
    switch (column) {
    case LetterColumns::Event:
        return text(a.eventId, b.eventId);
    case LetterColumns::Type:
        return text(a.eventType, b.eventType);
    case LetterColumns::Application: // numbers as a rule
        return a.applicationId.size() != b.applicationId.size() ? a.applicationId.size() < b.applicationId.size()
                                                                : a.applicationId < b.applicationId;
    case LetterColumns::Glyph:
    case LetterColumns::Verdict:
        return a.verdict != b.verdict ? a.verdict < b.verdict : text(a.verdictText, b.verdictText);
    case LetterColumns::Reason:
        return text(a.reason, b.reason);
    case LetterColumns::Received:
        return a.receiveCount < b.receiveCount;
    case LetterColumns::Died:
        return a.diedAt < b.diedAt;
    case LetterColumns::FirstFailed:
        return a.firstFailedAt < b.firstFailedAt;
    case LetterColumns::Back:
        return a.timesBack < b.timesBack;
    case LetterColumns::Age: // the youngest first
        return b.sentAt < a.sentAt;
    case LetterColumns::Left:
        return a.expiresAt < b.expiresAt;
    default:
        return false;
    }
}

} // namespace sendonce
