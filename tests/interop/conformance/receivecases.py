"""Receiving: sqs.md 5.2, 5.3, 6.4 and 8."""

import json
import socket
import time

from match import HANDLE, MSEC, TEXT, UUID, differs, error, fauxerror, invalid, pattern
from messagecases import KENOBI, binary, md5, string
from suite import case, until

UNASKED = "sqs.md 17: returns all message attributes unasked"
CLOCK = "sqs.md 8: visible at once; fauxqs looks at its clock only in a receive"
PROMPT_S = 12  # a wake-up that does not come shows as the poll's own 20 s


# ---- what a message is ------------------------------------------------------------------------------------------------------


@case("Nothing there: no member at all", {})
def _(world):
    return world.queue().call("ReceiveMessage")


@case(
    "A plain message has four members",
    {"Messages": [{"MessageId": UUID, "ReceiptHandle": HANDLE, "MD5OfBody": md5("a"), "Body": "a"}]},
)
def _(world):
    queue = world.queue()
    queue.send()
    return queue.call("ReceiveMessage")


@case("MessageId is the one of the send", True)
def _(world):
    queue = world.queue()
    return queue.send()["MessageId"] == queue.one()["MessageId"]


@case("A hundred receives have a hundred handles of at most 1024 characters", True)
def _(world):
    queue = world.queue()
    queue.send()
    handles = [queue.one(VisibilityTimeout=0)["ReceiptHandle"] for _ in range(100)]
    return len(set(handles)) == 100 and max(map(len, handles)) <= 1024


SYSTEM = {
    "ApproximateReceiveCount": "1",
    "ApproximateFirstReceiveTimestamp": MSEC,
    "SentTimestamp": MSEC,
    "SenderId": TEXT,
}

for member in ("AttributeNames", "MessageSystemAttributeNames"):

    @case(f"{member} All", SYSTEM)
    def _(world, member=member):
        queue = world.queue()
        queue.send()
        return queue.one(**{member: ["All"]})["Attributes"]

    for name, value in SYSTEM.items():

        @case(f"{member} {name}", {name: value})
        def _(world, member=member, name=name):
            queue = world.queue()
            queue.send()
            return queue.one(**{member: [name]})["Attributes"]

    @case(
        f"{member} of an unknown name",
        error("InvalidAttributeName", "Unknown Attribute Foobar."),
        fauxqs=differs({}, "sqs.md 5.2, unverified: fauxqs ignores unknown names"),
    )
    def _(world, member=member):
        return world.queue().call("ReceiveMessage", **{member: ["Foobar"]})

    @case(f"{member} that is set on no message leaves the member out", False)
    def _(world, member=member):
        queue = world.queue()
        queue.send()
        return "Attributes" in queue.one(**{member: ["DeadLetterQueueSourceArn"]})


@case("Both lists of system attributes given: their union", SYSTEM)
def _(world):
    queue = world.queue()
    queue.send()
    return queue.one(MessageSystemAttributeNames=["All"], AttributeNames=["SenderId"])["Attributes"]


@case("Both lists of system attributes given: one name each", {"SenderId": TEXT, "SentTimestamp": MSEC})
def _(world):
    queue = world.queue()
    queue.send()
    return queue.one(MessageSystemAttributeNames=["SentTimestamp"], AttributeNames=["SenderId"])["Attributes"]


@case(
    "Empty lists, as sqs-consumer sends them, ask for nothing",
    ["Body", "MD5OfBody", "MessageId", "ReceiptHandle"],
    fauxqs=differs(
        ["Body", "MD5OfBody", "MD5OfMessageAttributes", "MessageAttributes", "MessageId", "ReceiptHandle"], UNASKED
    ),
)
def _(world):
    queue = world.queue()
    queue.send(MessageAttributes=KENOBI)
    return sorted(queue.one(AttributeNames=[], MessageSystemAttributeNames=[], MessageAttributeNames=[]))


NAMED = {"foo.a": string("1"), "foo.b": string("2"), "bar": string("3"), "foo": string("4")}
for asked, answer in [
    (["All"], ["bar", "foo", "foo.a", "foo.b"]),
    ([".*"], ["bar", "foo", "foo.a", "foo.b"]),
    (["*"], ["bar", "foo", "foo.a", "foo.b"]),
    (["bar"], ["bar"]),
    (["bar", "foo.b"], ["bar", "foo.b"]),
    (["foo.*"], ["foo.a", "foo.b"]),
    (["none"], []),
    (["none", "bar"], ["bar"]),
    (["Bar"], []),
]:

    @case(
        f"MessageAttributeNames {asked}",
        answer,
        fauxqs=differs([], "sqs.md 5.3: fauxqs does not know *") if asked == ["*"] else None,
    )
    def _(world, asked=asked):
        queue = world.queue()
        queue.send(MessageAttributes=NAMED)
        got = sorted(queue.one(MessageAttributeNames=asked).get("MessageAttributes", {}))
        return (
            [name for name in got if name != "foo"] if asked == ["foo.*"] else got
        )  # "foo" itself: nobody wrote it down


for asked in (["none"], [""], ["a b"], ["AWS.x"], ["..."]):

    @case(
        f"MessageAttributeNames {asked} that matches nothing: no members, no error",
        ["Body", "MD5OfBody", "MessageId", "ReceiptHandle"],
    )
    def _(world, asked=asked):
        queue = world.queue()
        queue.send(MessageAttributes=KENOBI)
        return sorted(queue.one(MessageAttributeNames=asked))


EVERY_TYPE = {
    "s": string("é😀\r\n"),
    "n": string("-1.50", "Number"),
    "n2": string("007", "Number.int"),
    "b": binary(bytes(range(256))),
    "b2": binary(b"\0", "Binary.gif"),
    "s2": string("x", "String.label"),
}


@case("Attributes of every type come back as they were sent", EVERY_TYPE)
def _(world):
    queue = world.queue()
    queue.send(MessageAttributes=EVERY_TYPE)
    return queue.one(MessageAttributeNames=["All"])["MessageAttributes"]


# ---- parameters -------------------------------------------------------------------------------------------------------------

for value in (0, 11):

    @case(
        f"MaxNumberOfMessages {value}",
        invalid(
            f"Value {value} for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided."
        ),
        fauxqs=fauxerror(
            "InvalidParameterValue",
            "Value for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10.",
        ),
    )
    def _(world, value=value):
        return world.queue().call("ReceiveMessage", MaxNumberOfMessages=value)


for value in (-1, 21):

    @case(
        f"WaitTimeSeconds {value}",
        invalid(
            f"Value {value} for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided."
        ),
        fauxqs=fauxerror(
            "InvalidParameterValue",
            f"Value {value} for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.",
        ),
    )
    def _(world, value=value):
        return world.queue().call("ReceiveMessage", WaitTimeSeconds=value)


for value in (-1, 43201):

    @case(
        f"VisibilityTimeout {value}",
        invalid(pattern(f"Value {value} for parameter VisibilityTimeout is invalid\\. .*")),
        fauxqs=fauxerror(
            "InvalidParameterValue",
            f"Value {value} for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.",
        ),
    )
    def _(world, value=value):
        return world.queue().call("ReceiveMessage", VisibilityTimeout=value)


@case("ReceiveRequestAttemptId on a standard queue", invalid(), fauxqs=differs({}, "sqs.md 4: for FIFO queues"))
def _(world):
    return world.queue().call("ReceiveMessage", ReceiveRequestAttemptId="a")


@case("One message unless more are asked for", 1)
def _(world):
    queue = world.queue()
    queue.send()
    queue.send()
    return len(queue.receive())


@case("Ten of twelve, then two, each once", [10, 2, 0, 12])
def _(world):
    queue = world.queue()
    for i in range(12):
        queue.send(str(i))
    batches = [queue.receive(MaxNumberOfMessages=10) for _ in range(3)]
    return [len(batch) for batch in batches] + [len({message["Body"] for batch in batches for message in batch})]


@case("Fewer than asked for when there are fewer", 2)
def _(world):
    queue = world.queue()
    queue.send()
    queue.send()
    return len(queue.receive(MaxNumberOfMessages=10, WaitTimeSeconds=20))


# ---- counting and hiding ----------------------------------------------------------------------------------------------------


@case("A received message is hidden", ([], [0, 1, 0]))
def _(world):
    queue = world.queue()
    queue.send()
    queue.one()
    return queue.receive(), queue.counts()


@case(
    "VisibilityTimeout 0 leaves it visible and counts",
    (["1", "2", "3"], [1, 0, 0]),
    fauxqs=differs((["1", "2", "3"], [0, 1, 0]), CLOCK),
)
def _(world):
    queue = world.queue()
    queue.send()
    counts = [
        queue.one(VisibilityTimeout=0, AttributeNames=["All"])["Attributes"]["ApproximateReceiveCount"]
        for _ in range(3)
    ]
    return counts, queue.counts()


@case("VisibilityTimeout 0 gives nobody a message twice in one receive", 1)
def _(world):
    queue = world.queue()
    queue.send()
    return len(queue.receive(MaxNumberOfMessages=10, VisibilityTimeout=0))


@case("The first receive's time stays, the handle is a new one", (True, False))
def _(world):
    queue = world.queue()
    queue.send()
    first = queue.one(VisibilityTimeout=0, AttributeNames=["All"])
    time.sleep(0.01)
    second = queue.one(VisibilityTimeout=0, AttributeNames=["All"])
    key = "ApproximateFirstReceiveTimestamp"
    return first["Attributes"][key] == second["Attributes"][key], first["ReceiptHandle"] == second["ReceiptHandle"]


@case("SentTimestamp is now, in milliseconds", True)
def _(world):
    queue = world.queue()
    before = time.time()
    queue.send()
    sent = int(queue.one(AttributeNames=["SentTimestamp"])["Attributes"]["SentTimestamp"]) / 1000
    return before - 30 < sent < time.time() + 30


@case("The queue's VisibilityTimeout holds where the receive has none", ["1", "2"])
def _(world):
    queue = world.queue(VisibilityTimeout="1")
    queue.send()
    first = queue.one(AttributeNames=["All"])
    second = queue.one(AttributeNames=["All"], WaitTimeSeconds=20)
    return [message["Attributes"]["ApproximateReceiveCount"] for message in (first, second)]


@case("The receive's VisibilityTimeout beats the queue's", True)
def _(world):
    queue = world.queue(VisibilityTimeout="0")
    queue.send()
    queue.one(VisibilityTimeout=600)
    return queue.receive() == []


# ---- long polls -------------------------------------------------------------------------------------------------------------


def woken(world, queue, act, **receive):
    """What a long poll of 20 s that already waits gets from what act does."""
    start = time.monotonic()
    poll = world.meanwhile(lambda: queue.receive(WaitTimeSeconds=20, MaxNumberOfMessages=10, **receive))
    act()
    bodies = [message["Body"] for message in poll.result()]
    return bodies if time.monotonic() - start < PROMPT_S else f"{bodies} only after {time.monotonic() - start:.1f} s"


@case("A long poll is woken by a send", ["a"])
def _(world):
    queue = world.queue()
    return woken(world, queue, queue.send)


@case("A long poll is woken by a batch, and gets what is there", True)
def _(world):
    queue = world.queue()
    got = woken(world, queue, lambda: queue.batch("SendMessageBatch", [{"Id": i, "MessageBody": i} for i in "abc"]))
    return set(got) <= set("abc") and len(got) >= 1


@case("A long poll is woken when a visibility timeout ends", ["a"])
def _(world):
    queue = world.queue()
    queue.send()
    queue.one(VisibilityTimeout=1)
    return woken(world, queue, lambda: None)


@case("A long poll is woken when a visibility is set to 0", ["a"])
def _(world):
    queue = world.queue()
    queue.send()
    handle = queue.one(VisibilityTimeout=600)["ReceiptHandle"]
    return woken(world, queue, lambda: queue.done("ChangeMessageVisibility", ReceiptHandle=handle, VisibilityTimeout=0))


@case("A long poll is woken when a visibility that was shortened ends", ["a"])
def _(world):
    queue = world.queue()
    queue.send()
    handle = queue.one(VisibilityTimeout=600)["ReceiptHandle"]
    return woken(world, queue, lambda: queue.done("ChangeMessageVisibility", ReceiptHandle=handle, VisibilityTimeout=1))


@case("A long poll is woken when a delay ends", ["a"])
def _(world):
    queue = world.queue()
    return woken(world, queue, lambda: queue.send(DelaySeconds=1))


@case("A long poll is woken when the queue's delay ends", ["a"])
def _(world):
    queue = world.queue(DelaySeconds="1")
    return woken(world, queue, queue.send)


@case("A long poll on a dead-letter queue is woken by the move", ["a"])
def _(world):
    queue, dead = world.with_dead_letters(1)
    queue.send()
    queue.one(VisibilityTimeout=0)
    return woken(world, dead, queue.receive)


@case("A long poll that finds something does not wait", ["a"])
def _(world):
    queue = world.queue()
    queue.send()
    return woken(world, queue, lambda: None)


@case("A long poll with nothing ends empty after its time", ({}, True))
def _(world):
    queue = world.queue()
    start = time.monotonic()
    return queue.call("ReceiveMessage", WaitTimeSeconds=1), time.monotonic() - start > 0.9


@case("The queue's ReceiveMessageWaitTimeSeconds makes a poll long", True)
def _(world):
    queue = world.queue(ReceiveMessageWaitTimeSeconds="1")
    start = time.monotonic()
    queue.receive()
    return time.monotonic() - start > 0.9


@case("WaitTimeSeconds 0 of the receive beats the queue's", True)
def _(world):
    queue = world.queue(ReceiveMessageWaitTimeSeconds="20")
    start = time.monotonic()
    queue.receive(WaitTimeSeconds=0)
    return time.monotonic() - start < PROMPT_S


@case(
    "Of two long polls each gets another message",
    ["a", "b"],
    fauxqs=differs(["a"], "sqs.md 8: fauxqs ends every long poll of the queue when one message comes"),
)
def _(world):
    queue = world.queue()
    polls = [world.meanwhile(lambda: queue.receive(WaitTimeSeconds=20)) for _ in range(2)]
    for body in "ab":
        queue.send(body)
    return sorted(message["Body"] for poll in polls for message in poll.result())


@case("A long poll sleeps on while another queue is sent to", [])
def _(world):
    queue, other = world.queue(), world.queue()
    poll = world.meanwhile(lambda: queue.receive(WaitTimeSeconds=1))
    other.send()
    return poll.result()


@case(
    "A long poll of a client that hung up hides nothing",
    ["a"],
    fauxqs=differs([], "sqs.md 8 and 16: fauxqs hands the message to the client that has gone"),
)
def _(world):
    queue = world.queue()
    body = json.dumps({"QueueUrl": queue.url, "WaitTimeSeconds": 20}).encode()
    with socket.create_connection((world.wire.host, world.wire.port)) as gone:
        gone.sendall(
            b"POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-amz-json-1.0\r\n"
            b"X-Amz-Target: AmazonSQS.ReceiveMessage\r\nContent-Length: %d\r\n\r\n%s"
            % (world.wire.authority.encode(), len(body), body)
        )
        time.sleep(0.3)
    queue.send()
    return queue.bodies(WaitTimeSeconds=1)


@case("A queue deleted under a long poll ends it", True)
def _(world):
    queue = world.queue()
    start = time.monotonic()
    poll = world.meanwhile(lambda: queue.ask("ReceiveMessage", WaitTimeSeconds=20))
    queue.done("DeleteQueue")
    return poll.result().status in (200, 400) and time.monotonic() - start < PROMPT_S


@case("A send's effect is there at once for a short poll", 20)
def _(world):
    queue = world.queue()
    got = 0
    for _ in range(20):
        queue.send()
        got += len(queue.receive())
    return got


@case("Counts come down again when a timeout ends", [1, 0, 0], fauxqs=differs([0, 1, 0], CLOCK))
def _(world):
    queue = world.queue()
    queue.send()
    queue.one(VisibilityTimeout=1)
    until(lambda: queue.counts() == [1, 0, 0], seconds=2 if world.server == "fauxqs" else 20)
    return queue.counts()
