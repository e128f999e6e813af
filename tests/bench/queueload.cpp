/// Load for an SQS server on 127.0.0.1, in AWS JSON 1.0 over keep-alive connections that block; for ./dev bench.
///   queueload PORT send QUEUE COUNT      COUNT messages of 1 KiB in batches of ten, over eight connections
///   queueload PORT work QUEUE COUNT      receives ten and deletes them with one call, until COUNT are deleted
///   queueload PORT hold QUEUE COUNT      receives COUNT and hides them for twelve hours
///   queueload PORT idle QUEUE POLLS SECONDS    POLLS long polls that find nothing, for so long
/// The queue is made where there is none. Prints messages per second, or "idle" once all polls wait; then exits with 0.

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr int Connections = 8;
constexpr int BatchSize = 10;

[[noreturn]] void fail(const char *what, std::string_view more = {})
{
    std::fprintf(stderr, "queueload: %s %.*s\n", what, int(std::min<size_t>(more.size(), 500)), more.data());
    std::_Exit(1);
}

class Connection
{
public:
    explicit Connection(uint16_t port) : m_socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(m_socket, reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0)
            fail("cannot connect");
        const int on = 1;
        ::setsockopt(m_socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        m_host = "127.0.0.1:" + std::to_string(port);
    }
    ~Connection() { ::close(m_socket); }
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;

    void ask(const char *operation, const std::string &body)
    {
        std::string request = "POST / HTTP/1.1\r\nHost: " + m_host
            + "\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: AmazonSQS." + operation
            + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
        for (size_t sent = 0; sent < request.size();) {
            const ssize_t now = ::send(m_socket, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
            if (now <= 0)
                fail("the server hung up while it was asked");
            sent += size_t(now);
        }
    }

    /// The body of the answer, good until the next call; anything but a 200 ends the program.
    std::string_view answer()
    {
        m_bytes.clear();
        size_t head = std::string::npos, needed = 0;
        while (head == std::string::npos || m_bytes.size() < needed) {
            char buffer[65536];
            const ssize_t now = ::recv(m_socket, buffer, sizeof buffer, 0);
            if (now <= 0)
                fail("the server hung up instead of answering");
            m_bytes.append(buffer, size_t(now));
            if (head == std::string::npos && (head = m_bytes.find("\r\n\r\n")) != std::string::npos)
                needed = head + 4 + contentLength(std::string_view(m_bytes).substr(0, head));
        }
        if (m_bytes.compare(0, 12, "HTTP/1.1 200") != 0)
            fail("refused:", m_bytes);
        return std::string_view(m_bytes).substr(head + 4);
    }

    std::string_view call(const char *operation, const std::string &body)
    {
        ask(operation, body);
        return answer();
    }

private:
    static size_t contentLength(std::string_view head)
    {
        constexpr std::string_view name = "content-length: ";
        for (size_t line = head.find("\r\n"); line != std::string_view::npos; line = head.find("\r\n", line + 2)) {
            const std::string_view at = head.substr(line + 2);
            size_t length = 0;
            if (at.size() > name.size() && ::strncasecmp(at.data(), name.data(), name.size()) == 0
                && std::from_chars(at.data() + name.size(), at.data() + at.size(), length).ec == std::errc())
                return length;
        }
        fail("an answer without Content-Length", head);
    }

    int m_socket;
    std::string m_host;
    std::string m_bytes;
};

/// The text values of a member, which hold no escapes where we ask.
std::vector<std::string> values(std::string_view json, const std::string &member)
{
    const std::string key = '"' + member + "\":\"";
    std::vector<std::string> found;
    for (size_t at = json.find(key); at != std::string_view::npos; at = json.find(key, at)) {
        at += key.size();
        found.emplace_back(json.substr(at, json.find('"', at) - at));
    }
    return found;
}

/// Runs work over all connections; it takes its share from a counter. Messages per second.
template <typename Work>
double overConnections(uint16_t port, long count, Work work)
{
    std::atomic<long> left = count;
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (int i = 0; i < Connections; ++i) {
        threads.emplace_back([&left, &work, port] {
            Connection connection(port);
            work(connection, left);
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    return double(count) / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double send(uint16_t port, const std::string &queue, long count)
{
    std::string text(1000, 'x');
    for (size_t i = 0; i < text.size(); ++i)
        text[i] = char('a' + i * 7 % 26);
    std::atomic<long> number = 0;
    return overConnections(port, count, [&](Connection &connection, std::atomic<long> &left) {
        while (left.fetch_sub(BatchSize) > 0) {
            std::string body = "{\"QueueUrl\":\"" + queue + "\",\"Entries\":[";
            for (int i = 0; i < BatchSize; ++i) {
                char id[24];
                std::snprintf(id, sizeof id, "%020ld", ++number); // with the text 1 KiB, and no two alike
                body += (i ? ",{\"Id\":\"" : "{\"Id\":\"") + std::to_string(i) + "\",\"MessageBody\":\"" + text
                    + "{no:" + id + "}\"}"; // braces instead of escaped quotes
            }
            const std::string_view answer = connection.call("SendMessageBatch", body + "]}");
            if (values(answer, "MessageId").size() != BatchSize)
                fail("not all were sent:", answer);
        }
    });
}

/// Receives for so long as there is work; \p remove deletes what came, else it stays hidden.
double receive(uint16_t port, const std::string &queue, long count, bool remove)
{
    const std::string request =
        "{\"QueueUrl\":\"" + queue + "\",\"MaxNumberOfMessages\":10,\"VisibilityTimeout\":43200}";
    return overConnections(port, count, [&](Connection &connection, std::atomic<long> &left) {
        while (left.load() > 0) {
            const auto handles = values(connection.call("ReceiveMessage", request), "ReceiptHandle");
            if (handles.empty())
                continue; // the others have the rest
            if (remove) {
                std::string body = "{\"QueueUrl\":\"" + queue + "\",\"Entries\":[";
                for (size_t i = 0; i < handles.size(); ++i)
                    body += (i ? ",{\"Id\":\"" : "{\"Id\":\"") + std::to_string(i) + "\",\"ReceiptHandle\":\""
                        + handles[i] + "\"}";
                const std::string_view answer = connection.call("DeleteMessageBatch", body + "]}");
                if (values(answer, "Id").size() != handles.size() || answer.find("\"Code\"") != std::string_view::npos)
                    fail("not all were deleted:", answer);
            }
            left -= long(handles.size());
        }
    });
}

void idle(uint16_t port, const std::string &queue, long polls, long seconds)
{
    std::vector<std::unique_ptr<Connection>> waiting;
    for (long i = 0; i < polls; ++i) {
        waiting.push_back(std::make_unique<Connection>(port));
        waiting.back()->ask("ReceiveMessage", "{\"QueueUrl\":\"" + queue + "\",\"WaitTimeSeconds\":20}");
        // Served before the next: a poll that waits is none of the connections that a server may be short of.
        if (i % 16 == 15)
            Connection(port).call("ListQueues", "{}");
    }
    Connection(port).call("ListQueues", "{}");
    std::printf("idle\n");
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
}

} // namespace

int main(int argc, char **argv)
{
    const std::string_view what = argc > 2 ? argv[2] : "";
    if (argc != (what == "idle" ? 6 : 5)) {
        std::fprintf(stderr, "usage: queueload PORT send|work|hold QUEUE COUNT, or PORT idle QUEUE POLLS SECONDS\n");
        return 2;
    }
    const auto port = uint16_t(std::atoi(argv[1]));
    const long count = std::atol(argv[4]);
    const std::string created(Connection(port).call("CreateQueue", std::string("{\"QueueName\":\"") + argv[3] + "\"}"));
    const auto urls = values(created, "QueueUrl");
    if (urls.empty())
        fail("no queue:", created);
    const std::string &queue = urls.front();
    if (what == "send")
        std::printf("%.1f\n", send(port, queue, count));
    else if (what == "work" || what == "hold")
        std::printf("%.1f\n", receive(port, queue, count, what == "work"));
    else if (what == "idle")
        idle(port, queue, count, std::atol(argv[5]));
    else
        return 2;
    return 0;
}
