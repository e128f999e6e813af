#include "worker/local/maildir.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace sendonce;
using namespace Qt::StringLiterals;

namespace {

/// The system calls of one store(), in their order, seen by standing in front of libc's; one of them may fail.
struct Watch
{
    QStringList calls;
    bool on = false;
    qsizetype failAt = -1; ///< index in `calls`

    bool fails(const QString &call)
    {
        if (!on)
            return false;
        calls.append(call);
        if (calls.size() - 1 != failAt)
            return false;
        errno = EIO;
        return true;
    }
};
Watch watch;

QString nameOf(int descriptor)
{
    const QString target = QFile::symLinkTarget(u"/proc/self/fd/%1"_s.arg(descriptor));
    return target.section(u'/', -2, -2) == "tmp"_L1 ? u"tmp/x"_s : target.section(u'/', -1);
}

const ReceivedMail Mail{"a@example.org", {"b@example.org"}, "Subject: x\r\n\r\nbody\r\n"};

QStringList files(const QString &folder)
{
    return QDir(folder).entryList(QDir::Files | QDir::Hidden | QDir::System, QDir::Name);
}

int modeOf(const QString &path)
{
    struct stat status = {};
    return ::stat(QFile::encodeName(path).constData(), &status) == 0 ? int(status.st_mode & 07777) : -1;
}

} // namespace

extern "C" int fsync(int descriptor)
{
    return watch.fails("fsync "_L1 + nameOf(descriptor)) ? -1 : int(::syscall(SYS_fsync, descriptor));
}

extern "C" int rename(const char *from, const char *to) noexcept
{
    return watch.fails(u"rename"_s) ? -1 : int(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

class TestMaildir : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        watch = {};
    }

    void storesTheEnvelopeAndTheBytes()
    {
        Maildir maildir(path());
        QVERIFY(maildir.open());
        const Result<QString> name =
            maildir.store({"a@example.org", {"b@example.org", "c@example.org"}, "x\r\n\xff\r\n"});
        QVERIFY(name);
        QCOMPARE(contents(name.value()),
                 QByteArray("Return-Path: <a@example.org>\r\nDelivered-To: b@example.org\r\n"
                            "Delivered-To: c@example.org\r\nx\r\n\xff\r\n"));
        QVERIFY(
            QRegularExpression(u"^\\d{10}\\.M\\d{6}P%1\\.sendonce$"_s.arg(::getpid())).match(name.value()).hasMatch());
        QCOMPARE(files(path() + "/tmp"_L1), QStringList());
    }

    void aNullSenderIsKept()
    {
        Maildir maildir(path());
        QVERIFY(maildir.open());
        QVERIFY(contents(maildir.store({{}, {"b@example.org"}, "x\r\n"}).value()).startsWith("Return-Path: <>\r\n"));
    }

    void theMailIsDurableBeforeItHasItsName()
    {
        Maildir maildir(path());
        QVERIFY(maildir.open());
        watch.on = true;
        QVERIFY(maildir.store(Mail));
        QCOMPARE(watch.calls, (QStringList{u"fsync tmp/x"_s, u"rename"_s, u"fsync new"_s}));
    }

    void aFailureAtAnyCallLeavesNothing()
    {
        Maildir maildir(path());
        QVERIFY(maildir.open());
        for (qsizetype i = 0; i < 3; ++i) {
            watch = {{}, true, i};
            const Result<QString> stored = maildir.store(Mail);
            QVERIFY(!stored);
            QCOMPARE(stored.error().kind, ErrorKind::Io);
            QCOMPARE(watch.calls.size(), i + 1);
            QCOMPARE(files(path() + "/new"_L1), QStringList());
            QCOMPARE(files(path() + "/tmp"_L1), QStringList());
        }
        watch = {};
        QVERIFY(maildir.store(Mail));
    }

    void aFullDiskLeavesNothing()
    {
        Maildir maildir(path());
        QVERIFY(maildir.open());
        std::signal(SIGXFSZ, SIG_IGN);
        rlimit before = {};
        ::getrlimit(RLIMIT_FSIZE, &before);
        const rlimit small = {1000, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
        const Result<QString> stored = maildir.store({"a@example.org", {"b@example.org"}, QByteArray(2000, 'x')});
        ::setrlimit(RLIMIT_FSIZE, &before);
        QVERIFY(!stored);
        QCOMPARE(files(path() + "/new"_L1), QStringList());
        QCOMPARE(files(path() + "/tmp"_L1), QStringList());
    }

    void aMissingFolderIsAnError()
    {
        Maildir maildir(path());
        QVERIFY(maildir.open());
        QVERIFY(QDir(path() + "/tmp"_L1).removeRecursively());
        const Result<QString> stored = maildir.store(Mail);
        QVERIFY(!stored);
        QVERIFY2(stored.error().text.contains(u"No such file"_s), qPrintable(stored.error().text));
    }

    void namesSortByArrivalWhateverTheClock()
    {
        Maildir maildir(path());
        QVERIFY(maildir.open());
        QStringList names;
        for (int i = 0; i < 60; ++i)
            names.append(maildir.store(Mail).value());
        QCOMPARE(files(path() + "/new"_L1), names);
        QStringList sorted = names;
        sorted.sort();
        QCOMPARE(sorted, names);
        sorted.removeDuplicates();
        QCOMPARE(sorted.size(), 60);
    }

    void aClockSetBackDoesNotSortNewMailsFirst()
    {
        QVERIFY(Maildir(path()).open());
        const QString future = u"4000000000.M999999P1.sendonce"_s;
        QFile file(path() + "/new/"_L1 + future);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.close();
        Maildir maildir(path());
        QVERIFY(maildir.open());
        const Result<QString> name = maildir.store(Mail);
        QVERIFY(name);
        QVERIFY(name.value().startsWith(u"4000000001.M000000P"_s));
        QVERIFY(name.value() > future);
    }

    void openEmptiesTmpAndLeavesNew()
    {
        Maildir first(path());
        QVERIFY(first.open());
        const QString name = first.store(Mail).value();
        QFile unfinished(path() + "/tmp/half"_L1);
        QVERIFY(unfinished.open(QIODevice::WriteOnly));
        unfinished.close();

        QVERIFY(Maildir(path()).open());
        QCOMPARE(files(path() + "/tmp"_L1), QStringList());
        QCOMPARE(files(path() + "/new"_L1), QStringList{name});
    }

    void nobodyElseMayRead()
    {
        ::umask(0);
        Maildir maildir(path());
        QVERIFY(maildir.open());
        const QString name = maildir.store(Mail).value();
        ::umask(022);
        for (const QString &folder : {path(), path() + "/tmp"_L1, path() + "/new"_L1})
            QCOMPARE(modeOf(folder), 0700);
        QCOMPARE(modeOf(path() + "/new/"_L1 + name), 0600);
    }

    void aFolderOpenToOthersIsClosed()
    {
        QVERIFY(QDir().mkdir(path()));
        QCOMPARE(::chmod(QFile::encodeName(path()).constData(), 0755), 0);
        QVERIFY(Maildir(path()).open());
        QCOMPARE(modeOf(path()), 0700);
    }

    void aPlaceThatIsNoFolderIsAnError_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::newRow("file") << u"file"_s;
        QTest::newRow("link") << u"link"_s;
        QTest::newRow("no parent") << u"parent"_s;
    }

    void aPlaceThatIsNoFolderIsAnError()
    {
        QFETCH(const QString, kind);
        QString place = path();
        if (kind == "file"_L1) {
            QFile file(place);
            QVERIFY(file.open(QIODevice::WriteOnly));
        } else if (kind == "link"_L1) {
            QVERIFY(QDir().mkdir(m_folder->path() + "/elsewhere"_L1));
            QVERIFY(QFile::link(m_folder->path() + "/elsewhere"_L1, place));
        } else {
            place += "/missing/mailbox"_L1;
        }
        const Result<void> opened = Maildir(place).open();
        QVERIFY(!opened);
        QCOMPARE(opened.error().kind, ErrorKind::Io);
        QVERIFY2(opened.error().text.contains(place), qPrintable(opened.error().text));
    }

private:
    QString path() const { return m_folder->path() + "/mailbox"_L1; }
    QByteArray contents(const QString &name) const
    {
        QFile file(path() + "/new/"_L1 + name);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(TestMaildir)
#include "tst_maildir.moc"
