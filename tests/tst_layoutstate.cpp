#include "ui/layoutstate.h"
#include "ui/mainwindow.h"
#include "ui/paneldock.h"
#include "ui/processedpanel.h"
#include "ui/queuepanel.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;

namespace {

QByteArray fileBytes(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void writeFile(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(bytes), bytes.size());
}

} // namespace

class TestLayoutState : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        QTest::failOnWarning(QRegularExpression(u"^(?!This plugin does not support)"_s));
        m_folder = std::make_unique<QTemporaryDir>();
    }

    void whatIsPackedIsUnpacked()
    {
        const WindowLayout layout{"geometry", QByteArray("st\0ate", 6)};
        QCOMPARE(unpackLayout(packLayout(layout)), layout);
        QCOMPARE(unpackLayout(packLayout({})), WindowLayout());
    }

    void oneDamagedByteIsNoticed()
    {
        const QByteArray good = packLayout({"geometry", "state"});
        for (qsizetype i = 0; i < good.size(); ++i) {
            QByteArray bad = good;
            bad[i] = char(bad.at(i) ^ 0x10);
            QVERIFY2(!unpackLayout(bad), qPrintable(QString::number(i)));
        }
    }

    void aCutOrLongerFileIsNoticed()
    {
        const QByteArray good = packLayout({"geometry", "state"});
        for (qsizetype size = 0; size < good.size(); ++size)
            QVERIFY(!unpackLayout(good.left(size)));
        QVERIFY(!unpackLayout(good + 'x'));
        QVERIFY(!unpackLayout(QByteArray(4096, 'x')));
    }

    void aFinishedStartFindsItsLayout()
    {
        const WindowLayout layout{"g", "s"};
        LayoutStore store(m_folder->path() + u"/state"_s);
        QVERIFY(!store.begin()); // nothing yet; makes the folder
        store.finished();
        QVERIFY(store.save(layout));
        QCOMPARE(store.begin(), layout);
        store.finished();
    }

    void afterAStartThatDidNotFinishTheLayoutIsThrownAway()
    {
        LayoutStore store(m_folder->path());
        QVERIFY(store.save({"g", "s"}));
        QVERIFY(store.begin());
        // No finished(): it crashed.
        QVERIFY(!store.begin());
        store.finished();
        QVERIFY(!store.begin()); // and does not come back
    }

    void aDamagedFileIsNoLayout()
    {
        LayoutStore store(m_folder->path());
        QVERIFY(store.save({"g", "s"}));
        QByteArray bytes = fileBytes(store.layoutPath());
        bytes[bytes.size() - 1] = char(bytes.back() ^ 1);
        writeFile(store.layoutPath(), bytes);
        QVERIFY(!store.begin());
    }

    void theWindowKeepsItsLayout()
    {
        {
            MainWindow window;
            window.keepStateIn(m_folder->path());
            window.show();
            window.dockOf(window.queuePanel())->hide();
            QVERIFY(window.close());
        }
        QVERIFY(QFile::exists(LayoutStore(m_folder->path()).layoutPath()));
        QVERIFY(!QFile::exists(LayoutStore(m_folder->path()).markPath()));
        MainWindow window;
        window.keepStateIn(m_folder->path());
        window.show();
        QVERIFY(!window.dockOf(window.queuePanel())->isVisible());
        window.resetLayout();
        QVERIFY(window.dockOf(window.queuePanel())->isVisible());
    }

    void theWindowSurvivesADamagedLayout()
    {
        {
            MainWindow window;
            window.keepStateIn(m_folder->path());
            window.show();
            window.dockOf(window.queuePanel())->hide();
            QVERIFY(window.close());
        }
        const QString path = LayoutStore(m_folder->path()).layoutPath();
        const QByteArray good = fileBytes(path);
        QVERIFY(good.size() > 200);
        for (qsizetype at = 60; at < good.size(); at += good.size() / 8) {
            QByteArray bad = good;
            for (qsizetype i = at; i < std::min(at + 3, bad.size()); ++i)
                bad[i] = char(bad.at(i) + 77);
            writeFile(path, bad);
            MainWindow window;
            window.keepStateIn(m_folder->path());
            window.show();
            QVERIFY(window.dockOf(window.queuePanel())->isVisible()); // the default layout
            LayoutStore(m_folder->path()).finished();
        }
    }

    void aStartCountsAsFinishedSoonAfterTheWindowWasShown()
    {
        MainWindow window;
        window.keepStateIn(m_folder->path());
        QVERIFY(QFile::exists(LayoutStore(m_folder->path()).markPath()));
        window.show();
        QTRY_VERIFY(!QFile::exists(LayoutStore(m_folder->path()).markPath()));
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_MAIN(TestLayoutState)
#include "tst_layoutstate.moc"
