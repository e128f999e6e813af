"""What a case expects: plain values, and matchers where a value is different every time."""

import re

PREFIX = "AWS.SimpleQueueService."

# shape: (query code, HTTP status); sqs.md 6.3, from the model's error traits and responses recorded from AWS.
ERRORS = {
    "QueueDoesNotExist": (PREFIX + "NonExistentQueue", 400),
    "QueueNameExists": ("QueueAlreadyExists", 400),
    "QueueDeletedRecently": (PREFIX + "QueueDeletedRecently", 400),
    "PurgeQueueInProgress": (PREFIX + "PurgeQueueInProgress", 403),
    "ReceiptHandleIsInvalid": ("ReceiptHandleIsInvalid", 404),
    "BatchEntryIdsNotDistinct": (PREFIX + "BatchEntryIdsNotDistinct", 400),
    "EmptyBatchRequest": (PREFIX + "EmptyBatchRequest", 400),
    "InvalidBatchEntryId": (PREFIX + "InvalidBatchEntryId", 400),
    "TooManyEntriesInBatchRequest": (PREFIX + "TooManyEntriesInBatchRequest", 400),
    "BatchRequestTooLong": (PREFIX + "BatchRequestTooLong", 400),
    "UnsupportedOperation": (PREFIX + "UnsupportedOperation", 400),
    "InvalidMessageContents": ("InvalidMessageContents", 400),
    "InvalidAttributeName": ("InvalidAttributeName", 400),
    "InvalidAttributeValue": ("InvalidAttributeValue", 400),
    "ResourceNotFoundException": ("ResourceNotFoundException", 404),
    "InvalidAddress": ("InvalidAddress", 404),
    "InvalidParameterValueException": ("InvalidParameterValue", 400),
    "MissingRequiredParameterException": ("MissingParameter", 400),
    "InvalidAction": ("InvalidAction", 400),
    "SerializationException": ("MalformedInput", 400),
}


class Matcher:
    def __init__(self, text, accepts):
        self.text, self.accepts = text, accepts

    def __eq__(self, other):
        return bool(self.accepts(other))

    def __repr__(self):
        return self.text


def pattern(expression):
    return Matcher(
        f"/{expression}/", lambda value: isinstance(value, str) and re.fullmatch(expression, value, re.DOTALL)
    )


def within(least, most):
    """A number written as text, as all attributes are."""
    return Matcher(f"<{least}…{most}>", lambda v: isinstance(v, str) and v.isdecimal() and least <= int(v) <= most)


FILLED = Matcher("<not empty>", bool)
TEXT = Matcher("<text>", lambda value: isinstance(value, str) and value != "")
UUID = pattern("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
HANDLE = pattern(".{1,1024}")
SECONDS = within(1_600_000_000, 9_999_999_999)
MSEC = within(1_600_000_000_000, 9_999_999_999_999)


def error(shape, message=TEXT):
    query, status = ERRORS[shape]
    return {"status": status, "shape": shape, "query": query + ";Sender", "message": message}


def invalid(message=TEXT):
    return error("InvalidParameterValueException", message)


def missing(parameter):
    return error("MissingRequiredParameterException", f"The request must contain the parameter {parameter}.")


class Deviation:
    """What a server answers that differs from AWS here, and where AWS's side is written down."""

    def __init__(self, answer, source):
        self.answer, self.source = answer, source


def differs(answer, source):
    return Deviation(answer, source)


def fauxerror(
    shape, message, source="sqs.md 17: every code with the prefix, the shape is the query code; texts of its own"
):
    """An error of fauxqs: like AWS an error of this kind, with other names and another text."""
    query = "NonExistentQueue" if shape == "QueueDoesNotExist" else shape
    return Deviation({"status": 400, "shape": shape, "query": f"{PREFIX}{query};Sender", "message": message}, source)
