#include "ui/celldelegate.h"
#include "ui/consolestyle.h"
#include "ui/icons.h"
#include "ui/theme.h"

#include <QApplication>
#include <QDirIterator>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;

namespace {

constexpr double Enough = 4.5; // WCAG 2.1, 1.4.3

const std::pair<const char *, Tone> TextTones[] = {
    {"text", Tone::Text},        {"muted", Tone::Muted},     {"accent", Tone::Accent},
    {"sent", Tone::Sent},        {"skipped", Tone::Skipped}, {"failed", Tone::Failed},
    {"in doubt", Tone::InDoubt}, {"dead", Tone::Dead},       {"in flight", Tone::InFlight},
};

} // namespace

class TestTheme : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u"^(?!This plugin does not support)"_s)); }

    void contrastOfBlackAndWhiteIs21()
    {
        QCOMPARE(qRound(contrast(Qt::black, Qt::white) * 100), 2100);
        QCOMPARE(qRound(contrast(Qt::white, Qt::black) * 100), 2100);
        QCOMPARE(qRound(contrast(QColor(0x777777), Qt::white) * 100), 448); // the well-known grey just below 4.5
    }

    void textIsReadableOnEverySurface_data()
    {
        QTest::addColumn<QColor>("text");
        QTest::addColumn<QColor>("surface");
        for (const auto &[theme, tokens] : {std::pair("light", &lightTokens()), std::pair("dark", &darkTokens())}) {
            const std::pair<const char *, QColor> surfaces[] = {
                {"window", tokens->window}, {"panel", tokens->panel},         {"header", tokens->header},
                {"zebra", tokens->zebra},   {"selection", tokens->selection},
            };
            for (const auto &[toneName, tone] : TextTones) {
                for (const auto &[surfaceName, surface] : surfaces)
                    QTest::addRow("%s: %s on %s", theme, toneName, surfaceName) << tokens->of(tone) << surface;
            }
            // Badges and the primary button are filled with a tone; the pill and questions are tinted with one.
            for (const Tone filled : {Tone::Accent, Tone::Sent, Tone::Dead, Tone::InDoubt, Tone::Failed})
                QTest::addRow("%s: on a filled %d", theme, int(filled)) << tokens->onAccent << tokens->of(filled);
            QTest::addRow("%s: on the primary button under the pointer", theme)
                << tokens->onAccent << mixed(tokens->accent, tokens->text, 0.12);
            QTest::addRow("%s: on the armed pill", theme)
                << tokens->inDoubt << mixed(tokens->panel, tokens->inDoubt, 0.08);
            QTest::addRow("%s: a question", theme) << tokens->text << mixed(tokens->panel, tokens->inDoubt, 0.09);
            QTest::addRow("%s: a note", theme) << tokens->text << mixed(tokens->panel, tokens->failed, 0.07);
        }
    }
    void textIsReadableOnEverySurface()
    {
        QFETCH(QColor, text);
        QFETCH(QColor, surface);
        const double ratio = contrast(text, surface);
        QVERIFY2(ratio >= Enough, qPrintable(u"%1 on %2: %3"_s.arg(text.name(), surface.name()).arg(ratio)));
    }

    void tokensAreFoundByThePalette()
    {
        QCOMPARE(&tokensOf(paletteFor(lightTokens())), &lightTokens());
        QCOMPARE(&tokensOf(paletteFor(darkTokens())), &darkTokens());
    }

    void widgetsFollowAChangeOfTheme()
    {
        QPushButton button(u"Replay 6"_s);
        button.show();
        applyTheme(*qApp, ThemeChoice::Dark);
        QVERIFY(qobject_cast<ConsoleStyle *>(qApp->style()));
        QTRY_COMPARE(&tokensOf(&button), &darkTokens()); // Qt tells widgets by an event
        QCOMPARE(button.palette().color(QPalette::ButtonText), darkTokens().text);
        applyTheme(*qApp, ThemeChoice::Light);
        QTRY_COMPARE(&tokensOf(&button), &lightTokens());
        QCOMPARE(button.palette().color(QPalette::ButtonText), lightTokens().text);
    }

    void sizesFollowTheFont()
    {
        QWidget widget;
        widget.show();
        applyTheme(*qApp, ThemeChoice::Light, 100);
        QTRY_VERIFY(rowHeight(&widget) >= 26 && rowHeight(&widget) <= 32);
        const int row = rowHeight(&widget);
        const int figure = QFontInfo(figureFont()).pixelSize();
        applyTheme(*qApp, ThemeChoice::Light, 200);
        QTRY_VERIFY(rowHeight(&widget) > row);
        QCOMPARE(QFontInfo(figureFont()).pixelSize(), 2 * figure);
        applyTheme(*qApp, ThemeChoice::Light, 100);
        QTRY_COMPARE(rowHeight(&widget), row);
    }

    void everyIconIsDrawn_data()
    {
        QTest::addColumn<QString>("name");
        QDirIterator files(QStringLiteral(SENDONCE_SOURCE_DIR "/resources/icons"), {u"*.svg"_s});
        while (files.hasNext()) {
            const QString name = files.nextFileInfo().completeBaseName();
            QTest::newRow(qPrintable(name)) << name;
        }
    }
    void everyIconIsDrawn()
    {
        QFETCH(QString, name);
        for (const int pixels : {16, 24, 48}) {
            const QImage image = tintedPixmap(name, QColor(0xff00ff), pixels).toImage();
            QCOMPARE(image.size(), QSize(pixels, pixels)); // also: it is listed in icons.qrc
            int inked = 0;
            bool tinted = false;
            for (int y = 0; y < pixels; ++y) {
                for (int x = 0; x < pixels; ++x) {
                    const QColor colour = image.pixelColor(x, y);
                    inked += colour.alpha() > 100;
                    tinted |= colour.alpha() > 200 && colour.red() > 200 && colour.green() < 60 && colour.blue() > 200;
                }
            }
            QVERIFY2(inked > pixels * pixels / 60, qPrintable(QString::number(inked)));
            QCOMPARE(tinted, name != "sendonce"_L1); // the application's icon has its own colours
        }
    }

    void anUnknownIconIsEmpty() { QVERIFY(tintedPixmap(u"no-such-icon"_s, Qt::red, 16).isNull()); }

    void theApplicationIconScales()
    {
        for (const int edge : {16, 32, 64, 256, 512})
            QCOMPARE(applicationIcon().pixmap(QSize(edge, edge), 1.0).size(), QSize(edge, edge));
    }

    void iconsTakeTheThemesColour()
    {
        applyTheme(*qApp, ThemeChoice::Light);
        const QImage light = icon(u"stop"_s, Tone::Failed).pixmap(QSize(16, 16), 1.0).toImage();
        QCOMPARE(light.pixelColor(8, 8).rgb(), lightTokens().failed.rgb());
        applyTheme(*qApp, ThemeChoice::Dark);
        const QImage dark = icon(u"stop"_s, Tone::Failed).pixmap(QSize(16, 16), 1.0).toImage();
        QCOMPARE(dark.pixelColor(8, 8).rgb(), darkTokens().failed.rgb());
        const QImage off = icon(u"stop"_s, Tone::Failed).pixmap(QSize(16, 16), 1.0, QIcon::Disabled).toImage();
        QVERIFY(off.pixelColor(8, 8) != dark.pixelColor(8, 8));
        applyTheme(*qApp, ThemeChoice::Light);
    }
};

QTEST_MAIN(TestTheme)
#include "tst_theme.moc"
