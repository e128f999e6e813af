"""Batches: sqs.md 4, 6.4, 7, and what fails inside one that succeeds."""


from match import TEXT, UUID, differs, error, fauxerror, pattern
from messagecases import md5, string
from suite import case

SILENT_DELETE = "sqs.md 17: fauxqs deletes unknown handles silently"
EMPTY_LISTS = "sqs.md 2: a batch without failures has only Successful (recorded)"

# operation: (an entry's other members, the word in EmptyBatchRequest)
BATCHES = {
    "SendMessageBatch": {"MessageBody": "a"},
    "DeleteMessageBatch": {"ReceiptHandle": "garbage"},
    "ChangeMessageVisibilityBatch": {"ReceiptHandle": "garbage", "VisibilityTimeout": 1},
}
BAD_ID = "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long."


def entries(operation, ids):
    return [{"Id": id, **BATCHES[operation]} for id in ids]


for operation in BATCHES:

    @case(
        f"{operation} of none",
        error("EmptyBatchRequest", f"There should be at least one {operation}RequestEntry in the request."),
        fauxqs=fauxerror("EmptyBatchRequest", "The batch request doesn't contain any entries."),
    )
    def _(world, operation=operation):
        return world.queue().call(operation, Entries=[])

    @case(
        f"{operation} without Entries",
        {
            "status": 400,
            "shape": pattern("EmptyBatchRequest|MissingRequiredParameterException"),
            "query": TEXT,
            "message": TEXT,
        },
    )
    def _(world, operation=operation):
        return world.queue().call(operation)

    @case(
        f"{operation} of ten",
        ["Failed" if operation == "ChangeMessageVisibilityBatch" else "Successful", 10]
        if operation == "SendMessageBatch"
        else ["Failed", 10],
        fauxqs=differs(["Successful", 10], SILENT_DELETE) if operation == "DeleteMessageBatch" else None,
    )
    def _(world, operation=operation):
        seen = world.queue().call(operation, Entries=entries(operation, "abcdefghij"))
        ((part, list),) = [(part, list) for part, list in seen.items() if list]
        return [part, len(list)]

    for count in (11, 20):

        @case(
            f"{operation} of {count}",
            error(
                "TooManyEntriesInBatchRequest", f"Maximum number of entries per request are 10. You have sent {count}."
            ),
            fauxqs=fauxerror("TooManyEntriesInBatchRequest", "Maximum number of entries per request are 10."),
        )
        def _(world, operation=operation, count=count):
            return world.queue().call(operation, Entries=entries(operation, [f"e{i}" for i in range(count)]))

    @case(
        f"{operation} with an id twice",
        error("BatchEntryIdsNotDistinct", "Id b repeated."),
        fauxqs=fauxerror("BatchEntryIdsNotDistinct", "Two or more batch entries in the request have the same Id."),
    )
    def _(world, operation=operation):
        return world.queue().call(operation, Entries=entries(operation, "abcb"))

    for name, id in [
        ("a blank", "a b"),
        ("a period", "a.b"),
        ("nothing", ""),
        ("81 letters", "i" * 81),
        ("an umlaut", "ä"),
    ]:

        @case(
            f"{operation} with an id of {name}",
            error("InvalidBatchEntryId", BAD_ID),
            fauxqs=differs("done", "sqs.md 7: fauxqs does not count the letters") if name == "81 letters" else None,
        )
        def _(world, operation=operation, id=id):
            seen = world.queue().call(operation, Entries=entries(operation, ["good", id]))
            return seen if "shape" in seen else "done"

    @case(f"{operation} with an id of 80 letters", True)
    def _(world, operation=operation):
        seen = world.queue().call(operation, Entries=entries(operation, ["i" * 77 + "-_9"]))
        return "shape" not in seen


# ---- SendMessageBatch -------------------------------------------------------------------------------------------------------


@case(
    "SendMessageBatch without failures has only Successful",
    {"Successful": [{"Id": id, "MessageId": UUID, "MD5OfMessageBody": md5(id)} for id in "abc"]},
    fauxqs=differs(
        {"Successful": [{"Id": id, "MessageId": UUID, "MD5OfMessageBody": md5(id)} for id in "abc"], "Failed": []},
        EMPTY_LISTS,
    ),
)
def _(world):
    return world.queue().batch("SendMessageBatch", [{"Id": id, "MessageBody": id} for id in "cab"])


@case(
    "SendMessageBatch where all fail has only Failed", ["Failed"], fauxqs=differs(["Failed", "Successful"], EMPTY_LISTS)
)
def _(world):
    return sorted(world.queue().batch("SendMessageBatch", [{"Id": "a", "MessageBody": "\0"}]))


@case("SendMessageBatch sends what can be sent", (["Failed", "Successful"], ["a", "c"]))
def _(world):
    queue = world.queue()
    seen = queue.batch("SendMessageBatch", [{"Id": id, "MessageBody": "\0" if id == "b" else id} for id in "abc"])
    return sorted(seen), queue.bodies()


def failed(code, message=TEXT):
    return [{"Id": "bad", "SenderFault": True, "Code": code, "Message": message}]


for name, entry, answer, faux in [
    ("an illegal character", {"MessageBody": "\0"}, failed("InvalidMessageContents"), None),
    (
        "a body that is too long",
        {"MessageBody": "x" * 1025},
        failed(
            "InvalidParameterValue",
            "One or more parameters cannot be validated. Reason: Message must be shorter than 1024 bytes.",
        ),
        failed(
            "InvalidParameterValue",
            "One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes.",
        ),
    ),
    ("a delay that is too long", {"MessageBody": "a", "DelaySeconds": 901}, failed("InvalidParameterValue"), "sent"),
    (
        "an attribute without a value",
        {"MessageBody": "a", "MessageAttributes": {"n": {"DataType": "String"}}},
        failed("InvalidParameterValue"),
        "sent",
    ),
    (
        "a deduplication id",
        {"MessageBody": "a", "MessageDeduplicationId": "d"},
        failed("InvalidParameterValue"),
        "sent",
    ),
]:

    @case(
        f"SendMessageBatch with {name} in one entry",
        (answer, ["good"]),
        fauxqs=faux
        and differs(
            ("sent", 2) if faux == "sent" else (faux, ["good"]),
            "sqs.md 6.4 and 7: fauxqs checks no more than the body, in other words",
        ),
    )
    def _(world, entry=entry):
        queue = world.queue(MaximumMessageSize="1024")
        seen = queue.batch("SendMessageBatch", [{"Id": "good", "MessageBody": "good"}, {"Id": "bad", **entry}])
        if not seen.get("Failed"):
            return "sent", len(seen["Successful"])
        return seen["Failed"], queue.bodies()


@case(
    "SendMessageBatch with attributes, delay and trace header for each entry",
    {
        "Successful": [
            {
                "Id": "a",
                "MessageId": UUID,
                "MD5OfMessageBody": md5("a"),
                "MD5OfMessageAttributes": "adb59cd4678ea5a855436b949cd07ab6",
            },
            {
                "Id": "b",
                "MessageId": UUID,
                "MD5OfMessageBody": md5("b"),
                "MD5OfMessageSystemAttributes": pattern("[0-9a-f]{32}"),
            },
        ],
        "counts": [1, 0, 1],
    },
    fauxqs=differs(
        {
            "Successful": [
                {
                    "Id": "a",
                    "MessageId": UUID,
                    "MD5OfMessageBody": md5("a"),
                    "MD5OfMessageAttributes": "adb59cd4678ea5a855436b949cd07ab6",
                },
                {"Id": "b", "MessageId": UUID, "MD5OfMessageBody": md5("b")},
            ],
            "Failed": [],
            "counts": [1, 0, 1],
        },
        "sqs.md 10: fauxqs ignores MessageSystemAttributes",
    ),
)
def _(world):
    queue = world.queue()
    seen = queue.batch(
        "SendMessageBatch",
        [
            {"Id": "a", "MessageBody": "a", "MessageAttributes": {"MyAttribute": string("foobar")}},
            {
                "Id": "b",
                "MessageBody": "b",
                "DelaySeconds": 900,
                "MessageSystemAttributes": {"AWSTraceHeader": string("Root=1")},
            },
        ],
    )
    return {**seen, "counts": queue.counts()}


def batch_of(world, sizes, **attributes):
    queue = world.queue(**attributes)
    seen = queue.call(
        "SendMessageBatch", Entries=[{"Id": f"e{i}", "MessageBody": "x" * size} for i, size in enumerate(sizes)]
    )
    return seen if "shape" in seen else {part: len(list) for part, list in seen.items() if list}


@case("SendMessageBatch of 1048576 bytes in all", {"Successful": 2})
def _(world):
    return batch_of(world, [1000000, 48576])


LONG = "Batch requests cannot be longer than 1048576 bytes."


@case(
    "SendMessageBatch of 1048577 bytes in all",
    error("BatchRequestTooLong", f"{LONG} You have sent 1048577 bytes."),
    fauxqs=fauxerror("BatchRequestTooLong", LONG),
)
def _(world):
    return batch_of(world, [1000000, 48577])


@case(
    "SendMessageBatch that is too long for a smaller MaximumMessageSize fails only by entry",
    {"Failed": 1, "Successful": 3},
)
def _(world):
    return batch_of(world, [1000, 1000, 1025, 1024], MaximumMessageSize="1024")


# ---- DeleteMessageBatch -----------------------------------------------------------------------------------------------------


@case(
    "DeleteMessageBatch deletes, and tells of a handle that is none",
    (
        {
            "Successful": [{"Id": "a"}, {"Id": "b"}],
            "Failed": [
                {
                    "Id": "c",
                    "SenderFault": True,
                    "Code": "ReceiptHandleIsInvalid",
                    "Message": 'The input receipt handle "garbage" is not a valid receipt handle.',
                }
            ],
        },
        [0, 0, 0],
    ),
    fauxqs=differs(({"Successful": [{"Id": "a"}, {"Id": "b"}, {"Id": "c"}], "Failed": []}, [0, 0, 0]), SILENT_DELETE),
)
def _(world):
    queue = world.queue()
    queue.send()
    queue.send()
    handles = [queue.one()["ReceiptHandle"] for _ in range(2)] + ["garbage"]
    seen = queue.batch(
        "DeleteMessageBatch", [{"Id": id, "ReceiptHandle": handle} for id, handle in zip("abc", handles)]
    )
    return seen, queue.counts()


@case("DeleteMessageBatch with one handle twice", ["a", "b"])
def _(world):
    queue = world.queue()
    queue.send()
    handle = queue.one()["ReceiptHandle"]
    seen = queue.batch("DeleteMessageBatch", [{"Id": id, "ReceiptHandle": handle} for id in "ab"])
    return [entry["Id"] for entry in seen["Successful"]]


@case(
    "DeleteMessageBatch without a handle in one entry",
    ("bad", True, "MissingParameter"),
    fauxqs=differs("deleted", SILENT_DELETE),
)
def _(world):
    seen = world.queue().batch("DeleteMessageBatch", [{"Id": "bad"}])
    if not seen.get("Failed"):
        return "deleted"
    (entry,) = seen["Failed"]
    return entry["Id"], entry["SenderFault"], entry["Code"]


# ---- ChangeMessageVisibilityBatch -------------------------------------------------------------------------------------------


@case("ChangeMessageVisibilityBatch acts entry by entry", (["hide", "show"], ["bad", "late"], [1, 1, 0]))
def _(world):
    queue = world.queue()
    queue.send()
    queue.send()
    handles = [queue.one()["ReceiptHandle"] for _ in range(2)]
    seen = queue.batch(
        "ChangeMessageVisibilityBatch",
        [
            {"Id": "show", "ReceiptHandle": handles[0], "VisibilityTimeout": 0},
            {"Id": "hide", "ReceiptHandle": handles[1], "VisibilityTimeout": 600},
            {"Id": "late", "ReceiptHandle": handles[1], "VisibilityTimeout": 43201},
            {"Id": "bad", "ReceiptHandle": "garbage", "VisibilityTimeout": 1},
        ],
    )
    return [e["Id"] for e in seen["Successful"]], [e["Id"] for e in seen["Failed"]], queue.counts()


@case(
    "ChangeMessageVisibilityBatch with a handle that is none",
    {
        "Failed": [
            {
                "Id": "a",
                "SenderFault": True,
                "Code": "ReceiptHandleIsInvalid",
                "Message": 'The input receipt handle "garbage" is not a valid receipt handle.',
            }
        ]
    },
    fauxqs=differs(
        {
            "Successful": [],
            "Failed": [
                {
                    "Id": "a",
                    "SenderFault": True,
                    "Code": "ReceiptHandleIsInvalid",
                    "Message": "The input receipt handle is invalid.",
                }
            ],
        },
        EMPTY_LISTS,
    ),
)
def _(world):
    return world.queue().batch("ChangeMessageVisibilityBatch", entries("ChangeMessageVisibilityBatch", ["a"]))


@case("Every failure of a batch says whose fault it is", [True] * 3)
def _(world):
    queue = world.queue(MaximumMessageSize="1024")
    seen = queue.batch(
        "SendMessageBatch",
        [
            {"Id": "a", "MessageBody": "\0"},
            {"Id": "b", "MessageBody": "x" * 1025},
            {"Id": "c", "MessageBody": "\ufffe"},
        ],
    )
    return [entry["SenderFault"] for entry in seen["Failed"]]
