"""Queues and their attributes: sqs.md 4, 5.1, 6.4 and 7."""

import json

from match import FILLED, SECONDS, TEXT, differs, error, fauxerror, invalid, missing, pattern
from suite import case

RECORDED = "LocalStack's AWS-validated test_sqs.py"
NO_CHECK = "sqs.md 7: fauxqs checks neither names nor policies"
GONE = error("QueueDoesNotExist", "The specified queue does not exist.")


def named(name):
    return {"QueueUrl": pattern(f"http://127.0.0.1:[0-9]+/000000000000/{name}")}


def faux_named(name):
    return differs(
        {"QueueUrl": pattern(f"http://sqs.us-east-1.localhost:[0-9]+/000000000000/{name}")},
        "sqs.md 17: the URL has a host of its own instead of the request's",
    )


# ---- CreateQueue ----------------------------------------------------------------------------------------------------------


@case("CreateQueue answers the URL and nothing else", named("case-[0-9]+"), fauxqs=faux_named("case-[0-9]+"))
def _(world):
    return world.create(world.name())


@case("CreateQueue again, name only: the URL whatever the attributes", True)
def _(world):
    queue = world.queue(VisibilityTimeout="7")
    return world.create(queue.name) == {"QueueUrl": queue.url}


@case("CreateQueue again with an equal attribute: the URL", True)
def _(world):
    queue = world.queue(VisibilityTimeout="7", DelaySeconds="1")
    return world.create(queue.name, VisibilityTimeout="7") == {"QueueUrl": queue.url}


@case("CreateQueue again with another attribute's default: the URL", True)
def _(world):
    queue = world.queue(VisibilityTimeout="7")
    return world.create(queue.name, DelaySeconds="0") == {"QueueUrl": queue.url}


EXISTS = "A queue already exists with the same name and a different value for attribute VisibilityTimeout"


@case(
    "CreateQueue again with a different attribute",
    error("QueueNameExists", EXISTS),
    fauxqs=fauxerror("QueueNameExists", EXISTS),
)
def _(world):
    return world.create(world.queue(VisibilityTimeout="7").name, VisibilityTimeout="8")


@case(
    "CreateQueue compares with the current value: the first is refused",
    error("QueueNameExists", EXISTS),
    fauxqs=fauxerror("QueueNameExists", EXISTS),
)
def _(world):
    queue = world.queue(VisibilityTimeout="7")
    queue.done("SetQueueAttributes", Attributes={"VisibilityTimeout": "8"})
    return world.create(queue.name, VisibilityTimeout="7")


@case("CreateQueue compares with the current value: the second goes", True)
def _(world):
    queue = world.queue(VisibilityTimeout="7")
    queue.done("SetQueueAttributes", Attributes={"VisibilityTimeout": "8"})
    return world.create(queue.name, VisibilityTimeout="8") == {"QueueUrl": queue.url}


@case(
    "CreateQueue without a name",
    missing("QueueName"),
    fauxqs=fauxerror("InvalidParameterValue", "Queue name is required"),
)
def _(world):
    return world.call("CreateQueue")


@case("CreateQueue of one character", named("q"), fauxqs=faux_named("q"))
def _(world):
    return world.create("q")


LONGEST = "n" * 71 + "-_aZ0-_9x"
assert len(LONGEST) == 80


@case("CreateQueue of 80 characters", named(LONGEST), fauxqs=faux_named(LONGEST))
def _(world):
    return world.create(LONGEST)


for why, bad in [
    ("81 characters", "n" * 81),
    ("a period", "a.b"),
    ("a blank", "a b"),
    ("a letter that is not ASCII", "é"),
    ("a slash", "a/b"),
]:

    @case(
        f"CreateQueue with {why} in the name",
        invalid("Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"),
        fauxqs=differs({"QueueUrl": TEXT}, NO_CHECK),
    )
    def _(world, bad=bad):
        return world.create(bad)


@case("Queue names know upper and lower case", GONE)
def _(world):
    return world.call("GetQueueUrl", QueueName=world.queue().name.upper())


@case(
    "CreateQueue within 60 s of DeleteQueue",
    error(
        "QueueDeletedRecently",
        "You must wait 60 seconds after deleting a queue before you can create another with the same name.",
    ),
    fauxqs=differs({"QueueUrl": TEXT}, "sqs.md 17: no 60 s rules"),
)
def _(world):
    queue = world.queue()
    queue.done("DeleteQueue")
    return world.create(queue.name)


@case(
    "A FIFO queue",
    {"QueueUrl": pattern(".*/case-[0-9]+\\.fifo")},
    ours=differs(
        error("UnsupportedOperation"), "sqs.md 13: FIFO queues exist; the embedded queue says that it has none"
    ),
)
def _(world):
    return world.create(world.name() + ".fifo", FifoQueue="true")


@case(
    "FifoQueue true without .fifo",
    invalid(),
    ours=differs(error("UnsupportedOperation"), "sqs.md 13: the embedded queue says that it has no FIFO queues"),
    fauxqs=fauxerror("InvalidParameterValue", TEXT),
)
def _(world):
    return world.create(world.name(), FifoQueue="true")


@case(
    "FifoQueue false on a standard queue",
    error("InvalidAttributeName", "Unknown Attribute FifoQueue."),
    fauxqs=differs({"QueueUrl": TEXT}, f"sqs.md 5.1: {RECORDED}"),
)
def _(world):
    return world.create(world.name(), FifoQueue="false")


@case(
    "CreateQueue with tags",
    {"QueueUrl": TEXT},
    ours=differs(
        error("UnsupportedOperation", "Tags are not supported by this endpoint."),
        "sqs.md 4: AWS stores them; the embedded queue refuses instead of forgetting",
    ),
)
def _(world):
    return world.call("CreateQueue", QueueName=world.name(), tags={"k": "v"})


@case(
    "CreateQueue with an unknown attribute",
    error("InvalidAttributeName", "Unknown Attribute Foobar."),
    fauxqs=differs({"QueueUrl": TEXT}, f"sqs.md 6.4: {RECORDED}"),
)
def _(world):
    return world.create(world.name(), Foobar="1")


# ---- the numbers among the attributes --------------------------------------------------------------------------------------

for attribute, least, most in [
    ("VisibilityTimeout", 0, 43200),
    ("MessageRetentionPeriod", 60, 1209600),
    ("DelaySeconds", 0, 900),
    ("ReceiveMessageWaitTimeSeconds", 0, 20),
    ("MaximumMessageSize", 1024, 1048576),
]:
    for value in (least, most):

        @case(f"{attribute} {value} is kept", {attribute: str(value)})
        def _(world, attribute=attribute, value=value):
            return world.queue(**{attribute: str(value)}).attributes(attribute)

    for value in (str(least - 1), str(most + 1), "abc"):

        @case(
            f"{attribute} {value} is refused",
            error("InvalidAttributeValue", pattern(f"Invalid value for the parameter {attribute}\\..*")),
            fauxqs=fauxerror("InvalidAttributeValue", pattern(f"Invalid value for the parameter {attribute}\\..*")),
        )
        def _(world, attribute=attribute, value=value):
            return world.create(world.name(), **{attribute: value})


# ---- GetQueueUrl, ListQueues ------------------------------------------------------------------------------------------------


@case("GetQueueUrl", True)
def _(world):
    queue = world.queue()
    return world.call("GetQueueUrl", QueueName=queue.name) == {"QueueUrl": queue.url}


@case("GetQueueUrl of no queue", GONE)
def _(world):
    return world.call("GetQueueUrl", QueueName="absent")


@case("GetQueueUrl without a name", missing("QueueName"), fauxqs=fauxerror("InvalidParameterValue", TEXT))
def _(world):
    return world.call("GetQueueUrl")


@case("GetQueueUrl of our own account", True)
def _(world):
    queue = world.queue()
    return world.call("GetQueueUrl", QueueName=queue.name, QueueOwnerAWSAccountId="000000000000") == {
        "QueueUrl": queue.url
    }


@case(
    "GetQueueUrl of another account's queue",
    GONE,
    fauxqs=differs({"QueueUrl": TEXT}, "sqs.md 4: fauxqs ignores QueueOwnerAWSAccountId"),
)
def _(world):
    return world.call("GetQueueUrl", QueueName=world.queue().name, QueueOwnerAWSAccountId="123456789012")


@case("ListQueues by prefix", True)
def _(world):
    prefix = world.name("list") + "-"
    queues = [world.queue(prefix + which) for which in "ab"]
    world.queue(world.name("other"))
    listed = world.call("ListQueues", QueueNamePrefix=prefix)
    return list(listed) == ["QueueUrls"] and sorted(listed["QueueUrls"]) == [queue.url for queue in queues]


@case(
    "ListQueues without any: no member at all",
    {},
    fauxqs=differs({"QueueUrls": []}, "sqs.md 2: AWS leaves the member out (recorded)"),
)
def _(world):
    return world.call("ListQueues", QueueNamePrefix="there-is-none")


@case("ListQueues in pages", ([2, 2, 1], 5), fauxqs=differs(([2], 2), "sqs.md 4: fauxqs has no NextToken"))
def _(world):
    prefix = world.name("page") + "-"
    for which in range(5):
        world.queue(prefix + str(which))
    sizes, urls, token = [], set(), {}
    while True:
        page = world.call("ListQueues", QueueNamePrefix=prefix, MaxResults=2, **token)
        sizes.append(len(page["QueueUrls"]))
        urls.update(page["QueueUrls"])
        if "NextToken" not in page:
            return sizes, len(urls)
        token = {"NextToken": page["NextToken"]}


@case("ListQueues ends without a NextToken when all fit", ["QueueUrls"])
def _(world):
    return list(world.call("ListQueues", QueueNamePrefix=world.queue(world.name("fits")).name, MaxResults=1000))


@case("ListQueues gives no NextToken unless MaxResults was given", ["QueueUrls"])
def _(world):
    return list(world.call("ListQueues", QueueNamePrefix=world.queue(world.name("fits")).name))


for value in (-1, 1001):

    @case(
        f"ListQueues with MaxResults {value}",
        invalid(pattern(f"Value {value} for parameter MaxResults is invalid\\. .*")),
        fauxqs=differs({"QueueUrls": []}, "sqs.md 4: fauxqs does not check MaxResults"),
    )
    def _(world, value=value):
        return world.call("ListQueues", QueueNamePrefix="there-is-none", MaxResults=value)


@case(
    "ListQueues with a token of nobody",
    invalid(),
    fauxqs=differs({"QueueUrls": []}, "sqs.md 4: fauxqs has no NextToken"),
)
def _(world):
    return world.call("ListQueues", QueueNamePrefix="there-is-none", MaxResults=1, NextToken="!")


# ---- GetQueueAttributes -----------------------------------------------------------------------------------------------------

EVERY = [
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
    "CreatedTimestamp",
    "DelaySeconds",
    "LastModifiedTimestamp",
    "MaximumMessageSize",
    "MessageRetentionPeriod",
    "QueueArn",
    "ReceiveMessageWaitTimeSeconds",
    "SqsManagedSseEnabled",
    "VisibilityTimeout",
]


@case(
    "All on a plain queue is exactly these twelve",
    EVERY,
    fauxqs=differs([name for name in EVERY if name != "SqsManagedSseEnabled"], f"sqs.md 5.1: {RECORDED}"),
)
def _(world):
    return sorted(world.queue().attributes("All"))


DEFAULTS = {
    "DelaySeconds": "0",
    "MaximumMessageSize": "1048576",
    "MessageRetentionPeriod": "345600",
    "ReceiveMessageWaitTimeSeconds": "0",
    "VisibilityTimeout": "30",
}


@case("The defaults", DEFAULTS)
def _(world):
    return world.queue().attributes(*DEFAULTS)


@case("Queues are encrypted by default", {"SqsManagedSseEnabled": "true"}, fauxqs=differs({}, "sqs.md 5.1: not there"))
def _(world):
    return world.queue().attributes("SqsManagedSseEnabled")


@case(
    "A KMS key takes the place of SQS's own",
    {"KmsMasterKeyId": "alias/k", "SqsManagedSseEnabled": "false", "KmsDataKeyReusePeriodSeconds": "300"},
    fauxqs=differs({"KmsMasterKeyId": "alias/k"}, "sqs.md 5.1: fauxqs only keeps the text"),
)
def _(world):
    return world.queue(KmsMasterKeyId="alias/k").attributes(
        "KmsMasterKeyId", "SqsManagedSseEnabled", "KmsDataKeyReusePeriodSeconds"
    )


@case("Timestamps are whole seconds", {"CreatedTimestamp": SECONDS, "LastModifiedTimestamp": SECONDS})
def _(world):
    return world.queue().attributes("CreatedTimestamp", "LastModifiedTimestamp")


@case("QueueArn", True)
def _(world):
    queue = world.queue()
    return queue.attributes("QueueArn") == {"QueueArn": f"arn:aws:sqs:us-east-1:000000000000:{queue.name}"}


@case(
    "GetQueueAttributes without names answers nothing",
    {},
    fauxqs=differs({"Attributes": FILLED}, "sqs.md 4: not everything but an empty result"),
)
def _(world):
    return world.queue().call("GetQueueAttributes")


@case(
    "GetQueueAttributes with an empty list answers nothing",
    {},
    fauxqs=differs({"Attributes": {}}, "sqs.md 2: members without a value are left out"),
)
def _(world):
    return world.queue().call("GetQueueAttributes", AttributeNames=[])


@case(
    "GetQueueAttributes of an unknown name",
    error("InvalidAttributeName", "Unknown Attribute Foobar."),
    fauxqs=differs({"Attributes": {}}, f"sqs.md 6.4: {RECORDED}"),
)
def _(world):
    return world.queue().call("GetQueueAttributes", AttributeNames=["Foobar"])


for name in ("RedrivePolicy", "RedriveAllowPolicy", "Policy", "KmsMasterKeyId"):

    @case(f"{name} that is not set is left out", {})
    def _(world, name=name):
        return world.queue().attributes(name)


@case("The three counts are three numbers", [2, 1, 1])
def _(world):
    queue = world.queue()
    for _ in range(3):
        queue.send()
    queue.send(DelaySeconds=900)
    queue.one()
    return queue.counts()


# ---- SetQueueAttributes -----------------------------------------------------------------------------------------------------


@case("SetQueueAttributes answers nothing and acts", ({}, {"VisibilityTimeout": "8"}))
def _(world):
    queue = world.queue(VisibilityTimeout="7")
    return queue.call("SetQueueAttributes", Attributes={"VisibilityTimeout": "8"}), queue.attributes(
        "VisibilityTimeout"
    )


@case("SetQueueAttributes leaves the others", {"VisibilityTimeout": "7", "DelaySeconds": "2"})
def _(world):
    queue = world.queue(VisibilityTimeout="7")
    queue.done("SetQueueAttributes", Attributes={"DelaySeconds": "2"})
    return queue.attributes("VisibilityTimeout", "DelaySeconds")


@case("SetQueueAttributes with one wrong value changes none", {"VisibilityTimeout": "7"})
def _(world):
    queue = world.queue(VisibilityTimeout="7")
    queue.ask("SetQueueAttributes", Attributes={"VisibilityTimeout": "8", "DelaySeconds": "901"})
    return queue.attributes("VisibilityTimeout")


@case(
    "SetQueueAttributes with an unknown name",
    error("InvalidAttributeName", "Unknown Attribute Foobar."),
    fauxqs=fauxerror("InvalidAttributeName", "Unknown attribute: Foobar"),
)
def _(world):
    return world.queue().call("SetQueueAttributes", Attributes={"Foobar": "1"})


for name in ("QueueArn", "CreatedTimestamp", "ApproximateNumberOfMessages"):

    @case(
        f"SetQueueAttributes of {name}, which is only read",
        error("InvalidAttributeName", f"Unknown Attribute {name}."),
        fauxqs=fauxerror("InvalidAttributeName", f"Unknown attribute: {name}"),
    )
    def _(world, name=name):
        return world.queue().call("SetQueueAttributes", Attributes={name: "1"})


@case(
    "SetQueueAttributes cannot turn a queue into FIFO",
    error(
        "InvalidAttributeValue",
        "Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported.",
    ),
    fauxqs=fauxerror("InvalidAttributeValue", TEXT),
)
def _(world):
    return world.queue().call("SetQueueAttributes", Attributes={"FifoQueue": "true"})


@case(
    "SetQueueAttributes without attributes",
    error("MissingRequiredParameterException"),
    fauxqs=differs({}, "sqs.md 4: Attributes is required"),
)
def _(world):
    return world.queue().call("SetQueueAttributes", Attributes={})


POLICY = json.dumps({"Version": "2012-10-17", "Statement": []})


@case("Policy is kept as it came", {"Policy": POLICY})
def _(world):
    return world.queue(Policy=POLICY).attributes("Policy")


@case("Policy set to nothing is taken off", {}, fauxqs=differs({"Policy": ""}, f"sqs.md 4: {RECORDED}"))
def _(world):
    queue = world.queue(Policy=POLICY)
    queue.done("SetQueueAttributes", Attributes={"Policy": ""})
    return queue.attributes("Policy")


@case("Policy that is no JSON", error("InvalidAttributeValue"), fauxqs=differs({"QueueUrl": TEXT}, NO_CHECK))
def _(world):
    return world.create(world.name(), Policy="{")


# ---- PurgeQueue, DeleteQueue ------------------------------------------------------------------------------------------------


@case("PurgeQueue takes visible, hidden and delayed messages", ({}, [0, 0, 0]))
def _(world):
    queue = world.queue()
    queue.send()
    queue.send(DelaySeconds=900)
    queue.one()
    queue.send()
    return queue.call("PurgeQueue"), queue.counts()


@case("PurgeQueue twice within 60 s", True, fauxqs=differs(False, "sqs.md 17: no 60 s rules"))
def _(world):
    queue = world.queue()
    queue.done("PurgeQueue")
    return queue.call("PurgeQueue") == error(
        "PurgeQueueInProgress", f"Only one PurgeQueue operation on {queue.name} is allowed every 60 seconds."
    )


@case("PurgeQueue of one queue leaves the others", [1, 0, 0])
def _(world):
    queue, other = world.queue(), world.queue()
    other.send()
    queue.done("PurgeQueue")
    return other.counts()


@case("What is sent after PurgeQueue stays", ["later"])
def _(world):
    queue = world.queue()
    queue.send("sooner")
    queue.done("PurgeQueue")
    queue.send("later")
    return queue.bodies()


@case("DeleteQueue", ({}, GONE))
def _(world):
    queue = world.queue()
    queue.send()
    return queue.call("DeleteQueue"), world.call("GetQueueUrl", QueueName=queue.name)


@case("A deleted queue is no longer listed", {}, fauxqs=differs({"QueueUrls": []}, "sqs.md 2: the member is left out"))
def _(world):
    queue = world.queue(world.name("deleted"))
    queue.done("DeleteQueue")
    return world.call("ListQueues", QueueNamePrefix=queue.name)


# ---- what every operation with a QueueUrl has in common ---------------------------------------------------------------------

WITH_URL = {
    "GetQueueAttributes": {"AttributeNames": ["All"]},
    "SetQueueAttributes": {"Attributes": {"DelaySeconds": "1"}},
    "SendMessage": {"MessageBody": "a"},
    "SendMessageBatch": {"Entries": [{"Id": "a", "MessageBody": "a"}]},
    "ReceiveMessage": {},
    "DeleteMessage": {"ReceiptHandle": "h"},
    "DeleteMessageBatch": {"Entries": [{"Id": "a", "ReceiptHandle": "h"}]},
    "ChangeMessageVisibility": {"ReceiptHandle": "h", "VisibilityTimeout": 1},
    "ChangeMessageVisibilityBatch": {"Entries": [{"Id": "a", "ReceiptHandle": "h", "VisibilityTimeout": 1}]},
    "PurgeQueue": {},
    "DeleteQueue": {},
    "ListDeadLetterSourceQueues": {},
}
FAUX_UNKNOWN = "sqs.md 17: fauxqs has neither move tasks nor ListDeadLetterSourceQueues"


def faux_unknown(operation):
    return differs(
        {"status": 400, "shape": "InvalidAction", "query": None, "message": f"Unknown action: {operation}"},
        FAUX_UNKNOWN,
    )


for operation, params in WITH_URL.items():
    unknown = faux_unknown(operation) if operation == "ListDeadLetterSourceQueues" else None

    @case(f"{operation} on a queue that does not exist", GONE, fauxqs=unknown)
    def _(world, operation=operation, params=params):
        return world.absent().call(operation, **params)

    @case(
        f"{operation} without QueueUrl",
        missing("QueueUrl"),
        fauxqs=unknown or fauxerror("InvalidParameterValue", "QueueUrl is required"),
    )
    def _(world, operation=operation, params=params):
        return world.call(operation, **params)


# ---- what the embedded queue does not have ----------------------------------------------------------------------------------

for operation, params, answer, faux in [
    ("TagQueue", {"Tags": {"k": "v"}}, {}, None),
    ("UntagQueue", {"TagKeys": ["k"]}, {}, None),
    ("ListQueueTags", {}, {}, differs({"Tags": {}}, "sqs.md 4: the member is absent when there are none")),
    ("AddPermission", {"Label": "l", "AWSAccountIds": ["000000000000"], "Actions": ["SendMessage"]}, {}, "unknown"),
    ("RemovePermission", {"Label": "l"}, invalid(), "unknown"),
]:

    @case(
        f"{operation}",
        answer,
        ours=differs(
            error("UnsupportedOperation", f"{operation} is not supported by this endpoint."),
            "sqs.md 4: AWS has it; what the embedded queue does not have it says",
        ),
        fauxqs=faux_unknown(operation) if faux == "unknown" else faux,
    )
    def _(world, operation=operation, params=params):
        return world.queue().call(operation, **params)
