#include "worker/queue/retrypolicy.h"

#include <QTest>

using namespace sendonce;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

const retrypolicy::Failure Closed{{ErrorKind::Unreachable, u"closed"_s, {}}, 0, false};
const retrypolicy::Failure Stall{{ErrorKind::Unreachable, u"no answer"_s, {}}, 0, true};

} // namespace

class TestRetryPolicy : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void whatIsRetried_data();
    void whatIsRetried();
    void threeAttemptsInAll();
    void waitsGrowToTheirLimit_data();
    void waitsGrowToTheirLimit();
    void bucketPaysForRetries();
    void bucketIsRefilledBySuccess();
    void nothingIsTakenForNothing();
};

void TestRetryPolicy::whatIsRetried_data()
{
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("code");
    QTest::addColumn<int>("status");
    QTest::addColumn<bool>("retried");
    QTest::newRow("no connection") << ErrorKind::Unreachable << QString() << 0 << true;
    QTest::newRow("not HTTP") << ErrorKind::Protocol << QString() << 0 << false;
    for (const int status : {500, 502, 503, 504})
        QTest::addRow("%d", status) << ErrorKind::Unreachable << QString() << status << true;
    QTest::newRow("501") << ErrorKind::Unreachable << QString() << 501 << false;
    QTest::newRow("408 without a code") << ErrorKind::Unreachable << QString() << 408 << false;
    QTest::newRow("408 with one") << ErrorKind::Unreachable << u"RequestTimeout"_s << 408 << true;
    QTest::newRow("500 with a code") << ErrorKind::Unreachable << u"InternalFailure"_s << 500 << true;
    QTest::newRow("throttled, 400") << ErrorKind::Throttled << u"ThrottlingException"_s << 400 << true;
    QTest::newRow("throttled, 403") << ErrorKind::Throttled << u"RequestThrottled"_s << 403 << true;
    QTest::newRow("throttled keys") << ErrorKind::Throttled << u"KmsThrottled"_s << 400 << true;
    QTest::newRow("120,000 in flight") << ErrorKind::Throttled << u"OverLimit"_s << 403 << false;
    QTest::newRow("one purge a minute") << ErrorKind::Throttled << u"PurgeQueueInProgress"_s << 403 << false;
    QTest::newRow("a queue of that name was just deleted")
        << ErrorKind::Throttled << u"QueueDeletedRecently"_s << 400 << false;
    QTest::newRow("denied") << ErrorKind::Refused << u"AccessDenied"_s << 403 << false;
    QTest::newRow("expired") << ErrorKind::Refused << u"ExpiredToken"_s << 403 << false;
    QTest::newRow("bare 403") << ErrorKind::Refused << QString() << 403 << false;
    QTest::newRow("no such queue") << ErrorKind::NotFound << u"QueueDoesNotExist"_s << 400 << false;
    QTest::newRow("redirect") << ErrorKind::Protocol << QString() << 307 << false;
}

void TestRetryPolicy::whatIsRetried()
{
    QFETCH(ErrorKind, kind);
    QFETCH(QString, code);
    QFETCH(int, status);
    QFETCH(bool, retried);
    const retrypolicy::Failure failure{{kind, u"text"_s, code}, status, false};
    QCOMPARE(retrypolicy::isRetryable(failure), retried);
    retrypolicy::Bucket bucket;
    QCOMPARE(retrypolicy::decide(1, failure, bucket, 0.5, {}).has_value(), retried);
}

void TestRetryPolicy::threeAttemptsInAll()
{
    retrypolicy::Bucket bucket;
    QVERIFY(retrypolicy::decide(1, Closed, bucket, 0.5, {}));
    QVERIFY(retrypolicy::decide(2, Closed, bucket, 0.5, {}));
    QVERIFY(!retrypolicy::decide(3, Closed, bucket, 0.5, {}));
    QVERIFY(!retrypolicy::decide(1, Closed, bucket, 0.5, {1, 1s}));
}

void TestRetryPolicy::waitsGrowToTheirLimit_data()
{
    QTest::addColumn<int>("attempt");
    QTest::addColumn<double>("random");
    QTest::addColumn<int>("msec");
    QTest::newRow("first, longest") << 1 << 1.0 << 1000;
    QTest::newRow("first, half") << 1 << 0.5 << 500;
    QTest::newRow("first, at once") << 1 << 0.0 << 0;
    QTest::newRow("second") << 2 << 1.0 << 2000;
    QTest::newRow("fifth") << 5 << 1.0 << 16000;
    QTest::newRow("sixth") << 6 << 1.0 << 20000;
    QTest::newRow("hundredth") << 100 << 0.25 << 5000;
}

void TestRetryPolicy::waitsGrowToTheirLimit()
{
    QFETCH(int, attempt);
    QFETCH(double, random);
    QFETCH(int, msec);
    retrypolicy::Bucket bucket;
    const auto retry = retrypolicy::decide(attempt, Closed, bucket, random, {1000, 1s});
    QVERIFY(retry);
    QCOMPARE(retry->wait, std::chrono::milliseconds(msec));
}

void TestRetryPolicy::bucketPaysForRetries()
{
    retrypolicy::Bucket bucket;
    for (int i = 0; i < 100; ++i)
        QVERIFY(retrypolicy::decide(1, Closed, bucket, 0.5, {}));
    QCOMPARE(bucket.tokens(), 0);
    QVERIFY(!retrypolicy::decide(1, Closed, bucket, 0.5, {}));

    retrypolicy::Bucket other;
    for (int i = 0; i < 50; ++i)
        QVERIFY(retrypolicy::decide(1, Stall, other, 0.5, {}));
    QVERIFY(!retrypolicy::decide(1, Stall, other, 0.5, {}));
}

void TestRetryPolicy::bucketIsRefilledBySuccess()
{
    retrypolicy::Bucket bucket;
    retrypolicy::succeeded(bucket, 0);
    QCOMPARE(bucket.tokens(), 500); // never fuller
    const auto first = retrypolicy::decide(1, Closed, bucket, 0.5, {});
    const auto second = retrypolicy::decide(2, Stall, bucket, 0.5, {});
    QCOMPARE(first->tokens, 5);
    QCOMPARE(second->tokens, 10);
    QCOMPARE(bucket.tokens(), 485);
    retrypolicy::succeeded(bucket, second->tokens); // of the last retry, as botocore has it
    QCOMPARE(bucket.tokens(), 495);
    retrypolicy::succeeded(bucket, 0);
    QCOMPARE(bucket.tokens(), 496);
}

void TestRetryPolicy::nothingIsTakenForNothing()
{
    retrypolicy::Bucket bucket;
    QVERIFY(!retrypolicy::decide(3, Closed, bucket, 0.5, {}));
    QVERIFY(!retrypolicy::decide(1, {{ErrorKind::Refused, {}, u"AccessDenied"_s}, 403, false}, bucket, 0.5, {}));
    QCOMPARE(bucket.tokens(), 500);
    QVERIFY(bucket.take(498));
    QVERIFY(!retrypolicy::decide(1, Closed, bucket, 0.5, {}));
    QCOMPARE(bucket.tokens(), 2);
}

QTEST_GUILESS_MAIN(TestRetryPolicy)
#include "tst_retrypolicy.moc"
