#include "ui/icons.h"

#include <QApplication>
#include <QBuffer>
#include <QFile>
#include <QIconEngine>
#include <QImageReader>
#include <QPainter>
#include <QPixmapCache>

using namespace Qt::StringLiterals;

// A resource in a static library is dropped by the linker unless it is named; Q_INIT_RESOURCE cannot stand in a
// namespace.
static void initIcons()
{
    Q_INIT_RESOURCE(icons);
}

namespace sendonce {
namespace {

class TintedIconEngine : public QIconEngine
{
public:
    TintedIconEngine(QString name, Tone tone) : m_name(std::move(name)), m_tone(tone) { }

    void paint(QPainter *painter, const QRect &rect, QIcon::Mode mode, QIcon::State) override
    {
        drawIcon(painter, rect, m_name, colour(mode), std::min(rect.width(), rect.height()));
    }
    QPixmap pixmap(const QSize &size, QIcon::Mode mode, QIcon::State state) override
    {
        return scaledPixmap(size, mode, state, 1.0);
    }
    QPixmap scaledPixmap(const QSize &size, QIcon::Mode mode, QIcon::State, qreal scale) override
    {
        return tintedPixmap(m_name, colour(mode), std::min(size.width(), size.height()), scale);
    }
    QIconEngine *clone() const override { return new TintedIconEngine(*this); }

private:
    QColor colour(QIcon::Mode mode) const
    {
        const Tokens &tokens = tokensOf(QApplication::palette());
        return mode == QIcon::Disabled ? mixed(tokens.muted, tokens.panel, 0.45) : tokens.of(m_tone);
    }

    QString m_name;
    Tone m_tone;
};

} // namespace

QIcon icon(const QString &name, Tone tone)
{
    return QIcon(new TintedIconEngine(name, tone));
}

QPixmap tintedPixmap(const QString &name, const QColor &colour, int pixels, qreal devicePixelRatio)
{
    initIcons();
    const QString key =
        u"sendonce/%1/%2/%3/%4"_s.arg(name, colour.name(), QString::number(pixels), QString::number(devicePixelRatio));
    QPixmap pixmap;
    if (QPixmapCache::find(key, &pixmap))
        return pixmap;
    QFile file(u":/icons/"_s + name + u".svg"_s);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QByteArray svg = file.readAll();
    svg.replace("currentColor", colour.name().toLatin1());
    QBuffer buffer(&svg);
    buffer.open(QIODevice::ReadOnly);
    QImageReader reader(&buffer, "svg");
    reader.setScaledSize(QSize(pixels, pixels));
    pixmap = QPixmap::fromImage(reader.read());
    pixmap.setDevicePixelRatio(devicePixelRatio);
    QPixmapCache::insert(key, pixmap);
    return pixmap;
}

void drawIcon(QPainter *painter, const QRect &rect, const QString &name, const QColor &colour, int edge)
{
    const qreal ratio = painter->device()->devicePixelRatio();
    const QPixmap pixmap = tintedPixmap(name, colour, qRound(edge * ratio), ratio);
    painter->drawPixmap(QPoint(rect.center().x() - edge / 2 + (rect.width() % 2 ? 0 : 1),
                               rect.center().y() - edge / 2 + (rect.height() % 2 ? 0 : 1)),
                        pixmap);
}

QIcon applicationIcon()
{
    initIcons();
    return QIcon(u":/icons/sendonce.svg"_s);
}

} // namespace sendonce
