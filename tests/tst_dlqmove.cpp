#include "tests/world/world.h"

#include <QFile>
#include <QtTest>

using namespace sendonce::world;
using namespace Qt::StringLiterals;

/// `sendoncectl dlq move`: the endpoint itself moves everything back.
class DlqMoveTest : public QObject
{
    Q_OBJECT

    static bool sendUnknownType(const World &world, const QString &eventId)
    {
        QFile file(world.dataDir() + u"/body.json"_s);
        if (!file.open(QIODevice::WriteOnly))
            return false;
        file.write("{\"type\": \"application.archived\", \"event_id\": \"" + eventId.toUtf8() + "\"}");
        file.close();
        return world.ctl({u"send"_s, u"--body"_s, file.fileName()}).exitCode == 0;
    }

private Q_SLOTS:
    void everythingGoesBackToTheQueueThatItCameFrom()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        for (const QString &eventId : {u"e-1"_s, u"e-2"_s})
            QVERIFY(sendUnknownType(world, eventId));
        QCOMPARE(world.ctl({u"worker"_s, u"--until-empty"_s}).exitCode, 0); // nobody knows the type: they die
        QCOMPARE(world.deadLetters().size(), 2);

        Ended none = world.ctl({u"dlq"_s, u"move"_s, u"--cancel"_s});
        QCOMPARE(none.exitCode, 1);
        QVERIFY2(none.err.contains(u"no move task is under way"_s), qPrintable(none.err));
        QCOMPARE(world.ctl({u"dlq"_s, u"move"_s, u"--rate"_s, u"501"_s}).exitCode, 2);

        // Browsed letters are hidden until the browse makes them visible; a task takes those that are visible.
        const Ended moved = world.ctl({u"dlq"_s, u"move"_s, u"--rate"_s, u"500"_s});
        QVERIFY2(moved.exitCode == 0, qPrintable(moved.err + moved.out));
        QCOMPARE(moved.lastLine(), u"completed: about 2 of 2 moved"_s);
        QVERIFY(world.deadLetters().isEmpty());
        const Ended status = world.ctl({u"dlq"_s, u"move"_s, u"--status"_s});
        QCOMPARE(status.exitCode, 0);
        QCOMPARE(status.lastLine(), u"completed: about 2 of 2 moved"_s);
        QCOMPARE(world.ctl({u"worker"_s, u"--until-empty"_s}).lastLine(), u"sent 0, skipped 0, failed 6, in doubt 0"_s);

        const Ended audit = world.ctl({u"dlq"_s, u"audit"_s, u"--json"_s});
        QVERIFY2(audit.out.contains(u"move task"_s) && audit.out.contains(u"completed, about 2 moved"_s),
                 qPrintable(audit.out));
        // Whoever only looks does not move.
        const Ended refused = world.ctl({u"dlq"_s, u"move"_s, u"--read-only"_s});
        QCOMPARE(refused.exitCode, 1);
        QVERIFY2(refused.err.contains(u"read-only"_s), qPrintable(refused.err));
    }
};

QTEST_GUILESS_MAIN(DlqMoveTest)
#include "tst_dlqmove.moc"
