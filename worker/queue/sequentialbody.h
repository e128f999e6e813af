#pragma once

#include <QByteArray>
#include <QIODevice>

namespace sendonce {

/// The body of a POST that can be read once only. QNetworkAccessManager sends a request again by itself when the
/// connection closes before the reply, but only if it can rewind the body; from this one it gives up with
/// ContentReSendError, and exactly one request was sent (reliability.md, finding 1). Goes with
/// DoNotBufferUploadDataAttribute and a Content-Length.
class SequentialBody : public QIODevice
{
    Q_OBJECT
public:
    explicit SequentialBody(QByteArray data, QObject *parent = nullptr);

    bool isSequential() const override { return true; }
    qint64 bytesAvailable() const override { return m_data.size() - m_read + QIODevice::bytesAvailable(); }
    bool reset() override { return false; } // QIODevice's own warns

protected:
    qint64 readData(char *data, qint64 maxSize) override;
    qint64 writeData(const char *data, qint64 maxSize) override;

private:
    QByteArray m_data;
    qint64 m_read = 0;
};

} // namespace sendonce
