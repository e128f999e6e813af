"""Dead letters: sqs.md 5.1 (the policies), 11, and ListDeadLetterSourceQueues."""

import json

from match import TEXT, differs, invalid
from messagecases import KENOBI, string
from queuecases import NO_CHECK, faux_unknown
from suite import case

COUNTED_TWICE = "sqs.md 11: 1 in the source, 2 in the dead-letter queue (recorded); fauxqs counts the move as a receive"
NO_SOURCE = "sqs.md 17: fauxqs gives no DeadLetterQueueSourceArn"


def redrive(arn, count=1, **more):
    return json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": count, **more})


def allow(permission, *queues):
    policy = {"redrivePermission": permission}
    if queues:
        policy["sourceQueueArns"] = list(queues)
    return json.dumps(policy)


# ---- the move ---------------------------------------------------------------------------------------------------------------

for count in (1, 2, 3):

    @case(
        f"maxReceiveCount {count}: delivered {count} times, then moved by the receive that finds nothing",
        ([1] * count + [0], [0, 0, 0], [1, 0, 0]),
    )
    def _(world, count=count):
        queue, dead = world.with_dead_letters(count)
        queue.send()
        delivered = [len(queue.receive(VisibilityTimeout=0)) for _ in range(count + 1)]
        return delivered, queue.counts(), dead.counts()


@case(
    "Nobody receiving: nothing moves",
    ([1, 0, 0], [0, 0, 0]),
    fauxqs=differs(([0, 1, 0], [0, 0, 0]), "sqs.md 11: as AWS, counted late"),
)
def _(world):
    queue, dead = world.with_dead_letters(1)
    queue.send()
    queue.one(VisibilityTimeout=0)
    return queue.counts(), dead.counts()


@case("A letter keeps id, body and attributes", (True, "poison", KENOBI, "4c360f3fdafd970e05fae2f149d997f5"))
def _(world):
    queue, dead = world.with_dead_letters(1)
    sent = queue.send("poison", MessageAttributes=KENOBI)
    queue.one(VisibilityTimeout=0)
    queue.receive()
    letter = dead.one(MessageAttributeNames=["All"])
    return (
        letter["MessageId"] == sent["MessageId"],
        letter["Body"],
        letter["MessageAttributes"],
        letter["MD5OfMessageAttributes"],
    )


@case(
    "A letter keeps trace header and group",
    {"AWSTraceHeader": "Root=1", "MessageGroupId": "tenant"},
    fauxqs=differs({}, "sqs.md 11: fauxqs has neither"),
)
def _(world):
    queue, dead = world.with_dead_letters(1)
    queue.send(MessageGroupId="tenant", MessageSystemAttributes={"AWSTraceHeader": string("Root=1")})
    queue.one(VisibilityTimeout=0)
    queue.receive()
    return dead.one(AttributeNames=["AWSTraceHeader", "MessageGroupId"]).get("Attributes", {})


@case("A letter names its source", True, fauxqs=differs(False, NO_SOURCE))
def _(world):
    queue, dead = world.with_dead_letters(1)
    queue.send()
    queue.one(VisibilityTimeout=0)
    queue.receive()
    attributes = dead.one(AttributeNames=["DeadLetterQueueSourceArn"]).get("Attributes", {})
    return attributes == {"DeadLetterQueueSourceArn": queue.arn}


@case("A letter's receive count goes on: 1 and 1 are 2", "2", fauxqs=differs("3", COUNTED_TWICE))
def _(world):
    queue, dead = world.with_dead_letters(1)
    queue.send()
    queue.one(VisibilityTimeout=0)
    queue.receive()
    return dead.one(AttributeNames=["All"])["Attributes"]["ApproximateReceiveCount"]


@case("A letter keeps SentTimestamp and first receive", True)
def _(world):
    queue, dead = world.with_dead_letters(1)
    queue.send()
    before = queue.one(VisibilityTimeout=0, AttributeNames=["All"])["Attributes"]
    queue.receive()
    after = dead.one(AttributeNames=["All"])["Attributes"]
    return all(before[name] == after[name] for name in ("SentTimestamp", "ApproximateFirstReceiveTimestamp"))


@case("The handle of the source is no good for the letter", [1, 0, 0])
def _(world):
    queue, dead = world.with_dead_letters(1)
    queue.send()
    handle = queue.one(VisibilityTimeout=0)["ReceiptHandle"]
    queue.receive()
    queue.ask("DeleteMessage", ReceiptHandle=handle)
    dead.ask("DeleteMessage", ReceiptHandle=handle)
    return dead.counts()


@case("A receive moves what is worn out and delivers the rest", (["fresh"], ["poison"]))
def _(world):
    queue, dead = world.with_dead_letters(1)
    queue.send("poison")
    queue.one(VisibilityTimeout=0)
    queue.send("fresh")
    return queue.bodies(), dead.bodies()


@case("A changed maxReceiveCount acts at the next receive", ([], 1))
def _(world):
    queue, dead = world.with_dead_letters(5)
    queue.send()
    queue.one(VisibilityTimeout=0)
    queue.done("SetQueueAttributes", Attributes={"RedrivePolicy": redrive(dead.arn, 1)})
    return queue.receive(), dead.counts()[0]


@case("A policy taken off delivers on and on", 3)
def _(world):
    queue, _ = world.with_dead_letters(1)
    queue.send()
    queue.done("SetQueueAttributes", Attributes={"RedrivePolicy": ""})
    return sum(len(queue.receive(VisibilityTimeout=0)) for _ in range(3))


@case("A deleted dead-letter queue: delivered on and on", 3)
def _(world):
    queue, dead = world.with_dead_letters(1)
    queue.send()
    dead.done("DeleteQueue")
    return sum(len(queue.receive(VisibilityTimeout=0)) for _ in range(3))


@case(
    "A dead-letter queue with a dead-letter queue",
    ([0, 0, 0], [0, 0, 0], "3"),
    fauxqs=differs(([0, 0, 0], [0, 0, 0], "4"), COUNTED_TWICE),
)
def _(world):
    last = world.queue()
    dead = world.queue(RedrivePolicy=redrive(last.arn, 1))
    queue = world.queue(RedrivePolicy=redrive(dead.arn, 1))
    queue.send()
    for step in (queue, queue, dead, dead):
        step.receive(VisibilityTimeout=0)
    count = last.one(AttributeNames=["All"])["Attributes"]["ApproximateReceiveCount"]
    return queue.counts(), dead.counts(), count


# ---- the policies -----------------------------------------------------------------------------------------------------------

for count in (1, 1000, "1", "1000"):

    @case(f"maxReceiveCount {count!r} is taken, and the policy kept", True)
    def _(world, count=count):
        dead = world.queue()
        policy = redrive(dead.arn, count)
        kept = json.loads(world.queue(RedrivePolicy=policy).attributes("RedrivePolicy")["RedrivePolicy"])
        return kept["deadLetterTargetArn"] == dead.arn and str(kept["maxReceiveCount"]) == str(count)


def refused(world, policy):
    return world.create(world.name(), RedrivePolicy=policy)


for count in (0, 1001, -1, "x", 1.5, None):

    @case(f"maxReceiveCount {count!r}", invalid(), fauxqs=differs({"QueueUrl": TEXT}, NO_CHECK))
    def _(world, count=count):
        return refused(world, redrive(world.queue().arn, count))


for name, policy in [
    ("no JSON", "{"),
    ("a JSON list", "[]"),
    ("without a target", '{"maxReceiveCount":1}'),
    ("with an ARN of another service", redrive("arn:aws:sns:us-east-1:000000000000:q")),
    ("with a name for an ARN", redrive("q")),
    ("with a target that does not exist", redrive("arn:aws:sqs:us-east-1:000000000000:absent")),
]:

    @case(f"RedrivePolicy {name}", invalid(), fauxqs=differs({"QueueUrl": TEXT}, NO_CHECK))
    def _(world, policy=policy):
        return refused(world, policy)


@case("RedrivePolicy without maxReceiveCount", invalid(), fauxqs=differs({"QueueUrl": TEXT}, NO_CHECK))
def _(world):
    return refused(world, json.dumps({"deadLetterTargetArn": world.queue().arn}))


@case(
    "RedrivePolicy with two spellings of one count is one setting",
    True,
    fauxqs=differs(False, "sqs.md 5.1: fauxqs compares the text"),
)
def _(world):
    dead = world.queue()
    queue = world.queue(RedrivePolicy=redrive(dead.arn, 3))
    return world.create(queue.name, RedrivePolicy=redrive(dead.arn, "3")) == {"QueueUrl": queue.url}


UNKNOWN_POLICY = "sqs.md 5.1: fauxqs does not know RedriveAllowPolicy; at CreateQueue it keeps any text"


def dead_with(world, policy):
    return world.queue(RedriveAllowPolicy=policy)


@case("RedriveAllowPolicy is kept as it came", True)
def _(world):
    policy = allow("denyAll")
    return dead_with(world, policy).done("GetQueueAttributes", AttributeNames=["RedriveAllowPolicy"]) == {
        "Attributes": {"RedriveAllowPolicy": policy}
    }


@case("allowAll admits everybody", {"QueueUrl": TEXT})
def _(world):
    return refused(world, redrive(dead_with(world, allow("allowAll")).arn))


@case("denyAll admits nobody", invalid(), fauxqs=differs({"QueueUrl": TEXT}, UNKNOWN_POLICY))
def _(world):
    return refused(world, redrive(dead_with(world, allow("denyAll")).arn))


@case("byQueue admits whom it names", {"QueueUrl": TEXT})
def _(world):
    name = world.name()
    dead = dead_with(world, allow("byQueue", f"arn:aws:sqs:us-east-1:000000000000:{name}"))
    return world.create(name, RedrivePolicy=redrive(dead.arn))


@case("byQueue admits nobody else", invalid(), fauxqs=differs({"QueueUrl": TEXT}, UNKNOWN_POLICY))
def _(world):
    return refused(world, redrive(dead_with(world, allow("byQueue", "arn:aws:sqs:us-east-1:000000000000:other")).arn))


ARNS = [f"arn:aws:sqs:us-east-1:000000000000:q{i}" for i in range(11)]


@case("byQueue with ten sources", {"QueueUrl": TEXT})
def _(world):
    return world.create(world.name(), RedriveAllowPolicy=allow("byQueue", *ARNS[:10]))


for name, policy in [
    ("byQueue with eleven sources", allow("byQueue", *ARNS)),
    ("byQueue with none", allow("byQueue")),
    ("another word", allow("some")),
    ("no JSON", "{"),
    ("allowAll with sources", allow("allowAll", ARNS[0])),
]:

    @case(f"RedriveAllowPolicy of {name}", invalid(), fauxqs=differs({"QueueUrl": TEXT}, UNKNOWN_POLICY))
    def _(world, policy=policy):
        return world.create(world.name(), RedriveAllowPolicy=policy)


@case("RedriveAllowPolicy is not for queues that are linked already", 1)
def _(world):
    queue, dead = world.with_dead_letters(5)
    if world.server == "ours":
        dead.done("SetQueueAttributes", Attributes={"RedriveAllowPolicy": allow("denyAll")})
    queue.send()
    return len(queue.receive())


# ---- ListDeadLetterSourceQueues ---------------------------------------------------------------------------------------------

UNKNOWN = faux_unknown("ListDeadLetterSourceQueues")


@case("ListDeadLetterSourceQueues of a queue that is nobody's", [], fauxqs=UNKNOWN)
def _(world):
    seen = world.queue().call("ListDeadLetterSourceQueues")
    return seen if "shape" in seen else seen.get("queueUrls", [])


@case("ListDeadLetterSourceQueues names those that name it", True, fauxqs=UNKNOWN)
def _(world):
    dead = world.queue()
    sources = sorted(world.queue(RedrivePolicy=redrive(dead.arn)).url for _ in range(3))
    world.with_dead_letters(1)
    seen = dead.call("ListDeadLetterSourceQueues")
    return seen if "shape" in seen else sorted(seen["queueUrls"]) == sources


@case("ListDeadLetterSourceQueues follows the policy", 0, fauxqs=UNKNOWN)
def _(world):
    queue, dead = world.with_dead_letters(1)
    queue.ask("SetQueueAttributes", Attributes={"RedrivePolicy": ""})
    seen = dead.call("ListDeadLetterSourceQueues")
    return seen if "shape" in seen else len(seen.get("queueUrls", []))


@case("ListDeadLetterSourceQueues in pages", ([2, 1], 3), fauxqs=UNKNOWN)
def _(world):
    dead = world.queue()
    for _ in range(3):
        world.queue(RedrivePolicy=redrive(dead.arn))
    sizes, urls, token = [], set(), {}
    while True:
        page = dead.call("ListDeadLetterSourceQueues", MaxResults=2, **token)
        if "queueUrls" not in page:
            return page
        sizes.append(len(page["queueUrls"]))
        urls.update(page["queueUrls"])
        if "NextToken" not in page:
            return sizes, len(urls)
        token = {"NextToken": page["NextToken"]}
