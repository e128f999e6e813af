#!/usr/bin/env python3
"""growth.py CTL FOLDER [SMALL LARGE]: the embedded default (own queue, SQLite, own mailbox) with few and with many
messages waiting, in turns: mails per second of a worker that takes a part of them. Exits 1 when many cost more than a
tenth, or a promise is broken."""
import contextlib
import http.client
import json
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid

MAILS, TURNS, SENDERS, ALLOWED = 2000, 5, 4, 1.1


@contextlib.contextmanager
def services(ctl, home):
    local = subprocess.Popen([ctl, "local", "--data-dir", home, "--sqs-port", "0", "--smtp-port", "0"],
                             stdout=subprocess.PIPE, text=True)
    environment = {}
    for line in local.stdout:
        if line.strip() == "ready":
            break
        if found := re.match(r"export (\w+)='(.*)'", line):
            environment[found[1]] = found[2]
    try:
        yield environment
    finally:
        local.terminate()
        local.wait()


def fill(environment, count):
    def send(batches):
        connection = http.client.HTTPConnection(environment["AWS_ENDPOINT_URL_SQS"].split("//")[1])
        for _ in range(batches):
            entries = [{"Id": str(n), "MessageBody": json.dumps(
                {"type": "application.status_changed", "event_id": str(uuid.uuid4()), "application_id": 3,
                 "old_status": "reviewing", "new_status": "interview"})} for n in range(10)]
            connection.request("POST", "/",
                               json.dumps({"QueueUrl": environment["SENDONCE_QUEUE_URL"], "Entries": entries}),
                               {"Content-Type": "application/x-amz-json-1.0",
                                "X-Amz-Target": "AmazonSQS.SendMessageBatch"})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"the embedded queue answered {answer.status}")

    threads = [threading.Thread(target=send, args=(count // 10 // SENDERS,)) for _ in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def rate(ctl, environment):
    started = time.monotonic()
    worker = subprocess.run([ctl, "worker", "--max-messages", str(MAILS)],
                            env={**environment, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False)
    took = time.monotonic() - started
    last = worker.stdout.strip().splitlines()[-1] if worker.stdout.strip() else worker.stderr
    if last != f"sent {MAILS}, skipped 0, failed 0, in doubt 0":
        raise SystemExit(f"the worker said: {last}")
    return MAILS / took


def main():
    ctl, folder = sys.argv[1:3]
    counts = [int(each) for each in sys.argv[3:5]] or [10_000 + MAILS * TURNS, 1_000_000]
    with tempfile.TemporaryDirectory(dir=folder) as few, tempfile.TemporaryDirectory(dir=folder) as many, \
            services(ctl, few) as small, services(ctl, many) as large:
        for environment, count in zip((small, large), counts):
            started = time.monotonic()
            fill(environment, count)
            print(f"{count:,} messages sent in {time.monotonic() - started:.0f} s", flush=True)
        ratios = []
        for _ in range(TURNS):
            rates = [rate(ctl, small), rate(ctl, large)]
            ratios.append(rates[0] / rates[1])
            print(f"few: {rates[0]:.0f} mails/s, many: {rates[1]:.0f} mails/s, {ratios[-1]:.2f} times", flush=True)
    median = statistics.median(ratios)
    print(f"median {median:.2f} times; target {ALLOWED} or less: {'ok' if median <= ALLOWED else 'MISSED'}")
    return 0 if median <= ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
