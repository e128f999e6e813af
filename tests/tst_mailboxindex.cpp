#include "worker/operate/mailboxindex.h"

#include <QtTest>

#include <QTemporaryDir>

using namespace sendonce;
using namespace Qt::StringLiterals;

class MailboxIndexTest : public QObject
{
    Q_OBJECT
    std::unique_ptr<QTemporaryDir> m_dir;

    QString folder() const { return m_dir->path() + u"/mailbox/new/"_s; }

    void arrive(const QString &name, const QByteArray &bytes) const
    {
        QFile file(folder() + name);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(bytes);
    }

    static QByteArray mail(const QByteArray &eventId, const QByteArray &subject = "Hello")
    {
        return "Return-Path: <a@example.org>\r\nFrom: A <a@example.org>\r\nTo: Sam <sam@example.org>\r\nSubject: "
            + subject + "\r\nMessage-ID: <1@example.org>\r\nX-Sendonce-Event: " + eventId + "\r\n\r\nbody\r\n";
    }

private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        QVERIFY(QDir().mkpath(folder()));
    }

    void newestFirstWithItsHeaders()
    {
        arrive(u"1.a"_s, mail("E1"));
        arrive(u"2.b"_s, mail("E2", "=?utf-8?q?=C3=84nderung?="));
        MailboxIndex index(m_dir->path());
        QVERIFY(index.refresh());
        const auto rows = index.snapshot({}, 10).rows;
        QCOMPARE(rows.size(), 2);
        QCOMPARE(rows[0].eventId, u"E2"_s);
        QCOMPARE(rows[0].subject, u"Änderung"_s);
        QCOMPARE(rows[0].to, u"Sam <sam@example.org>"_s);
        QCOMPARE(rows[0].messageId, u"1@example.org"_s);
        QVERIFY(!index.refresh()); // nothing new
    }

    void oneGoneAndOneNewIsSeen()
    {
        arrive(u"1.a"_s, mail("E1"));
        arrive(u"2.b"_s, mail("E2"));
        MailboxIndex index(m_dir->path());
        QVERIFY(index.refresh());
        QVERIFY(QFile::remove(folder() + u"1.a"_s));
        arrive(u"3.c"_s, mail("E3"));
        QVERIFY(index.refresh());
        const auto rows = index.snapshot({}, 10).rows;
        QCOMPARE(rows.size(), 2);
        QCOMPARE(rows[0].eventId, u"E3"_s);
        QCOMPARE(rows[1].eventId, u"E2"_s);
        QVERIFY(QDir(folder()).removeRecursively());
        QVERIFY(index.refresh());
        QVERIFY(index.snapshot({}, 10).rows.isEmpty());
        QVERIFY(!index.refresh());
    }

    void foldersAndHiddenFilesAreNoMails()
    {
        arrive(u".hidden"_s, mail("E1"));
        QVERIFY(QDir(folder()).mkdir(u"folder"_s));
        MailboxIndex index(m_dir->path());
        QVERIFY(!index.refresh());
    }

    void copiesAreCountedPerEvent()
    {
        arrive(u"1.a"_s, mail("E1"));
        arrive(u"2.b"_s, mail("E1"));
        arrive(u"3.c"_s, mail("E2"));
        MailboxIndex index(m_dir->path());
        index.refresh();
        for (const MailRow &row : index.snapshot({}, 10).rows)
            QCOMPARE(row.copies, row.eventId == "E1"_L1 ? 2 : 1);
    }

    void mailsWithoutAnEventAreNoCopiesOfEachOther()
    {
        arrive(u"1.a"_s, "Subject: one\r\n\r\n");
        arrive(u"2.b"_s, "Subject: two\r\n\r\n");
        MailboxIndex index(m_dir->path());
        index.refresh();
        for (const MailRow &row : index.snapshot({}, 10).rows)
            QCOMPARE(row.copies, 1);
    }

    void theLimitCutsTheListNotTheTotal()
    {
        for (int i = 0; i < 5; ++i)
            arrive(u"%1.x"_s.arg(i), mail("E"));
        MailboxIndex index(m_dir->path());
        index.refresh();
        const auto snapshot = index.snapshot({}, 2);
        QCOMPARE(snapshot.rows.size(), 2);
        QCOMPARE(snapshot.total, 5);
    }

    void aRemovedMailIsForgotten()
    {
        arrive(u"1.a"_s, mail("E1"));
        arrive(u"2.b"_s, mail("E1"));
        MailboxIndex index(m_dir->path());
        index.refresh();
        QVERIFY(QFile::remove(folder() + u"1.a"_s));
        QVERIFY(index.refresh());
        QCOMPARE(index.snapshot({}, 10).total, 1);
        QCOMPARE(index.snapshot({}, 10).rows[0].copies, 1);
    }

    void onlyListedMailsAreOpened()
    {
        arrive(u"1.a"_s, mail("E1"));
        QFile secret(m_dir->path() + u"/secret"_s);
        QVERIFY(secret.open(QIODevice::WriteOnly));
        MailboxIndex index(m_dir->path());
        index.refresh();
        QVERIFY(index.open(u"1.a"_s).error.isEmpty());
        QCOMPARE(index.open(u"1.a"_s).text, u"body\n"_s);
        QVERIFY(!index.open(u"../../secret"_s).error.isEmpty());
    }
};

QTEST_GUILESS_MAIN(MailboxIndexTest)
#include "tst_mailboxindex.moc"
