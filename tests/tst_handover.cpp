#include "worker/consume/handover.h"

#include <QtTest>

#include <QTemporaryDir>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace sendonce;
using namespace Qt::StringLiterals;

class HandoverTest : public QObject
{
    Q_OBJECT
    QTemporaryDir m_dir; ///< emptied before each test

    /// A process that fills a slot and is killed while it holds it.
    void dieWithSlot(const QString &eventId, const QString &messageId)
    {
        const pid_t child = ::fork();
        if (child == 0) {
            auto slot = Handover::open(m_dir.path());
            const bool filled = slot && slot->fill(eventId, messageId, u"2026-12-01 12:00:00.000001"_s, "bytes");
            if (filled)
                ::raise(SIGKILL);
            ::_exit(1);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY(WIFSIGNALED(status));
    }

private Q_SLOTS:
    void init() { QFile::remove(m_dir.filePath(u"handover"_s)); }

    void nothingIsLeftByAClearedSlot()
    {
        auto slot = Handover::open(m_dir.path());
        QVERIFY(slot);
        QVERIFY(slot->fill(u"E"_s, u"M"_s, u"2026-12-01 12:00:00.000001"_s, "bytes"));
        slot->clear();
        QCOMPARE(Handover::collect(m_dir.path())->size(), 0);
    }

    void aDeadProcessIsHeardOfOnce()
    {
        dieWithSlot(u"evènt-🙂"_s, u"8d5a-message"_s);
        auto leftovers = Handover::collect(m_dir.path());
        QVERIFY(leftovers);
        QCOMPARE(leftovers->size(), 1);
        QCOMPARE(leftovers->first().eventId, u"evènt-🙂"_s);
        QCOMPARE(leftovers->first().messageId, u"8d5a-message"_s);
        QCOMPARE(leftovers->first().processedAt, u"2026-12-01 12:00:00.000001"_s);
        QCOMPARE(leftovers->first().sha256,
                 QString::fromLatin1(QCryptographicHash::hash("bytes", QCryptographicHash::Sha256).toHex()));
        QCOMPARE(Handover::collect(m_dir.path())->size(), 0);
    }

    void aLivingSlotIsNoNews()
    {
        auto slot = Handover::open(m_dir.path());
        QVERIFY(slot->fill(u"E"_s, u"M"_s, u"2026-12-01 12:00:00.000001"_s, "bytes"));
        QCOMPARE(Handover::collect(m_dir.path())->size(), 0);
        slot->clear();
    }

    void aNewLaneDoesNotOverwriteWhatADeadOneLeft()
    {
        dieWithSlot(u"first"_s, u"M1"_s);
        auto one = Handover::open(m_dir.path());
        auto two = Handover::open(m_dir.path());
        QVERIFY(one->fill(u"second"_s, u"M2"_s, u"2026-12-01 12:00:00.000001"_s, "bytes"));
        QVERIFY(two->fill(u"third"_s, u"M3"_s, u"2026-12-01 12:00:00.000001"_s, "bytes"));
        auto leftovers = Handover::collect(m_dir.path());
        QCOMPARE(leftovers->size(), 1);
        QCOMPARE(leftovers->first().eventId, u"first"_s);
    }

    void theLongestIdsFit()
    {
        const QString eventId = QString::fromUtf8("🙂").repeated(64);
        const QString messageId(100, u'm');
        dieWithSlot(eventId, messageId);
        auto leftovers = Handover::collect(m_dir.path());
        QCOMPARE(leftovers->size(), 1);
        QCOMPARE(leftovers->first().eventId, eventId);
        QCOMPARE(leftovers->first().messageId, messageId);
    }
};

QTEST_GUILESS_MAIN(HandoverTest)
#include "tst_handover.moc"
