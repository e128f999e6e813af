#pragma once

#include "worker/result.h"

#include <QByteArray>
#include <QList>
#include <QString>

namespace sendonce {

/// One slot of `<dataDir>/handover`: which mail is just being handed over. Filled before the final dot, cleared after
/// COMMIT or refusal; what a dead process leaves is counted and shown at the next start, so that no double is silent
/// (spec.md, rule 6). It survives kill -9 because the kernel keeps written pages; no fsync, on purpose. A slot belongs
/// to whoever holds the lock on its bytes, which the kernel takes back when the process dies.
class Handover
{
public:
    struct Leftover
    {
        QString eventId;
        QString messageId;
        QString sha256; ///< hex, of the mail's bytes
        QString processedAt; ///< of the claim that the dead delivery tried to commit
    };

    /// Finds an empty slot that nobody holds, or adds one. The file is made 0600.
    static Result<Handover> open(const QString &dataDir);
    /// The filled slots of dead processes; they are cleared by this.
    static Result<QList<Leftover>> collect(const QString &dataDir);

    Handover(Handover &&other) noexcept;
    Handover &operator=(Handover &&other) noexcept;
    ~Handover(); ///< leaves the slot as it is: a filled one is somebody's news

    /// \param processedAt of the claim in the open transaction: tells later whether its COMMIT had worked
    /// \param mail the bytes that are about to be handed over
    Result<void> fill(const QString &eventId, const QString &messageId, const QString &processedAt,
                      const QByteArray &mail);
    void clear();
    bool filled() const { return m_filled; }

private:
    Handover(int descriptor, qint64 slot);
    int m_descriptor = -1;
    qint64 m_slot = 0;
    bool m_filled = false;
};

} // namespace sendonce
