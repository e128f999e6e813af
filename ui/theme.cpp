#include "ui/theme.h"

#include "ui/consolestyle.h"

#include <QApplication>
#include <QFontDatabase>
#include <QFontMetrics>
#include <QStyle>
#include <QToolTip>
#include <QWidget>

#include <cmath>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

constexpr int BasePixels = 13;

/// Whether the desktop's own palette, before ours, is dark. Qt 6.4 has no colour scheme to ask for.
bool systemIsDark(QApplication &app)
{
    app.setPalette(QPalette()); // back to the platform's
    return app.palette().color(QPalette::Window).lightness() < 128;
}

QString bodyFamily()
{
    return QFontDatabase::hasFamily(u"Inter"_s) ? u"Inter"_s
                                                : QFontDatabase::systemFont(QFontDatabase::GeneralFont).family();
}

QString monospaceFamily()
{
    return QFontDatabase::hasFamily(u"DejaVu Sans Mono"_s)
        ? u"DejaVu Sans Mono"_s
        : QFontDatabase::systemFont(QFontDatabase::FixedFont).family();
}

QFont sized(double share, QFont::Weight weight = QFont::Normal)
{
    QFont font = QApplication::font();
    // A font of the desktop is sized in points, until applyTheme() has set ours.
    const int pixels = font.pixelSize() > 0 ? font.pixelSize() : BasePixels;
    font.setPixelSize(std::max(1, qRound(pixels * share)));
    font.setWeight(weight);
    return font;
}

double luminance(const QColor &colour)
{
    const auto linear = [](double channel) {
        return channel <= 0.03928 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
}

} // namespace

QColor Tokens::of(Tone tone) const
{
    switch (tone) {
    case Tone::Text:
        return text;
    case Tone::Muted:
        return muted;
    case Tone::Accent:
        return accent;
    case Tone::OnAccent:
        return onAccent;
    case Tone::Sent:
        return sent;
    case Tone::Skipped:
        return skipped;
    case Tone::Failed:
        return failed;
    case Tone::InDoubt:
        return inDoubt;
    case Tone::Dead:
        return dead;
    case Tone::InFlight:
        return inFlight;
    }
    return text;
}

const Tokens &lightTokens()
{
    static const Tokens tokens{
        .window = 0xf4f5f7,
        .panel = 0xffffff,
        .header = 0xf0f2f5,
        .line = 0xd9dde3,
        .zebra = 0xfafbfc,
        .selection = 0xe6eefc,
        .text = 0x1d2430,
        .muted = 0x616b7e,
        .accent = 0x2f5fd0,
        .onAccent = 0xffffff,
        .sent = 0x187540,
        .skipped = 0x5b6b8c,
        .failed = 0xc0362c,
        .inDoubt = 0x955800,
        .dead = 0x7a3fb0,
        .inFlight = 0x256a9e,
    };
    return tokens;
}

const Tokens &darkTokens()
{
    static const Tokens tokens{
        .window = 0x1b1e24,
        .panel = 0x23272f,
        .header = 0x2a2f38,
        .line = 0x363c47,
        .zebra = 0x262a33,
        .selection = 0x2b3a5c,
        .text = 0xe6e9ef,
        .muted = 0xa0a9b8,
        .accent = 0x7fa6ff,
        .onAccent = 0x14181f,
        .sent = 0x4cc27e,
        .skipped = 0x9dabc8,
        .failed = 0xf5877d,
        .inDoubt = 0xf0b04e,
        .dead = 0xc795f3,
        .inFlight = 0x6cb8ea,
    };
    return tokens;
}

const Tokens &tokensOf(const QPalette &palette)
{
    return palette.color(QPalette::Window).lightness() < 128 ? darkTokens() : lightTokens();
}

const Tokens &tokensOf(const QWidget *widget)
{
    return tokensOf(widget ? widget->palette() : QApplication::palette());
}

double contrast(const QColor &a, const QColor &b)
{
    const double one = luminance(a);
    const double other = luminance(b);
    return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

QColor mixed(const QColor &a, const QColor &b, double share)
{
    const auto channel = [share](int from, int to) { return qRound(from + (to - from) * share); };
    return QColor(channel(a.red(), b.red()), channel(a.green(), b.green()), channel(a.blue(), b.blue()));
}

QPalette paletteFor(const Tokens &tokens)
{
    const QColor disabled = mixed(tokens.muted, tokens.panel, 0.45);
    QPalette palette;
    palette.setColor(QPalette::Window, tokens.window);
    palette.setColor(QPalette::WindowText, tokens.text);
    palette.setColor(QPalette::Base, tokens.panel);
    palette.setColor(QPalette::AlternateBase, tokens.zebra);
    palette.setColor(QPalette::Text, tokens.text);
    palette.setColor(QPalette::PlaceholderText, tokens.muted);
    palette.setColor(QPalette::Button, tokens.panel);
    palette.setColor(QPalette::ButtonText, tokens.text);
    palette.setColor(QPalette::BrightText, tokens.failed);
    palette.setColor(QPalette::Highlight, tokens.selection);
    palette.setColor(QPalette::HighlightedText, tokens.text);
    palette.setColor(QPalette::Link, tokens.accent);
    palette.setColor(QPalette::LinkVisited, tokens.accent);
    palette.setColor(QPalette::ToolTipBase, tokens.header);
    palette.setColor(QPalette::ToolTipText, tokens.text);
    palette.setColor(QPalette::Light, tokens.panel);
    palette.setColor(QPalette::Midlight, tokens.header);
    palette.setColor(QPalette::Mid, tokens.line);
    palette.setColor(QPalette::Dark, mixed(tokens.line, tokens.muted, 0.4));
    palette.setColor(QPalette::Shadow, mixed(tokens.line, tokens.text, 0.3));
    for (const QPalette::ColorRole role :
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText})
        palette.setColor(QPalette::Disabled, role, disabled);
    return palette;
}

namespace {

/// Qt tells widgets nothing of the application's font or palette before exec(), and never by changeEvent(); those that
/// derive theirs from it (a caption's size, a tone's colour) must hear of it all the same.
void tellAll(QEvent::Type what)
{
    for (QWidget *widget : QApplication::allWidgets()) {
        QEvent change(what);
        QCoreApplication::sendEvent(widget, &change);
    }
}

} // namespace

void applyTheme(QApplication &app, ThemeChoice choice, int textPercent)
{
    // The desktop's size, asked before ours is set: points on a 96 dpi scale, where 10 pt are our 13 px.
    const QFont system = QFontDatabase::systemFont(QFontDatabase::GeneralFont);
    const double wanted = system.pointSizeF() > 0 ? system.pointSizeF() * BasePixels / 10.0 : BasePixels;
    const double base = std::clamp(wanted, double(BasePixels), 2.0 * BasePixels);

    QFont font(bodyFamily());
    font.setPixelSize(std::max(9, qRound(base * textPercent / 100.0)));
    if (app.font() != font) {
        app.setFont(font);
        // What derives no font of its own inherits its window's.
        for (QWidget *window : QApplication::topLevelWidgets())
            window->setFont(font);
        tellAll(QEvent::FontChange);
    }

    if (!qobject_cast<ConsoleStyle *>(app.style()))
        app.setStyle(new ConsoleStyle);
    const bool dark = choice == ThemeChoice::Dark || (choice == ThemeChoice::System && systemIsDark(app));
    const QPalette palette = paletteFor(dark ? darkTokens() : lightTokens());
    if (app.palette() != palette) {
        app.setPalette(palette);
        tellAll(QEvent::PaletteChange);
    }
    QToolTip::setPalette(palette);
    QToolTip::setFont(captionFont());
}

QFont captionFont()
{
    return sized(12.0 / 13.0);
}

QFont smallFont()
{
    return sized(11.0 / 13.0);
}

QFont headingFont()
{
    return sized(12.0 / 13.0, QFont::DemiBold);
}

QFont strongFont()
{
    return sized(1.0, QFont::DemiBold);
}

QFont figureFont()
{
    return sized(24.0 / 13.0, QFont::DemiBold);
}

QFont monospaceFont()
{
    QFont font = sized(12.0 / 13.0);
    font.setFamily(monospaceFamily());
    font.setStyleHint(QFont::Monospace);
    return font;
}

int iconEdge()
{
    return QFontMetrics(QApplication::font()).height();
}

int rowHeight(const QWidget *widget)
{
    return widget->fontMetrics().height() + 12;
}

} // namespace sendonce
