#pragma once

#include <QByteArray>
#include <QString>

#include <optional>

namespace sendonce {

/// What QMainWindow's saveGeometry() and saveState() gave.
struct WindowLayout
{
    QByteArray geometry;
    QByteArray state;

    bool operator==(const WindowLayout &) const = default;
};

/// With a checksum: QMainWindow::restoreState() crashes or hangs on a few damaged bytes (reliability.md, finding 10).
QByteArray packLayout(const WindowLayout &layout);
/// Nothing when one bit is not as it was packed.
std::optional<WindowLayout> unpackLayout(const QByteArray &bytes);

/// Keeps the layout in a folder. A mark lies beside it from begin() to finished(): a start that finds it is the one
/// after a start that did not finish, throws the layout away and begins with the default.
class LayoutStore
{
public:
    explicit LayoutStore(QString folder);

    std::optional<WindowLayout> begin();
    void finished();
    bool save(const WindowLayout &layout) const;

    QString layoutPath() const;
    QString markPath() const;

private:
    QString m_folder;
};

} // namespace sendonce
