"""Move tasks, the redrive of dead letters: sqs.md 12."""

import base64
import json

from match import FILLED, MSEC, TEXT, UUID, Matcher, differs, error, invalid, pattern
from queuecases import faux_unknown
from suite import case, until


def ended(world, source):
    """The newest task of a source queue, once it is over."""

    def look():
        results = world.call("ListMessageMoveTasks", SourceArn=source.arn).get("Results", [])
        return results[0] if results and results[0]["Status"] not in ("RUNNING", "CANCELLING") else None

    return until(look)


def letters(world, count=1, bodies=("a",), **attributes):
    """A queue, its dead-letter queue, and in that one letters that came from the queue."""
    queue, dead = world.with_dead_letters(count, **attributes)
    for body in bodies:
        queue.send(body)
    for _ in range(count):
        while queue.receive(MaxNumberOfMessages=10, VisibilityTimeout=1 if count == 1 else 0):
            pass
    until(lambda: queue.receive(MaxNumberOfMessages=10) == [] and dead.counts()[0] == len(bodies))
    return queue, dead


def stuffed(world, count):
    """The same in little time: what is in the dead-letter queue was sent there."""
    queue, dead = world.with_dead_letters(1)
    for start in range(0, count, 10):
        dead.done(
            "SendMessageBatch",
            Entries=[{"Id": str(i), "MessageBody": str(i)} for i in range(start, min(start + 10, count))],
        )
    return queue, dead


def start(world, source, **params):
    return world.call("StartMessageMoveTask", SourceArn=source.arn, **params)


def handle_of(handle):
    return json.loads(base64.b64decode(handle))


START, LIST, CANCEL = (
    faux_unknown(f"{name}MessageMoveTask{s}") for name, s in (("Start", ""), ("List", "s"), ("Cancel", ""))
)
ABSENT = "arn:aws:sqs:us-east-1:000000000000:absent"
UNKNOWN_TO_FAUXQS = differs("no task", START.source)


def moving(name, aws, ours=None):
    """A case that needs a task: on a server without them it sees none."""

    def register(function):
        def guarded(world):
            _, dead = world.with_dead_letters(1)
            if world.server == "fauxqs" and start(world, dead) == START.answer:
                return "no task"
            return function(world)

        return case(name, aws, ours=ours, fauxqs=UNKNOWN_TO_FAUXQS)(guarded)

    return register


# ---- refusals ---------------------------------------------------------------------------------------------------------------


@case(
    "StartMessageMoveTask from a queue that is nobody's dead-letter queue",
    invalid("Source queue must be configured as a Dead Letter Queue."),
    fauxqs=START,
)
def _(world):
    return start(world, world.queue())


@case(
    "StartMessageMoveTask from a queue that does not exist",
    error("ResourceNotFoundException", "The resource that you specified for the SourceArn parameter doesn't exist."),
    fauxqs=START,
)
def _(world):
    return world.call("StartMessageMoveTask", SourceArn=ABSENT)


@case(
    "StartMessageMoveTask to a queue that does not exist",
    error(
        "ResourceNotFoundException", "The resource that you specified for the DestinationArn parameter doesn't exist."
    ),
    fauxqs=START,
)
def _(world):
    _, dead = world.with_dead_letters(1)
    return start(world, dead, DestinationArn=ABSENT)


@case("StartMessageMoveTask without a source", error("MissingRequiredParameterException"), fauxqs=START)
def _(world):
    return world.call("StartMessageMoveTask")


for value in (0, 501):

    @case(f"StartMessageMoveTask of {value} messages per second", invalid(), fauxqs=START)
    def _(world, value=value):
        _, dead = world.with_dead_letters(1)
        return start(world, dead, MaxNumberOfMessagesPerSecond=value)


@case(
    "ListMessageMoveTasks of a queue that does not exist",
    error("ResourceNotFoundException", "The resource that you specified for the SourceArn parameter doesn't exist."),
    fauxqs=LIST,
)
def _(world):
    return world.call("ListMessageMoveTasks", SourceArn=ABSENT)


for value in (0, 11):

    @case(f"ListMessageMoveTasks with MaxResults {value}", invalid(), fauxqs=LIST)
    def _(world, value=value):
        _, dead = world.with_dead_letters(1)
        return world.call("ListMessageMoveTasks", SourceArn=dead.arn, MaxResults=value)


@case("ListMessageMoveTasks before there was one", [], fauxqs=LIST)
def _(world):
    _, dead = world.with_dead_letters(1)
    seen = world.call("ListMessageMoveTasks", SourceArn=dead.arn)
    return seen if "shape" in seen else seen.get("Results", [])


for name, handle in [
    ("no base64", "!"),
    ("no JSON", base64.b64encode(b"{").decode()),
    ("another JSON", base64.b64encode(b"[]").decode()),
]:

    @case(
        f"CancelMessageMoveTask with a handle that is {name}",
        invalid("Value for parameter TaskHandle is invalid."),
        fauxqs=CANCEL,
    )
    def _(world, handle=handle):
        return world.call("CancelMessageMoveTask", TaskHandle=handle)


@case(
    "CancelMessageMoveTask of a task that does not exist",
    error("ResourceNotFoundException", "Task does not exist."),
    fauxqs=CANCEL,
)
def _(world):
    _, dead = world.with_dead_letters(1)
    handle = {"taskId": "00000000-0000-4000-8000-000000000000", "sourceArn": dead.arn}
    return world.call("CancelMessageMoveTask", TaskHandle=base64.b64encode(json.dumps(handle).encode()).decode())


# ---- moving -----------------------------------------------------------------------------------------------------------------


@moving("StartMessageMoveTask answers a handle that says task and source", (["TaskHandle"], UUID, True))
def _(world):
    _, dead = world.with_dead_letters(1)
    started = start(world, dead)
    handle = handle_of(started["TaskHandle"])
    return list(started), handle["taskId"], handle["sourceArn"] == dead.arn


@moving("Letters go back to where they came from", ("COMPLETED", ["a", "b", "c"], [0, 0, 0]))
def _(world):
    queue, dead = letters(world, bodies="abc")
    start(world, dead)
    status = ended(world, dead)["Status"]
    return status, sorted(message["Body"] for message in queue.drain()), dead.counts()


@moving("Letters of two queues are sorted out", ("COMPLETED", ["one"], ["two"]))
def _(world):
    one, dead = letters(world, bodies=["one"])
    two = world.queue(RedrivePolicy=json.dumps({"deadLetterTargetArn": dead.arn, "maxReceiveCount": 1}))
    two.send("two")
    two.one(VisibilityTimeout=0)
    two.receive()
    start(world, dead)
    return ended(world, dead)["Status"], one.bodies(), two.bodies()


@moving("With a destination everything goes there", ("COMPLETED", ["a", "b"], []))
def _(world):
    queue, dead = letters(world, bodies="ab")
    other = world.queue()
    start(world, dead, DestinationArn=other.arn)
    return ended(world, dead)["Status"], other.bodies(), queue.receive()


@moving("A moved letter is a new message: new id, count and source starting again", (False, "1", ["a"], True))
def _(world):
    queue, dead = letters(world)
    letter = dead.one(VisibilityTimeout=0, AttributeNames=["All"])
    start(world, dead)
    ended(world, dead)
    moved = queue.one(AttributeNames=["All"])
    later = int(moved["Attributes"]["SentTimestamp"]) >= int(letter["Attributes"]["SentTimestamp"])
    return (
        moved["MessageId"] == letter["MessageId"],
        moved["Attributes"]["ApproximateReceiveCount"],
        [moved["Body"]],
        later,
    )


@moving("A moved letter keeps its attributes", "4c360f3fdafd970e05fae2f149d997f5")
def _(world):
    from messagecases import KENOBI

    queue, dead = world.with_dead_letters(1)
    queue.send(MessageAttributes=KENOBI)
    queue.one(VisibilityTimeout=0)
    queue.receive()
    start(world, dead)
    ended(world, dead)
    return queue.one(MessageAttributeNames=["All"])["MD5OfMessageAttributes"]


@moving("A moved letter wakes a long poll", ["a"])
def _(world):
    queue, dead = letters(world)
    poll = world.meanwhile(lambda: queue.receive(WaitTimeSeconds=20))
    start(world, dead)
    return [message["Body"] for message in poll.result()]


@moving("A moved letter may fail again, and comes back", [1, 0, 0])
def _(world):
    queue, dead = letters(world)
    start(world, dead)
    ended(world, dead)
    queue.one(VisibilityTimeout=0)
    queue.receive()
    return dead.counts()


@moving("A task over nothing completes", "COMPLETED")
def _(world):
    _, dead = world.with_dead_letters(1)
    start(world, dead)
    return ended(world, dead)["Status"]


@moving(
    "What a completed task says",
    {
        "Status": "COMPLETED",
        "SourceArn": TEXT,
        "StartedTimestamp": Matcher("<ms>", lambda value: isinstance(value, int) and MSEC == str(value)),
        "ApproximateNumberOfMessagesMoved": 3,
        "ApproximateNumberOfMessagesToMove": 3,
    },
)
def _(world):
    queue, dead = letters(world, bodies="abc")
    start(world, dead)
    return ended(world, dead)


@moving(
    "What a running task says",
    (
        [
            "ApproximateNumberOfMessagesMoved",
            "ApproximateNumberOfMessagesToMove",
            "DestinationArn",
            "MaxNumberOfMessagesPerSecond",
            "SourceArn",
            "StartedTimestamp",
            "Status",
            "TaskHandle",
        ],
        "RUNNING",
        1,
        30,
        True,
    ),
)
def _(world):
    queue, dead = stuffed(world, 30)
    handle = start(world, dead, DestinationArn=queue.arn, MaxNumberOfMessagesPerSecond=1)["TaskHandle"]
    (task,) = world.call("ListMessageMoveTasks", SourceArn=dead.arn)["Results"]
    return (
        sorted(task),
        task["Status"],
        task["MaxNumberOfMessagesPerSecond"],
        task["ApproximateNumberOfMessagesToMove"],
        task["TaskHandle"] == handle,
    )


@moving(
    "A second task of one source is refused while the first runs",
    invalid("There is already a task running. Only one active task is allowed for a source queue arn at a given time."),
)
def _(world):
    queue, dead = stuffed(world, 30)
    start(world, dead, DestinationArn=queue.arn, MaxNumberOfMessagesPerSecond=1)
    return start(world, dead, DestinationArn=queue.arn)


@moving("MaxNumberOfMessagesPerSecond is kept: two seconds move no thirty", True)
def _(world):
    queue, dead = stuffed(world, 30)
    start(world, dead, DestinationArn=queue.arn, MaxNumberOfMessagesPerSecond=2)
    until(lambda: queue.counts()[0] >= 2)
    return dead.counts()[0] >= 1


@moving(
    "CancelMessageMoveTask says how many it moved, and moves no more",
    (["ApproximateNumberOfMessagesMoved"], "CANCELLED", 30),
)
def _(world):
    queue, dead = stuffed(world, 30)
    handle = start(world, dead, DestinationArn=queue.arn, MaxNumberOfMessagesPerSecond=1)["TaskHandle"]
    cancelled = world.call("CancelMessageMoveTask", TaskHandle=handle)
    status = ended(world, dead)["Status"]
    return list(cancelled), status, queue.counts()[0] + dead.counts()[0]


@moving("A cancelled or completed task gives no handle away", False)
def _(world):
    _, dead = world.with_dead_letters(1)
    start(world, dead)
    return "TaskHandle" in ended(world, dead)


@moving(
    "Only a running task can be cancelled",
    {
        "status": FILLED,
        "shape": pattern("ResourceNotFoundException|InvalidParameterValue.*"),
        "query": TEXT,
        "message": TEXT,
    },
)
def _(world):
    _, dead = world.with_dead_letters(1)
    handle = start(world, dead)["TaskHandle"]
    ended(world, dead)
    return world.call("CancelMessageMoveTask", TaskHandle=handle)


@moving("After one task another may be started, and the newest is listed first", ([1, 0], 1, 2))
def _(world):
    queue, dead = letters(world)
    start(world, dead)
    ended(world, dead)
    until(lambda: "TaskHandle" in start(world, dead))
    ended(world, dead)
    every = world.call("ListMessageMoveTasks", SourceArn=dead.arn, MaxResults=10)["Results"]
    newest = world.call("ListMessageMoveTasks", SourceArn=dead.arn)["Results"]
    moved = [task["ApproximateNumberOfMessagesMoved"] for task in every]
    return sorted(moved, reverse=True), len(newest), len(every)


@moving("A task whose destination is deleted fails and says why", ("FAILED", "AWS.SimpleQueueService.NonExistentQueue"))
def _(world):
    _, dead = stuffed(world, 30)
    other = world.queue()
    start(world, dead, DestinationArn=other.arn, MaxNumberOfMessagesPerSecond=5)
    other.done("DeleteQueue")
    task = ended(world, dead)
    return task["Status"], task.get("FailureReason")
