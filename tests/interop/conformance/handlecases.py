"""Receipt handles, visibility and deletes: sqs.md 6.4 and 9."""

from match import differs, error, fauxerror, invalid, missing, pattern
from suite import case, until

SILENT = "sqs.md 17: fauxqs deletes unknown handles silently"
NOT_IN_FLIGHT = "Message does not exist or is not available for visibility timeout change."
GARBAGE = error("ReceiptHandleIsInvalid", 'The input receipt handle "garbage" is not a valid receipt handle.')
UNAVAILABLE = invalid(
    pattern("Value .+ for parameter ReceiptHandle is invalid\\. Reason: " + NOT_IN_FLIGHT.replace(".", "\\."))
)
FAUX_UNAVAILABLE = fauxerror("MessageNotInflight", NOT_IN_FLIGHT, "sqs.md 9 and 17: InvalidParameterValue on AWS")


def received(world, count=1, **receive):
    """A queue and the handle of its only message after so many receives."""
    queue = world.queue()
    queue.send()
    for _ in range(count - 1):
        queue.one(VisibilityTimeout=0)
    return queue, queue.one(**receive)["ReceiptHandle"]


def expired(world):
    """A message whose visibility timeout ran out and that nobody received since."""
    queue, handle = received(world, VisibilityTimeout=1)
    until(lambda: queue.counts() == [1, 0, 0], seconds=2 if world.server == "fauxqs" else 20)
    return queue, handle


# ---- deletes ----------------------------------------------------------------------------------------------------------------


@case("Delete with the newest handle", ({}, [0, 0, 0]))
def _(world):
    queue, handle = received(world)
    return queue.call("DeleteMessage", ReceiptHandle=handle), queue.counts()


@case("Delete with the newest of three handles", ({}, [0, 0, 0]))
def _(world):
    queue, handle = received(world, 3)
    return queue.call("DeleteMessage", ReceiptHandle=handle), queue.counts()


@case("Delete after the timeout, not received again since", ({}, [0, 0, 0]))
def _(world):
    queue, handle = expired(world)
    return queue.call("DeleteMessage", ReceiptHandle=handle), queue.counts()


@case("Delete after a receive that left the message visible", ({}, [0, 0, 0]))
def _(world):
    queue, handle = received(world, VisibilityTimeout=0)
    return queue.call("DeleteMessage", ReceiptHandle=handle), queue.counts()


@case("Delete with an older handle: no error, and the newer one still works", ({}, {}, [0, 0, 0]))
def _(world):
    queue, older = received(world, VisibilityTimeout=0)
    newer = queue.receive()
    first = queue.call("DeleteMessage", ReceiptHandle=older)
    return first, queue.call("DeleteMessage", ReceiptHandle=newer[0]["ReceiptHandle"]), queue.counts()


@case("Delete again", ({}, {}))
def _(world):
    queue, handle = received(world)
    return queue.call("DeleteMessage", ReceiptHandle=handle), queue.call("DeleteMessage", ReceiptHandle=handle)


@case("Delete of a purged message", {})
def _(world):
    queue, handle = received(world)
    queue.done("PurgeQueue")
    return queue.call("DeleteMessage", ReceiptHandle=handle)


@case("Delete of one message leaves the others", ["b"])
def _(world):
    queue, handle = received(world)
    queue.send("b")
    queue.done("DeleteMessage", ReceiptHandle=handle)
    return [message["Body"] for message in queue.drain()]


@case("Delete with garbage", GARBAGE, fauxqs=differs({}, SILENT))
def _(world):
    return world.queue().call("DeleteMessage", ReceiptHandle="garbage")


@case("Delete with a handle of base64", error("ReceiptHandleIsInvalid"), fauxqs=differs({}, SILENT))
def _(world):
    return world.queue().call("DeleteMessage", ReceiptHandle="AQEB" * 40)


@case("Delete with a MessageId", error("ReceiptHandleIsInvalid"), fauxqs=differs({}, SILENT))
def _(world):
    queue = world.queue()
    return queue.call("DeleteMessage", ReceiptHandle=queue.send()["MessageId"])


@case(
    "Delete with another queue's handle",
    (error("ReceiptHandleIsInvalid"), [0, 1, 0]),
    fauxqs=differs(({}, [0, 1, 0]), SILENT),
)
def _(world):
    queue, handle = received(world)
    return world.queue().call("DeleteMessage", ReceiptHandle=handle), queue.counts()


for name, params in [("without a handle", {}), ("with an empty handle", {"ReceiptHandle": ""})]:

    @case(
        f"Delete {name}",
        missing("ReceiptHandle"),
        fauxqs=fauxerror("MissingParameter", missing("ReceiptHandle")["message"]),
    )
    def _(world, params=params):
        return world.queue().call("DeleteMessage", **params)


# ---- visibility -------------------------------------------------------------------------------------------------------------


def change(queue, handle, seconds):
    return queue.call("ChangeMessageVisibility", ReceiptHandle=handle, VisibilityTimeout=seconds)


@case("Visibility 0: visible at once, the count stays", ({}, [1, 0, 0], "2"))
def _(world):
    queue, handle = received(world)
    return (
        change(queue, handle, 0),
        queue.counts(),
        queue.one(AttributeNames=["All"])["Attributes"]["ApproximateReceiveCount"],
    )


@case("Visibility is from now, not added", ["a"])
def _(world):
    queue, handle = received(world, VisibilityTimeout=600)
    change(queue, handle, 1)
    return queue.bodies(WaitTimeSeconds=20)


@case("Visibility made longer holds", ({}, [0, 1, 0]))
def _(world):
    queue, handle = received(world, VisibilityTimeout=1)
    done = change(queue, handle, 600)
    queue.receive(WaitTimeSeconds=2)
    return done, queue.counts()


@case(
    "Visibility changed holds for this receive only",
    [1, 0, 0],
    fauxqs=differs([0, 1, 0], "sqs.md 8: fauxqs looks at its clock only in a receive"),
)
def _(world):
    queue = world.queue(VisibilityTimeout="0")
    queue.send()
    handle = queue.one(VisibilityTimeout=600)["ReceiptHandle"]
    change(queue, handle, 0)
    queue.one()
    return queue.counts()


@case("Visibility twice with one handle", ({}, {}))
def _(world):
    queue, handle = received(world)
    return change(queue, handle, 100), change(queue, handle, 200)


@case("Visibility after the timeout, not received again since: hidden again", ({}, [0, 1, 0]))
def _(world):
    queue, handle = expired(world)
    return change(queue, handle, 600), queue.counts()


@case("Visibility after a receive that left the message visible: hidden", ({}, [0, 1, 0]))
def _(world):
    queue, handle = received(world, VisibilityTimeout=0)
    return change(queue, handle, 600), queue.counts()


@case("Visibility of a deleted message", UNAVAILABLE, fauxqs=FAUX_UNAVAILABLE)
def _(world):
    queue, handle = received(world)
    queue.done("DeleteMessage", ReceiptHandle=handle)
    return change(queue, handle, 1)


@case("Visibility of a purged message", UNAVAILABLE, fauxqs=FAUX_UNAVAILABLE)
def _(world):
    queue, handle = received(world)
    queue.done("PurgeQueue")
    return change(queue, handle, 1)


@case("Visibility with an older handle", UNAVAILABLE, fauxqs=FAUX_UNAVAILABLE)
def _(world):
    queue, older = received(world, VisibilityTimeout=0)
    queue.one()
    return change(queue, older, 1)


@case("Visibility with garbage", GARBAGE, fauxqs=FAUX_UNAVAILABLE)
def _(world):
    return change(world.queue(), "garbage", 1)


@case("Visibility with another queue's handle", error("ReceiptHandleIsInvalid"), fauxqs=FAUX_UNAVAILABLE)
def _(world):
    _, handle = received(world)
    return change(world.queue(), handle, 1)


@case(
    "Visibility beyond 12 h since the receive",
    invalid("Total VisibilityTimeout for the message is beyond the limit [43200 seconds]"),
    fauxqs=differs({}, "sqs.md 6.4: fauxqs only looks at the number itself"),
)
def _(world):
    queue, handle = received(world)
    until(lambda: change(queue, handle, 43199) != {} or change(queue, handle, 43200) != {}, seconds=1)
    return change(queue, handle, 43200)


for seconds in (-1, 43201):

    @case(
        f"Visibility of {seconds} s",
        invalid(pattern(f"Value {seconds} for parameter VisibilityTimeout is invalid\\. .*")),
        fauxqs=fauxerror(
            "InvalidParameterValue",
            f"Value {seconds} for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.",
        ),
    )
    def _(world, seconds=seconds):
        return change(*received(world), seconds)


@case(
    "Visibility without a number",
    missing("VisibilityTimeout"),
    fauxqs=fauxerror("MissingParameter", missing("VisibilityTimeout")["message"]),
)
def _(world):
    queue, handle = received(world)
    return queue.call("ChangeMessageVisibility", ReceiptHandle=handle)


@case(
    "Visibility without a handle",
    missing("ReceiptHandle"),
    fauxqs=fauxerror("MissingParameter", missing("ReceiptHandle")["message"]),
)
def _(world):
    return world.queue().call("ChangeMessageVisibility", VisibilityTimeout=1)
