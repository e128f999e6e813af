#include "worker/digest/sha256.h"

#include <QCryptographicHash>
#include <QtTest>

#include <thread>
#include <vector>

using namespace sendonce;
using namespace Qt::StringLiterals;

class Sha256Test : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    /// NIST, "SHA-256 example values" (FIPS 180-4), and the empty text.
    void publishedValues_data()
    {
        QTest::addColumn<QByteArray>("data");
        QTest::addColumn<QByteArray>("hash");
        QTest::newRow("nothing") << QByteArray()
                                 << "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"_ba;
        QTest::newRow("one block") << "abc"_ba
                                   << "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"_ba;
        QTest::newRow("two blocks") << "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"_ba
                                    << "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"_ba;
    }
    void publishedValues()
    {
        QFETCH(QByteArray, data);
        QFETCH(QByteArray, hash);
        QCOMPARE(sha256(data).toHex(), hash);
    }

    void eachThreadHasItsOwn()
    {
        QList<QByteArray> texts;
        for (int i = 0; i < 200; ++i)
            texts.append(QByteArray(i * 37, char('a' + i % 26)));
        std::vector<int> wrong(4, 0);
        std::vector<std::thread> threads;
        for (int &mine : wrong)
            threads.emplace_back([&texts, &mine] {
                for (const QByteArray &text : texts)
                    mine += sha256(text) == QCryptographicHash::hash(text, QCryptographicHash::Sha256) ? 0 : 1;
            });
        for (std::thread &thread : threads)
            thread.join();
        QCOMPARE(wrong, std::vector<int>(4, 0));
    }
};

QTEST_GUILESS_MAIN(Sha256Test)
#include "tst_sha256.moc"
