"""The wire below the operations: sqs.md 1, 2, 6.1 and 16; HTTP itself as in RFC 9110 and 9112."""

import http.client
import json
import socket

from match import TEXT, UUID, differs, error, fauxerror, pattern
from messagecases import accepted
from suite import case

S3_THERE = "sqs.md 1.2: a queue's path works; fauxqs has SQS at / alone and S3 everywhere else"
OUR_RULE = "sqs.md 16: browsers are kept out; fauxqs asks nobody"
EXACT_URL = "sqs.md 1.2: fauxqs finds a queue by the whole URL that it gave out"
FAUX_GONE = fauxerror("QueueDoesNotExist", "The specified queue does not exist.", EXACT_URL)


# ---- forms of the queue's URL -----------------------------------------------------------------------------------------------

for name, form, known in [
    ("a bare name", "{name}", False),
    ("another host", "http://queue.example:1/000000000000/{name}", False),
    ("https", "https://sqs.us-east-1.amazonaws.com/000000000000/{name}", False),
    ("another account", "{scheme}/123456789012/{name}", False),
    ("only a path", "/000000000000/{name}", False),
    ("ElasticMQ's short path", "{scheme}/queue/{name}", False),
    ("LocalStack's path", "{scheme}/queue/us-east-1/000000000000/{name}", False),
    ("LocalStack's host", "http://us-east-1.queue.localhost.localstack.cloud:4566/000000000000/{name}", False),
]:

    @case(f"QueueUrl as {name}", accepted(), fauxqs=FAUX_GONE)
    def _(world, form=form):
        queue = world.queue()
        url = form.format(name=queue.name, scheme=f"http://{world.wire.authority}")
        return world.call("SendMessage", QueueUrl=url, MessageBody="a")


@case("POST at the queue's own path, without QueueUrl", accepted(), fauxqs=differs({"status": 200}, S3_THERE))
def _(world):
    queue = world.queue()
    return world.wire.call("SendMessage", {"MessageBody": "a"}, path=f"/000000000000/{queue.name}").seen()


@case("QueueUrl beats the path", ([1, 0, 0], [0, 0, 0]), fauxqs=differs(([0, 0, 0], [0, 0, 0]), S3_THERE))
def _(world):
    queue, other = world.queue(), world.queue()
    world.wire.call("SendMessage", {"QueueUrl": queue.url, "MessageBody": "a"}, path=f"/000000000000/{other.name}")
    return queue.counts(), other.counts()


for operation in ("CreateQueue", "ListQueues"):

    @case(
        f"{operation} at a queue's path",
        error("InvalidAction", f"The action {operation} is not valid for this endpoint."),
        fauxqs=differs({"status": 200}, S3_THERE),
    )
    def _(world, operation=operation):
        queue = world.queue()
        return world.wire.call(operation, {"QueueName": "other"}, path=f"/000000000000/{queue.name}").seen()


@case("GetQueueUrl at a queue's path works", True, fauxqs=differs(False, S3_THERE))
def _(world):
    queue = world.queue()
    seen = world.wire.call("GetQueueUrl", {"QueueName": queue.name}, path=f"/000000000000/{queue.name}").seen()
    return seen == {"QueueUrl": queue.url}


@case(
    "The URL is made from the Host that was asked",
    pattern("http://localhost:[0-9]+/000000000000/case-[0-9]+"),
    fauxqs=differs(pattern("http://sqs\\.us-east-1\\.localhost:[0-9]+/.*"), "sqs.md 17: a host of its own"),
)
def _(world):
    queue = world.queue()
    return world.wire.call(
        "GetQueueUrl", {"QueueName": queue.name}, headers={"Host": f"localhost:{world.wire.port}"}
    ).json()["QueueUrl"]


# ---- bodies that are no request ---------------------------------------------------------------------------------------------

WEB_SERVER = "sqs.md 6.3: a 4xx of the API; fauxqs lets its web server answer"
NOT_JSON = error("SerializationException")
for name, body in [
    ("half an object", b'{"QueueName":"a"'),
    ("no JSON", b"QueueName=a"),
    ("a list", b"[]"),
    ("a string", b'"a"'),
    ("no UTF-8", b'{"QueueName":"\xff"}'),
    ("a comma too many", b'{"QueueName":"a",}'),
    ("two objects", b"{}{}"),
]:
    faux = {
        "no UTF-8": fauxerror("QueueDoesNotExist", TEXT),
        "a list": fauxerror("InvalidParameterValue", TEXT),
        "a string": fauxerror("InvalidParameterValue", TEXT),
    }

    @case(f"A body of {name}", NOT_JSON, fauxqs=faux.get(name) or differs({"status": 500}, WEB_SERVER))
    def _(world, body=body):
        return world.wire.call("GetQueueUrl", body).seen()


for name, operation, params in [
    ("a number for a string", "GetQueueUrl", {"QueueName": 5}),
    ("a string for a number", "ListQueues", {"MaxResults": "x"}),
    ("a fraction for a whole number", "ListQueues", {"MaxResults": 1.5}),
    ("an object for a list", "GetQueueAttributes", {"AttributeNames": {}}),
    ("a list for a map", "CreateQueue", {"QueueName": "typed", "Attributes": []}),
    ("a number among strings", "CreateQueue", {"QueueName": "typed", "Attributes": {"DelaySeconds": 5}}),
    ("a string for an entry", "SendMessageBatch", {"Entries": ["a"]}),
    (
        "bytes that are no base64",
        "SendMessage",
        {"MessageBody": "a", "MessageAttributes": {"n": {"DataType": "Binary", "BinaryValue": "***"}}},
    ),
]:

    @case(f"A member of the wrong type: {name}", NOT_JSON, fauxqs=differs("no such check", "fauxqs checks no types"))
    def _(world, operation=operation, params=params):
        queue = world.queue()
        if operation in ("CreateQueue", "GetQueueUrl", "ListQueues"):
            seen = world.call(operation, **params)
        else:
            seen = queue.call(operation, **params)
        return "no such check" if seen.get("shape") != "SerializationException" else seen


@case("Unknown members are ignored", accepted())
def _(world):
    return world.queue().call("SendMessage", MessageBody="a", Foobar={"x": [1, None, "y"]}, messagebody="b")


@case("null is the same as absent", accepted())
def _(world):
    return world.queue().call(
        "SendMessage", MessageBody="a", DelaySeconds=None, MessageAttributes=None, MessageGroupId=None
    )


@case("An empty body is an empty object", 200, fauxqs=differs(500, WEB_SERVER))
def _(world):
    return world.wire.call("ListQueues", b"").status


@case("A number may be written as 5.0 or 5e0", [0, 0, 1])
def _(world):
    queue = world.queue()
    world.wire.call("SendMessage", f'{{"QueueUrl":"{queue.url}","MessageBody":"a","DelaySeconds":9e2}}'.encode())
    return queue.counts()


# ---- X-Amz-Target -----------------------------------------------------------------------------------------------------------


@case(
    "An unknown operation",
    error("InvalidAction", TEXT),
    fauxqs=differs(
        {"status": 400, "shape": "InvalidAction", "query": None, "message": "Unknown action: MakeCoffee"},
        "sqs.md 6.3: fauxqs without the header",
    ),
)
def _(world):
    return world.call("MakeCoffee")


@case(
    "An operation in another case",
    error("InvalidAction", TEXT),
    fauxqs=differs(
        {"status": 400, "shape": "InvalidAction", "query": None, "message": "Unknown action: listqueues"},
        "sqs.md 6.3: fauxqs without the header",
    ),
)
def _(world):
    return world.call("listqueues")


@case("No X-Amz-Target", 400)
def _(world):
    return world.wire.call("ListQueues", {}, headers={"X-Amz-Target": None}).status


@case("Another service's X-Amz-Target", 400)
def _(world):
    return world.wire.call("ListQueues", {}, headers={"X-Amz-Target": "DynamoDB_20120810.ListTables"}).status


@case(
    "X-Amz-Target decides, whatever the Content-Type",
    True,
    fauxqs=differs(False, "sqs.md 1.1: fauxqs wants the Content-Type too"),
)
def _(world):
    queue = world.queue()
    reply = world.wire.call("GetQueueUrl", {"QueueName": queue.name}, headers={"Content-Type": "application/json"})
    return reply.status == 200 and reply.json() == {"QueueUrl": queue.url}


@case("Content-Type with a charset", True)
def _(world):
    queue = world.queue()
    return world.wire.call(
        "GetQueueUrl", {"QueueName": queue.name}, headers={"Content-Type": "application/x-amz-json-1.0; charset=utf-8"}
    ).json() == {"QueueUrl": queue.url}


@case("No signature is needed on loopback", 200)
def _(world):
    return world.wire.call("ListQueues", {}, headers={"Authorization": None}).status


# ---- headers of answers -----------------------------------------------------------------------------------------------------


@case("An answer's Content-Type", pattern("application/x-amz-json-1\\.0(;.*)?"))
def _(world):
    return world.ask("ListQueues").headers["content-type"]


@case("An error's Content-Type", pattern("application/x-amz-json-1\\.0(;.*)?"))
def _(world):
    return world.ask("GetQueueUrl", QueueName="absent").headers["content-type"]


@case(
    "Every answer has a request id, each another",
    (UUID, UUID, True),
    fauxqs=differs((None, None, False), "sqs.md 2: fauxqs sends none"),
)
def _(world):
    first, second = (world.ask("GetQueueUrl", QueueName="absent").headers.get("x-amzn-requestid") for _ in range(2))
    return first, second, first != second


@case(
    "x-amzn-query-error only for those that ask for it",
    (None, "AWS.SimpleQueueService.NonExistentQueue;Sender"),
    fauxqs=differs(
        ("AWS.SimpleQueueService.NonExistentQueue;Sender",) * 2,
        "sqs.md 2: asked for by x-amzn-query-mode; fauxqs gives it to all",
    ),
)
def _(world):
    return tuple(
        world.wire.call("GetQueueUrl", {"QueueName": "absent"}, headers={"x-amzn-query-mode": mode}).headers.get(
            "x-amzn-query-error"
        )
        for mode in (None, "true")
    )


@case("__type has the namespace that clients cut off", "com.amazonaws.sqs#QueueDoesNotExist")
def _(world):
    return world.ask("GetQueueUrl", QueueName="absent").json()["__type"]


# ---- HTTP -------------------------------------------------------------------------------------------------------------------

HEAD = b"POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: AmazonSQS.GetQueueUrl\r\n"


def said(world, *headers, body=None, line=None):
    """The status of a request that is put together by hand."""
    body = json.dumps({"QueueName": world.queue().name}).encode() if body is None else body
    head = HEAD % world.wire.authority.encode()
    if line:
        head = line + head[head.index(b"\r\n") :]
    reply = world.wire.raw(
        head
        + b"".join(header + b"\r\n" for header in headers).replace(b"<length>", str(len(body)).encode())
        + b"\r\n"
        + body
    )
    return reply and reply.status


LENGTH = b"Content-Length: <length>"
SERVER = "an HTTP server of another make"
for name, headers, status, faux in [
    ("in order", [LENGTH], 200, None),
    ("header names in any case", [b"content-LENGTH: <length>"], 200, None),
    ("Expect: 100-continue", [LENGTH, b"Expect: 100-continue"], 200, None),
    ("Connection: close", [LENGTH, b"Connection: close"], 200, None),
    (
        "what SDKs add",
        [
            LENGTH,
            b"amz-sdk-invocation-id: 1",
            b"amz-sdk-request: attempt=1; max=3",
            b"X-Amz-Date: 20250901T120000Z",
            b"x-amz-content-sha256: UNSIGNED-PAYLOAD",
            b"Accept-Encoding: identity",
            b"User-Agent: x",
        ],
        200,
        None,
    ),
    ("a Content-Length of letters", [b"Content-Length: abc"], 400, None),
    ("a negative Content-Length", [b"Content-Length: -1"], 400, None),
    ("two Content-Lengths", [LENGTH, b"Content-Length: 1"], 400, None),
    ("Content-Length and Transfer-Encoding", [LENGTH, b"Transfer-Encoding: chunked"], 400, None),
    ("a header without a colon", [LENGTH, b"Nonsense"], 400, None),
    ("a blank before the colon", [LENGTH, b"Name : value"], 400, None),
    ("a folded header", [LENGTH, b"Name: value", b" more"], 400, None),
    ("a NUL in a header", [LENGTH, b"Name: a\0b"], 400, None),
    ("an unknown expectation", [LENGTH, b"Expect: miracles"], 417, None),
    ("a head of more than 16 KiB", [LENGTH, b"Name: " + b"x" * 17000], 431, None),
    ("a body of 100 MB announced", [b"Content-Length: 100000000"], 413, None),
    ("a page's Origin", [LENGTH, b"Origin: http://page.example"], 403, 200),
    ("a page's Sec-Fetch-Site", [LENGTH, b"Sec-Fetch-Site: cross-site"], 403, 200),
]:

    @case(f"HTTP with {name}", status, fauxqs=differs(faux, OUR_RULE if status == 403 else SERVER) if faux else None)
    def _(world, headers=headers):
        return said(world, *headers)


for name, line, status, faux in [
    ("GET", b"GET / HTTP/1.1", 405, 200),
    ("PUT", b"PUT / HTTP/1.1", 405, 200),
    ("HTTP/2.0", b"POST / HTTP/2.0", 505, 200),
    ("no version", b"POST /", 400, 200),
    ("HTTP/1.0", b"POST / HTTP/1.0", 200, None),
    ("a path of its own", b"POST nowhere HTTP/1.1", 400, None),
]:

    @case(f"HTTP with a request line of {name}", status, fauxqs=differs(faux, SERVER) if faux else None)
    def _(world, line=line):
        return said(world, LENGTH, line=line)


@case("HTTP with another Host", 403, fauxqs=differs(200, OUR_RULE))
def _(world):
    queue = world.queue()
    return world.wire.call("GetQueueUrl", {"QueueName": queue.name}, headers={"Host": "rebound.example"}).status


@case("Two requests in one packet get two answers, in order", True)
def _(world):
    queue = world.queue()
    request = b""
    for name in (queue.name, "absent"):
        body = json.dumps({"QueueName": name}).encode()
        request += HEAD % world.wire.authority.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with socket.create_connection((world.wire.host, world.wire.port), timeout=60) as connection:
        connection.sendall(request)
        got = b""
        while got.count(b"HTTP/1.1 ") < 2 or b"does not exist" not in got:
            more = connection.recv(65536)
            if not more:
                return got
            got += more
    return got.index(b"HTTP/1.1 200") < got.index(b"HTTP/1.1 400")


@case("A request that comes byte by byte", b"HTTP/1.1 200")
def _(world):
    body = json.dumps({"QueueName": world.queue().name}).encode()
    request = HEAD % world.wire.authority.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with socket.create_connection((world.wire.host, world.wire.port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(len(request)):
            connection.sendall(request[i : i + 1])
        return connection.recv(12, socket.MSG_WAITALL)


@case("Garbage instead of HTTP leaves the server serving", 200)
def _(world):
    for garbage in (b"\x16\x03\x01\x02\x00\x01\x00", b"\0" * 100, b"\r\n\r\n\r\n\r\n", b"GET\r\n\r\n"):
        with socket.create_connection((world.wire.host, world.wire.port), timeout=60) as connection:
            connection.sendall(garbage)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
    return world.ask("ListQueues").status


@case("A connection serves many requests", 50)
def _(world):
    connection = http.client.HTTPConnection(world.wire.host, world.wire.port, timeout=60)
    connection.connect()
    own = connection.sock.getsockname()
    served = 0
    for _ in range(50):
        connection.request(
            "POST", "/", b"{}", {"X-Amz-Target": "AmazonSQS.ListQueues", "Content-Type": "application/x-amz-json-1.0"}
        )
        served += (
            connection.getresponse().read() != b""
            and connection.sock is not None
            and connection.sock.getsockname() == own
        )
    connection.close()
    return served
