#include <QProcess>
#include <QProcessEnvironment>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace Qt::StringLiterals;

/// The mail password in the keychain: the true program, a D-Bus session and gnome-keyring of the test's own.
class TestKeychain : public QObject
{
    Q_OBJECT

    struct Ended
    {
        int exitCode = -1;
        QString out, err;
    };

    static QString program() { return QStringLiteral(SENDONCE_BIN_DIR) + u"/sendoncectl"_s; }

    QProcessEnvironment environment() const
    {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const QString &name : {u"DBUS_SESSION_BUS_ADDRESS"_s, u"DISPLAY"_s, u"SENDONCE_MAIL_PASSWORD"_s})
            environment.remove(name);
        for (const QString &name : {u"HOME"_s, u"XDG_RUNTIME_DIR"_s, u"XDG_DATA_HOME"_s, u"SENDONCE_DATA_DIR"_s})
            environment.insert(name, m_dir->path());
        environment.insert(u"SENDONCE_MAIL_URL"_s, u"smtps://dana%40jobs@mail.example"_s);
        environment.insert(u"CTL"_s, program());
        return environment;
    }
    Ended run(const QString &command, const QStringList &words) const
    {
        QProcess process;
        process.setProcessEnvironment(environment());
        process.setStandardInputFile(QProcess::nullDevice());
        process.start(command, words);
        if (!process.waitForFinished(60'000))
            process.kill();
        return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
                QString::fromUtf8(process.readAllStandardError())};
    }

    std::unique_ptr<QTemporaryDir> m_dir;

private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void withoutASessionBusItSaysSoAtOnce()
    {
        const Ended ended = run(program(), {u"mail"_s, u"password"_s, u"--print"_s});
        QCOMPARE(ended.exitCode, 4);
        QVERIFY2(ended.err.contains(u"no session bus"_s) && ended.err.contains(u"SENDONCE_MAIL_PASSWORD"_s),
                 qPrintable(ended.err));
    }

    void aWorkerWithoutAnyPasswordDoesNotStart()
    {
        const Ended ended = run(program(), {u"worker"_s, u"--until-empty"_s});
        QCOMPARE(ended.exitCode, 2);
        QVERIFY2(ended.err.contains(u"dana@jobs@mail.example"_s) && ended.err.contains(u"--mail-password-command"_s),
                 qPrintable(ended.err));
    }

    void aUrlWithoutAUserIsWrongUsage()
    {
        const Ended ended =
            run(program(), {u"mail"_s, u"password"_s, u"--set"_s, u"--mail-url"_s, u"smtps://mail.example"_s});
        QCOMPARE(ended.exitCode, 2);
        QVERIFY2(ended.err.contains(u"with a user"_s), qPrintable(ended.err));
    }

    void aSecretServiceKeepsIt()
    {
        if (QStandardPaths::findExecutable(u"gnome-keyring-daemon"_s).isEmpty()
            || QStandardPaths::findExecutable(u"dbus-run-session"_s).isEmpty())
            QSKIP("gnome-keyring and dbus-run-session are not installed");
        const QString script =
            u"printf keyring | gnome-keyring-daemon --unlock --components=secrets >/dev/null || exit 9\n"
            "$CTL mail password --print; echo \"none: $?\"\n"
            "printf 's3 äcret\\n' | $CTL mail password --set; echo \"set: $?\"\n"
            "$CTL mail password --print; echo \"print: $?\"\n"
            "$CTL mail password --print --mail-url smtps://else@mail.example; echo \"other: $?\"\n"
            "$CTL mail password --forget; echo \"forget: $?\"\n"
            "$CTL mail password --print; echo \"gone: $?\"\n"_s;
        const Ended ended = run(u"dbus-run-session"_s, {u"--"_s, u"sh"_s, u"-c"_s, script});
        const QString expected = u"none: 1\n"
                                 "the keychain has the password of dana@jobs@mail.example\nset: 0\n"
                                 "s3 äcret\nprint: 0\n"
                                 "other: 1\n"
                                 "the keychain has no password of dana@jobs@mail.example any more\nforget: 0\n"
                                 "gone: 1\n"_s;
        QVERIFY2(ended.out == expected, qPrintable(ended.out + u"----\n"_s + ended.err));
        QVERIFY2(ended.err.contains(u"sendoncectl mail password --set"_s), qPrintable(ended.err));
        QVERIFY(!ended.err.contains(u"cret"_s.prepend(u"ä"_s)));
    }
};

QTEST_GUILESS_MAIN(TestKeychain)
#include "tst_keychain.moc"
