#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>

class QApplication;
class QWidget;

namespace sendonce {

/// What a colour means. A state is never told by colour alone: a glyph or a word goes with it.
enum class Tone { Text, Muted, Accent, OnAccent, Sent, Skipped, Failed, InDoubt, Dead, InFlight };

/// The colours of the console, defined once for each theme (console.md, "What it should look like"; a few are a shade
/// darker or lighter than there, so that text has a contrast of 4.5 on every surface, the selected row included).
struct Tokens
{
    QColor window, panel, header; ///< surfaces, from back to front
    QColor line, zebra, selection;
    QColor text, muted;
    QColor accent, onAccent; ///< the one primary action, focus, the active tab
    QColor sent, skipped, failed, inDoubt, dead, inFlight;

    QColor of(Tone tone) const;
};

enum class ThemeChoice { System, Light, Dark };

const Tokens &lightTokens();
const Tokens &darkTokens();
/// The tokens that belong to a palette made by paletteFor(): told apart by the lightness of its window colour, so that
/// no widget needs to know the choice.
const Tokens &tokensOf(const QPalette &palette);
const Tokens &tokensOf(const QWidget *widget);

/// Contrast of two opaque colours, 1 to 21 (WCAG 2.1, "contrast ratio").
double contrast(const QColor &a, const QColor &b);
/// `share` of b in a, 0 to 1.
QColor mixed(const QColor &a, const QColor &b, double share);

QPalette paletteFor(const Tokens &tokens);

/// Style, palette and font of the whole application. Can be called again at any time; widgets follow by their change
/// events. \param textPercent 100 is 13 px, or what the desktop asks for when that is larger
void applyTheme(QApplication &app, ThemeChoice choice, int textPercent = 100);

constexpr int SpacingUnit = 8; ///< px; margins and gaps are multiples of it, or its half

// Fonts, all relative to the application's.
QFont captionFont(); ///< 12 for 13
QFont smallFont(); ///< 11 for 13
QFont headingFont(); ///< caption size, semi-bold
QFont strongFont(); ///< body size, semi-bold
QFont figureFont(); ///< 24 for 13, semi-bold
QFont monospaceFont(); ///< ids and raw text

/// Edge of an icon beside text, px: 16 at the default font.
int iconEdge();
/// Height of a table row: 28 px at the default font.
int rowHeight(const QWidget *widget);

} // namespace sendonce
