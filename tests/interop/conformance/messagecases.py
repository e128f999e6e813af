"""Sending: sqs.md 5.2, 5.3, 6.4, 7 and 10."""

import base64
import hashlib

from match import TEXT, UUID, differs, error, fauxerror, invalid, missing, pattern
from suite import case

ILLEGAL = error("InvalidMessageContents")
NO_ATTRIBUTE_RULES = "sqs.md 5.3: fauxqs does not check message attributes"
MEBIBYTE = 1048576


def md5(text):
    return hashlib.md5(text.encode()).hexdigest()


def string(value, type="String"):
    return {"DataType": type, "StringValue": value}


def binary(value, type="Binary"):
    return {"DataType": type, "BinaryValue": base64.b64encode(value).decode()}


def accepted(body="a", **more):
    return {"MessageId": UUID, "MD5OfMessageBody": md5(body), **more}


# ---- MD5, section 10 --------------------------------------------------------------------------------------------------------

for body, digest in [
    ("héllo", "be50e8478cf24ff3595bc7307fb91b50"),
    ("message", "78e731027d8fd50ed642340b7c9a63b3"),
    ("test", "098f6bcd4621d373cade4e832627b4f6"),
    ("a b&c=é\n", "f5f81354e3db6c9ae567dc671f156ec4"),
]:

    @case(f"MD5 of the body {body!r}", ({"MessageId": UUID, "MD5OfMessageBody": digest}, digest))
    def _(world, body=body):
        queue = world.queue()
        return queue.send(body), queue.one()["MD5OfBody"]


KENOBI = {"Hello": string("There"), "General": string("Kenobi"), "Help.Me": string("Me")}

for name, attributes, digest in [
    ("three strings", KENOBI, "4c360f3fdafd970e05fae2f149d997f5"),
    ("a number", {"timestamp": string("1493147359900", "Number")}, "235c5c510d26fb653d073faed50ae77c"),
    ("one string", {"MyAttribute": string("foobar")}, "adb59cd4678ea5a855436b949cd07ab6"),
    (
        "a labelled number, bytes and a string",
        {"attempt": string("1", "Number.int"), "blob": binary(b"\0\xff"), "event_id": string("evt-42")},
        "526ac51008ab065632161c750ee1f5ea",
    ),
]:

    @case(f"MD5 of the attributes: {name}", (digest, digest))
    def _(world, attributes=attributes):
        queue = world.queue()
        sent = queue.send(MessageAttributes=attributes)
        return sent["MD5OfMessageAttributes"], queue.one(MessageAttributeNames=["All"])["MD5OfMessageAttributes"]


for asked, digest in [(["Hello", "General"], "fca026605781cb4126a1e9044df24232"), (["Hello"], "a311262e[0-9a-f]{24}")]:

    @case(
        f"MD5 on receive is that of the returned attributes: {'+'.join(asked)}",
        (sorted(asked), pattern(digest)),
        fauxqs=differs((sorted(asked), "4c360f3fdafd970e05fae2f149d997f5"), "sqs.md 5.3: of the subset (recorded)"),
    )
    def _(world, asked=asked):
        queue = world.queue()
        queue.send(MessageAttributes=KENOBI)
        message = queue.one(MessageAttributeNames=asked)
        return sorted(message["MessageAttributes"]), message["MD5OfMessageAttributes"]


TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"


@case(
    "MD5 of the trace header",
    accepted(MD5OfMessageSystemAttributes="5ae4d5d7636402d80f4eb6d213245a88"),
    fauxqs=differs(accepted(), "sqs.md 10: fauxqs ignores MessageSystemAttributes"),
)
def _(world):
    return world.queue().send(MessageSystemAttributes={"AWSTraceHeader": string(TRACE)})


@case("Without attributes there is no MD5 of them", ["MD5OfMessageBody", "MessageId"])
def _(world):
    return sorted(world.queue().send())


# ---- which characters -------------------------------------------------------------------------------------------------------

EMOJI_REFUSED = "sqs.md 17: refuses emoji as InvalidMessageContents, though #x10000-#x10FFFF is legal"

for name, body in [
    ("tab, LF, CR", "\t\n\r"),
    ("CR LF line ends", "one\r\ntwo\r\n"),
    ("a blank", " "),
    ("markup", "<a>&amp;</a> \"'"),
    ("U+007F", "\x7f"),
    ("U+0085, U+2028", "\x85\u2028"),
    ("U+D7FF", "\ud7ff"),
    ("U+E000", "\ue000"),
    ("U+FFFD", "\ufffd"),
    ("emoji", "😀"),
    ("U+10000", "\U00010000"),
    ("U+10FFFF", "\U0010ffff"),
    ("a byte order mark first", "\ufeffa"),
    ("the text null", "null"),
    ("JSON in JSON", '{"a":"\\u0000"}'),
]:
    astral = any(ord(character) > 0xFFFF for character in body)

    @case(
        f"A body of {name} comes back as it was sent",
        body,
        fauxqs=differs(
            {
                "status": 400,
                "shape": "InvalidMessageContents",
                "query": "AWS.SimpleQueueService.InvalidMessageContents;Sender",
                "message": TEXT,
            },
            EMOJI_REFUSED,
        )
        if astral
        else None,
    )
    def _(world, body=body):
        queue = world.queue()
        sent = queue.call("SendMessage", MessageBody=body)
        return queue.one()["Body"] if "MessageId" in sent else sent


for name, body in [
    ("U+0000", "\\u0000"),
    ("U+0001", "\\u0001"),
    ("U+000B", "\\u000b"),
    ("U+001F", "\\u001f"),
    ("U+FFFE", "\\ufffe"),
    ("U+FFFF", "\\uffff"),
    ("a lone high surrogate", "\\ud800"),
    ("a lone low surrogate", "\\udc00"),
    ("surrogates the wrong way round", "\\udc00\\ud800"),
]:

    @case(f"A body with {name} is refused", ILLEGAL, fauxqs=fauxerror("InvalidMessageContents", TEXT))
    def _(world, body=body):
        queue = world.queue()
        request = f'{{"QueueUrl":"{queue.url}","MessageBody":"a{body}b"}}'
        return world.wire.call("SendMessage", request.encode()).seen()


@case(
    "A surrogate pair in the JSON is one character",
    ("😀", md5("😀")),
    fauxqs=differs("InvalidMessageContents", EMOJI_REFUSED),
)
def _(world):
    queue = world.queue()
    sent = world.wire.call(
        "SendMessage", f'{{"QueueUrl":"{queue.url}","MessageBody":"\\ud83d\\ude00"}}'.encode()
    ).seen()
    return (queue.one()["Body"], sent["MD5OfMessageBody"]) if "MessageId" in sent else sent["shape"]


# ---- lengths ----------------------------------------------------------------------------------------------------------------

TOO_LONG = "One or more parameters are invalid. Reason: Message must be shorter than %d bytes."


@case("An empty body", missing("MessageBody"), fauxqs=fauxerror("MissingParameter", missing("MessageBody")["message"]))
def _(world):
    return world.queue().call("SendMessage", MessageBody="")


@case("No body", missing("MessageBody"), fauxqs=fauxerror("MissingParameter", missing("MessageBody")["message"]))
def _(world):
    return world.queue().call("SendMessage")


for name, body in [("1048576 bytes", "x" * MEBIBYTE), ("524288 characters of 2 bytes", "é" * (MEBIBYTE // 2))]:

    @case(f"A body of {name} goes", accepted(body))
    def _(world, body=body):
        return world.queue().call("SendMessage", MessageBody=body)


for name, body in [
    ("1048577 bytes", "x" * (MEBIBYTE + 1)),
    ("524289 characters of 2 bytes", "é" * (MEBIBYTE // 2 + 1)),
]:

    @case(
        f"A body of {name} does not go",
        invalid(TOO_LONG % MEBIBYTE),
        fauxqs=fauxerror("InvalidParameterValue", TOO_LONG % MEBIBYTE),
    )
    def _(world, body=body):
        return world.queue().call("SendMessage", MessageBody=body)


@case("The queue's own MaximumMessageSize, exactly", accepted("x" * 1024))
def _(world):
    return world.queue(MaximumMessageSize="1024").call("SendMessage", MessageBody="x" * 1024)


@case(
    "The queue's own MaximumMessageSize, one more",
    invalid(TOO_LONG % 1024),
    fauxqs=fauxerror("InvalidParameterValue", TOO_LONG % 1024),
)
def _(world):
    return world.queue(MaximumMessageSize="1024").call("SendMessage", MessageBody="x" * 1025)


# 3 of the name, 6 of the type, 15 of the value: 24 in all
for length, fits in [(1000, True), (1001, False)]:

    @case(f"Attributes count: {length} bytes and an attribute of 24 {'fit' if fits else 'do not fit'} into 1024", fits)
    def _(world, length=length):
        queue = world.queue(MaximumMessageSize="1024")
        sent = queue.call("SendMessage", MessageBody="x" * length, MessageAttributes={"key": string("v" * 15)})
        return "MessageId" in sent


for length, fits in [(1000, True), (1001, False)]:

    @case(
        f"Bytes of a binary attribute count before base64: {length} and 24 {'fit' if fits else 'do not fit'} into 1024",
        fits,
        fauxqs=differs(False, "sqs.md 7: fauxqs counts base64") if fits else None,
    )
    def _(world, length=length):
        queue = world.queue(MaximumMessageSize="1024")
        sent = queue.call("SendMessage", MessageBody="x" * length, MessageAttributes={"key": binary(b"\0" * 15)})
        return "MessageId" in sent


@case("The trace header does not count", True)
def _(world):
    queue = world.queue(MaximumMessageSize="1024")
    sent = queue.call("SendMessage", MessageBody="x" * 1024, MessageSystemAttributes={"AWSTraceHeader": string(TRACE)})
    return "MessageId" in sent


# ---- delay ------------------------------------------------------------------------------------------------------------------

for seconds in (0, 900):

    @case(f"SendMessage delayed by {seconds} s", [0, 0, 1] if seconds else [1, 0, 0])
    def _(world, seconds=seconds):
        queue = world.queue()
        queue.send(DelaySeconds=seconds)
        return queue.counts()


for seconds in (-1, 901):

    @case(
        f"SendMessage with DelaySeconds {seconds}",
        invalid(pattern(f"Value {seconds} for parameter DelaySeconds is invalid\\. .*")),
        fauxqs=differs(accepted(), "sqs.md 7: fauxqs does not check a message's DelaySeconds"),
    )
    def _(world, seconds=seconds):
        return world.queue().call("SendMessage", MessageBody="a", DelaySeconds=seconds)


@case("The queue's DelaySeconds holds where the message has none", [0, 0, 1])
def _(world):
    queue = world.queue(DelaySeconds="900")
    queue.send()
    return queue.counts()


@case("DelaySeconds 0 of the message beats the queue's", [1, 0, 0])
def _(world):
    queue = world.queue(DelaySeconds="900")
    queue.send(DelaySeconds=0)
    return queue.counts()


@case("A changed queue delay is not for what was sent before", [0, 0, 1])
def _(world):
    queue = world.queue(DelaySeconds="900")
    queue.send()
    queue.done("SetQueueAttributes", Attributes={"DelaySeconds": "0"})
    return queue.counts()


# ---- message attributes -----------------------------------------------------------------------------------------------------


def with_attributes(world, attributes):
    return world.queue().call("SendMessage", MessageBody="a", MessageAttributes=attributes)


TAKEN = accepted(MD5OfMessageAttributes=pattern("[0-9a-f]{32}"))
for name, attributes in [
    ("ten of them", {f"n{i}": string("v") for i in range(10)}),
    ("a name of 256", {"n" * 256: string("v")}),
    ("a name with . - _", {"a.b-c_D9": string("v")}),
    ("a name that only begins like AWS", {"AWSx": string("v")}),
    ("a type of 256", {"n": string("v", "String." + "l" * 249)}),
    ("a label", {"n": string("v", "String.my type")}),
    ("a labelled binary", {"n": binary(b"\0", "Binary.png")}),
    ("an emoji", {"n": string("😀")}),
    ("0", {"n": string("0", "Number")}),
    ("-1.5e3", {"n": string("-1.5e3", "Number")}),
    ("1e-128", {"n": string("1e-128", "Number")}),
    ("1e126", {"n": string("1e126", "Number")}),
    ("38 digits", {"n": string("1" * 38, "Number")}),
]:

    @case(f"Attributes that go: {name}", TAKEN)
    def _(world, attributes=attributes):
        return with_attributes(world, attributes)


for name, attributes in [
    ("eleven of them", {f"n{i}": string("v") for i in range(11)}),
    ("an empty name", {"": string("v")}),
    ("a name of 257", {"n" * 257: string("v")}),
    ("a leading period", {".n": string("v")}),
    ("a period at the end", {"n.": string("v")}),
    ("two periods in a row", {"a..b": string("v")}),
    ("AWS. at the front", {"AWS.n": string("v")}),
    ("aws. at the front", {"aws.n": string("v")}),
    ("Amazon. at the front", {"Amazon.n": string("v")}),
    ("a blank in the name", {"a b": string("v")}),
    ("no type", {"n": {"StringValue": "v"}}),
    ("an unknown type", {"n": string("v", "Text")}),
    ("a type in lower case", {"n": string("v", "string")}),
    ("an empty label", {"n": string("v", "String.")}),
    ("a type of 257", {"n": string("v", "String." + "l" * 250)}),
    ("an empty binary", {"n": binary(b"")}),
    ("no value", {"n": {"DataType": "String"}}),
    ("a string as binary", {"n": string("v", "Binary")}),
    ("an illegal character", {"n": string("\0")}),
    ("a word as a number", {"n": string("one", "Number")}),
    ("39 digits", {"n": string("1" * 39, "Number")}),
    ("1e-129", {"n": string("1e-129", "Number")}),
    ("1e127", {"n": string("1e127", "Number")}),
]:
    crash = name == "no type"

    @case(
        f"Attributes that do not go: {name}",
        {
            "status": 400,
            "shape": "InvalidParameterValueException",
            "query": "InvalidParameterValue;Sender",
            "message": TEXT,
        },
        fauxqs=differs(500 if crash else "taken", NO_ATTRIBUTE_RULES),
    )
    def _(world, attributes=attributes):
        seen = with_attributes(world, attributes)
        if "MessageId" in seen:
            return "taken"
        return 500 if seen["status"] == 500 else seen


@case(
    "An empty attribute",
    invalid("Message (user) attribute 'X' must contain a non-empty value of type 'String'."),
    fauxqs=differs(TAKEN, NO_ATTRIBUTE_RULES),
)
def _(world):
    return with_attributes(world, {"X": string("")})


# ---- system attributes, groups ----------------------------------------------------------------------------------------------


@case("The trace header comes back where it is asked for", TRACE, fauxqs=differs(None, "sqs.md 5.2: fauxqs ignores it"))
def _(world):
    queue = world.queue()
    queue.send(MessageSystemAttributes={"AWSTraceHeader": string(TRACE)})
    return queue.one(MessageSystemAttributeNames=["AWSTraceHeader"]).get("Attributes", {}).get("AWSTraceHeader")


@case("The trace header may come as HTTP header", TRACE, fauxqs=differs(None, "sqs.md 5.3: fauxqs ignores it"))
def _(world):
    queue = world.queue()
    world.wire.call("SendMessage", {"QueueUrl": queue.url, "MessageBody": "a"}, headers={"X-Amzn-Trace-Id": TRACE})
    return queue.one(AttributeNames=["AWSTraceHeader"]).get("Attributes", {}).get("AWSTraceHeader")


@case("Another system attribute", invalid(), fauxqs=differs(accepted(), "sqs.md 5.3: AWSTraceHeader is the only one"))
def _(world):
    return world.queue().call("SendMessage", MessageBody="a", MessageSystemAttributes={"SenderId": string("me")})


@case("A trace header of another type", invalid(), fauxqs=differs(accepted(), "sqs.md 5.3: a String"))
def _(world):
    return world.queue().call(
        "SendMessage", MessageBody="a", MessageSystemAttributes={"AWSTraceHeader": string("1", "Number")}
    )


@case(
    "MessageGroupId on a standard queue comes back",
    "tenant",
    fauxqs=differs(None, "sqs.md 13, fair queues: fauxqs drops it"),
)
def _(world):
    queue = world.queue()
    queue.send(MessageGroupId="tenant")
    return queue.one(AttributeNames=["MessageGroupId"]).get("Attributes", {}).get("MessageGroupId")


@case("MessageGroupId locks nothing on a standard queue", ["a", "b"])
def _(world):
    queue = world.queue()
    for body in "ab":
        queue.send(body, MessageGroupId="tenant")
    return sorted(queue.one()["Body"] for _ in range(2))


@case("MessageGroupId of 128 characters", accepted())
def _(world):
    return world.queue().call("SendMessage", MessageBody="a", MessageGroupId="~" * 128)


for name, group in [("129 characters", "g" * 129), ("a blank", "a b"), ("nothing", "")]:

    @case(
        f"MessageGroupId of {name}",
        invalid(pattern("Value .*for parameter MessageGroupId is invalid\\. .*")),
        fauxqs=differs(accepted(), "sqs.md 7: fauxqs drops MessageGroupId on standard queues"),
    )
    def _(world, group=group):
        return world.queue().call("SendMessage", MessageBody="a", MessageGroupId=group)


@case(
    "MessageDeduplicationId on a standard queue",
    invalid(),
    fauxqs=differs(accepted(), "sqs.md 13: an error on standard queues"),
)
def _(world):
    return world.queue().call("SendMessage", MessageBody="a", MessageDeduplicationId="d")


@case("Two equal sends are two messages", True)
def _(world):
    queue = world.queue()
    return queue.send()["MessageId"] != queue.send()["MessageId"]
