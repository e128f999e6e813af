"""Dead letters that boto3 has put into a queue go through dlq replay, and through dlq export and import: body, attributes and
trace header must arrive byte for byte, nothing lost, nothing twice.

    roundtrip.py ours|fauxqs SENDONCECTL ENDPOINT DATA_DIR"""

import collections
import json
import os
import re
import subprocess
import sys

import boto3

MOST_BYTES = 1_048_576  # of a message; both servers take it
COUNTS = [f"ApproximateNumberOfMessages{kind}" for kind in ("", "NotVisible", "Delayed")]
TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"


def text(value, kind="String"):
    return {"DataType": kind, "StringValue": value}


def binary(value, kind="Binary"):
    return {"DataType": kind, "BinaryValue": value}


def event(number):
    return json.dumps(
        {
            "type": "application.status_changed",
            "event_id": f"roundtrip-{number}",
            "application_id": 3,
            "old_status": "Größe \U0001f469\u200d\U0001f4bb",
            "new_status": "a\tb",
        },
        ensure_ascii=number % 2 == 0,
    )


EVERY_BYTE = bytes(range(256))
WORLD = "emoji \U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f1e9\U0001f1ea, a\u0301\u0323 e\u0308 not é, שלום \u202eابجد\u202c, 漢字 𠜎"
ESCAPES = "<a href=\"x\">&amp; & ' \\ \\u0041 \\n %41+ ]]></a>\ttab\nnewline\rreturn\r\nboth"
EDGES = "\x7f\x85\xa0\u2028\u2029\ufeff\ufffd\ufdd0\ud7ff\ue000\U00010000\U0010ffff"  # of what SQS accepts

# (body, attributes, trace header or None)
LETTERS = [
    (WORLD, {}, None),
    (ESCAPES, {}, None),
    (EDGES, {}, None),
    ("\ufeff{}", {}, None),
    (" ", {}, None),
    ("\r\n\t", {}, None),
    ("0", {}, TRACE),
    ("x" * MOST_BYTES, {}, None),
    ("\U0001f600" * (MOST_BYTES // 4 - 16), {"a": binary(EVERY_BYTE[:40])}, None),
    ('"\\\n' * (MOST_BYTES // 3) + "x", {}, None),  # each byte of it doubles in JSON
    *[(str(i) * (MOST_BYTES // 4), {}, None) for i in range(4)],  # just fit into one batch
    ("world", {"world": text(WORLD), "escapes": text(ESCAPES), "edges": text(EDGES)}, None),
    ("spaces", {"one": text(" "), "lines": text("\r\n\t"), "mark": text("\ufeffx")}, None),
    (
        "numbers",
        {
            "long": text("1234567890123456789012345678901234567.8", "Number"),
            "small": text("-0.00000000000000000000000000000000000000000000000001", "Number"),
            "exponent": text("1.50E+100", "Number"),
            "zeros": text("007.500", "Number"),
            "int": text("9223372036854775808", "Number.int"),
        },
        None,
    ),
    (
        "bytes",
        {
            "every": binary(EVERY_BYTE),
            "zero": binary(b"\0"),
            "Binary.png": binary(b"\x89PNG\r\n\x1a\n\0" + EVERY_BYTE[::-1], "Binary.png"),
            "utf-8-half": binary("\U0001f600".encode()[:3], "Binary.utf-8"),
        },
        None,
    ),
    ("types", {"String.custom": text("x", "String.custom"), "json": text("{}", "String.application/json")}, TRACE),
    ("ten", {f"Name-{i}_.{i}": text(f"{i}\u00fc") for i in range(9)} | {"z": binary(b"\xff")}, None),
    *[(event(i), {"event": text(str(i), "Number")} if i % 3 else {}, None) for i in range(25)],
]


def expect(holds, problem):
    if not holds:
        raise SystemExit("FAILED: " + problem)


def shown(letter):
    whole = ascii(letter)
    return whole if len(whole) < 400 else f"{whole[:200]} … {whole[-200:]} ({len(whole)} characters)"


def letter(body, attributes, trace):
    values = [(n, a["DataType"], a.get("StringValue"), a.get("BinaryValue")) for n, a in sorted(attributes.items())]
    return body, tuple(values), trace


def expect_same(got, where):
    expected = collections.Counter(letter(*each) for each in LETTERS)
    got = collections.Counter(got)
    problems = [f"missing: {shown(each)}" for each in expected - got]
    problems += [f"too much: {shown(each)}" for each in got - expected]
    expect(not problems, "\n".join([where, *problems]))


class Queue:
    def __init__(self, client, name, **attributes):
        self.client = client
        self.url = client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]

    def attributes(self, *names):
        return self.client.get_queue_attributes(QueueUrl=self.url, AttributeNames=names)["Attributes"]

    def send(self, body, attributes, trace):
        system = {"AWSTraceHeader": text(trace)} if trace else {}
        self.client.send_message(
            QueueUrl=self.url, MessageBody=body, MessageAttributes=attributes, MessageSystemAttributes=system
        )

    def take(self):
        """Everything, deleted; fails when something is left or hidden."""
        taken = []
        while messages := self.client.receive_message(
            QueueUrl=self.url, MaxNumberOfMessages=10, AttributeNames=["All"], MessageAttributeNames=["All"]
        ).get("Messages"):
            for each in messages:
                trace = each["Attributes"].get("AWSTraceHeader")
                taken.append(letter(each["Body"], each.get("MessageAttributes", {}), trace))
                self.client.delete_message(QueueUrl=self.url, ReceiptHandle=each["ReceiptHandle"])
        self.expect_empty()
        return taken

    def expect_empty(self):
        counts = self.attributes(*COUNTS)
        expect(all(value == "0" for value in counts.values()), f"{self.url} is not empty: {counts}")


def make_database(sendoncectl, data_dir):
    """The embedded services make one where there is none; no more is wanted of them here."""
    ports = ["--sqs-port", "0", "--smtp-port", "0"]
    with subprocess.Popen(
        [sendoncectl, "local", *ports, "--data-dir", data_dir], stdout=subprocess.PIPE, text=True
    ) as services:
        expect("ready\n" in services.stdout, "sendoncectl local does not come up")
        services.terminate()


def main(server, sendoncectl, endpoint, data_dir):
    if server == "fauxqs":  # it refuses bodies with characters beyond U+FFFF, which AWS takes, and knows no trace header
        LETTERS[:] = [(re.sub("[\U00010000-\U0010ffff]", "\u2603", body), a, None) for body, a, _ in LETTERS]
    make_database(sendoncectl, data_dir)
    client = boto3.client("sqs", endpoint_url=endpoint, region_name="us-east-1")
    dead = Queue(client, "roundtrip-dlq")
    arn = dead.attributes("QueueArn")["QueueArn"]
    source = Queue(
        client, "roundtrip", RedrivePolicy=json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": "3"})
    )

    def dlq(*words):
        settings = ["--queue-url", source.url, "--endpoint-url", endpoint, "--data-dir", data_dir]
        done = subprocess.run([sendoncectl, "dlq", *words, *settings, "--yes"], capture_output=True, text=True)
        expect(done.returncode == 0, f"dlq {words} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    for each in LETTERS:
        dead.send(*each)
    dlq("replay", "--all")
    expect_same(source.take(), "replayed")
    dead.expect_empty()

    for each in LETTERS:
        dead.send(*each)
    exported = data_dir + "/letters.jsonl"
    dlq("export", "--all", "--to", exported)
    expect_same(dead.take(), "left by the export")
    source.expect_empty()
    dlq("import", "--from", exported)
    expect_same(dead.take(), "imported")
    os.remove(exported)
    print(f"{len(LETTERS)} letters, replayed, exported and imported as they were")


if __name__ == "__main__":
    main(*sys.argv[1:])
