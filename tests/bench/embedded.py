#!/usr/bin/env python3
"""embedded.py CTL FOLDER: mails per second of the embedded default (own queue, SQLite, own mailbox), and SQS requests
per 1,000 messages as the endpoint's clients see them. Exits 1 below 300 mails/s or when a promise is broken."""
import http.client
import json
import subprocess
import sys
import tempfile
import time
import uuid

from growth import services

EVENTS, DUPLICATES, REQUIRED = 2000, 200, 300


def main():
    ctl, folder = sys.argv[1:3]
    with tempfile.TemporaryDirectory(dir=folder) as home, services(ctl, home) as environment:
        return measure(ctl, environment)


def measure(ctl, environment):
    host = environment["AWS_ENDPOINT_URL_SQS"].split("//")[1]
    connection = http.client.HTTPConnection(host)
    ids = [str(uuid.uuid4()) for _ in range(EVENTS)]
    bodies = [json.dumps({"type": "application.status_changed", "event_id": i, "application_id": 3,
                          "old_status": "reviewing", "new_status": "interview"}) for i in ids + ids[:DUPLICATES]]
    for start in range(0, len(bodies), 10):
        entries = [{"Id": str(n), "MessageBody": body} for n, body in enumerate(bodies[start:start + 10])]
        connection.request("POST", "/", json.dumps({"QueueUrl": environment["SENDONCE_QUEUE_URL"], "Entries": entries}),
                           {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "AmazonSQS.SendMessageBatch"})
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise SystemExit(f"the embedded queue answered {answer.status}")
    started = time.monotonic()
    worker = subprocess.run([ctl, "worker", "--until-empty"], env={**environment, "PATH": "/usr/bin:/bin"},
                            capture_output=True, text=True, check=False)
    # --until-empty looks twice, a second apart, before it believes.
    took = time.monotonic() - started - 1
    last = worker.stdout.strip().splitlines()[-1] if worker.stdout.strip() else worker.stderr
    expected = f"sent {EVENTS}, skipped {DUPLICATES}, failed 0, in doubt 0"
    rate = EVENTS / took
    print(f"embedded: {rate:.0f} mails/s ({EVENTS} mails, {DUPLICATES} duplicates in {took:.2f} s); {last}")
    return 0 if last == expected and rate >= REQUIRED else 1


if __name__ == "__main__":
    sys.exit(main())
