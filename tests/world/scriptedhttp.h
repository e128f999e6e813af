#pragma once

#include <QByteArray>
#include <QHash>
#include <QList>
#include <QObject>
#include <QPair>
#include <QTcpServer>
#include <QUrl>

#include <functional>

class QTcpSocket;

/// An HTTP server that does as it is told, byte for byte: for each request that it has read whole it plays the next
/// step, and it keeps what it read. Lives in the test's own thread.
class ScriptedHttp : public QObject
{
    Q_OBJECT
public:
    struct Request
    {
        QByteArray method, target;
        QList<QPair<QByteArray, QByteArray>> headers; ///< as sent, in order
        QByteArray body;
        int connection = 0; ///< 1 for the first one that was opened

        QByteArray header(const QByteArray &name) const; ///< name in any case; empty when it is not there
    };

    enum class After {
        Keep, ///< the connection stays open; with no bytes: a stall
        Close, ///< FIN
        Reset, ///< RST
    };
    struct Step
    {
        QByteArray bytes; ///< sent as they are
        After after = After::Keep;
        bool endless = false; ///< sends the bytes over and over
    };

    explicit ScriptedHttp(QObject *parent = nullptr);
    ~ScriptedHttp() override;

    QUrl url(const QByteArray &path = {}) const; ///< http://127.0.0.1:port
    void next(const Step &step) { m_steps.append(step); } ///< when no step is left: reply(200, "{}")

    /// From now on, when no step is left. It may be called for one connection while another one stalls.
    void answerBy(std::function<Step(const Request &)> answer) { m_answer = std::move(answer); }

    static Step reply(int status, const QByteArray &body, const QList<QPair<QByteArray, QByteArray>> &headers = {},
                      After after = After::Keep);
    static Step stall() { return {}; }

    void closeAll(); ///< FIN to every connection that is open

    const QList<Request> &requests() const { return m_requests; }
    int connectionCount() const { return m_connectionCount; } ///< ever opened
    int openConnections() const { return int(m_pending.size()); }

private:
    void accept();
    void read(QTcpSocket *socket);
    void play(QTcpSocket *socket, const Step &step);

    QTcpServer m_server;
    QList<Step> m_steps;
    std::function<Step(const Request &)> m_answer;
    QList<Request> m_requests;
    QHash<QTcpSocket *, QByteArray> m_pending; ///< bytes of requests that are not whole yet, by open connection
    QHash<QTcpSocket *, int> m_numbers;
    int m_connectionCount = 0;
};
