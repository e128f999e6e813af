"""together.py SENDONCECTL EVENTS: Django's worker and ours share one database and one queue. Every third event comes twice, every
fifth mail is refused at first; each event shall be mailed once."""

import json
import os
import random
import sys
import time
import uuid

import world
from cluster import Cluster
from mailserver import REFUSALS, MailServer
from world import expect

VISIBILITY_S = 2  # a refused mail comes back after it
RECEIVES = 20


def columns(cluster, tables):
    return cluster.psql(
        "SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns "
        f"WHERE table_schema = 'public' AND table_name {tables} ORDER BY 1, 2"
    )


def messages(events):
    """One or two bodies for each event: half of the copies right behind the first one, half of them anywhere."""
    bodies = []
    apart = []
    for event_id, number in events.items():
        body = json.dumps(
            {
                "type": "application.status_changed",
                "event_id": event_id,
                "application_id": number,
                "old_status": "reviewing",
                "new_status": "interview",
            }
        )
        bodies.append(body)
        if number % 10 in (1, 4, 7):
            (bodies if number % 20 < 10 else apart).append(body)
    for body in apart:
        bodies.insert(random.randrange(len(bodies) + 1), body)
    return bodies


def main(sendoncectl, count):
    seed = random.randrange(1_000_000)
    random.seed(seed)
    began = time.monotonic()
    board = world.World(
        sendoncectl,
        "--visibility-timeout",
        str(VISIBILITY_S),
        "--max-receive-count",
        str(RECEIVES),
    )
    cluster = Cluster()
    recipients = [f"user{number}@example.com" for number in range(1, count + 1)]
    refusals = {
        recipient: REFUSALS[i // 5 % len(REFUSALS)]
        for i, recipient in enumerate(recipients)
        if i % 5 == 0
    }
    mails = MailServer(refusals)
    log = os.path.join(board.folder.name, "log")
    workers = []
    try:
        board.environment |= {
            "DATABASE_URL": cluster.url,
            "SENDONCE_MAIL_URL": mails.url,
        }
        # Django makes its tables; ours adds its own to them.
        board.manage("migrate", "--verbosity", "0")
        board.manage("make_applications", str(count))
        theirs = columns(cluster, "NOT LIKE 'sendonce%'")

        django = board.spawn_manage("process_events", log=log + ".django")
        ours = board.spawn([sendoncectl, "worker", "--lanes", "8"], log + ".ours")
        workers = [django, ours]
        expect(
            django.stdout.readline() == "ready\n", "Django's worker does not come up"
        )
        board.wait_until(
            lambda: cluster.psql("SELECT to_regclass('sendonce_claimbody')"),
            60,
            "our worker comes up",
        )
        started = time.monotonic()
        events = {
            str(uuid.UUID(int=random.getrandbits(128), version=4)): number
            for number in range(1, count + 1)
        }
        bodies = messages(events)
        board.send(bodies)
        board.wait_until(
            lambda: board.depth("SENDONCE_QUEUE_URL") == 0, 300, "the queue is empty"
        )
        took = time.monotonic() - started
        for worker in workers:
            worker.terminate()
        said = [worker.communicate(timeout=60)[0] for worker in workers]
        expect(
            [worker.returncode for worker in workers] == [0, 0],
            f"the workers ended with {said}",
        )
        by_django = json.loads(said[0].splitlines()[-1])
        parts = [part.rsplit(" ", 1) for part in said[1].splitlines()[-1].split(", ")]
        by_us = {name: int(number) for name, number in parts}

        print(
            f"seed {seed}: {len(bodies)} messages of {count} events in {took:.1f} s ({took + started - began:.1f} s in all)"
        )
        print(f"Django: {by_django}; Sendonce: {by_us}")
        twice = {to: by for to, by in mails.taken.items() if len(by) != 1}
        expect(not twice, f"mailed more than once: {twice}")
        expect(
            sorted(mails.taken) == sorted(recipients),
            f"{count - len(mails.taken)} events were never mailed",
        )
        number_of = {
            f"user{number}@example.com": event_id for event_id, number in events.items()
        }
        wrong = [
            to for to, by in mails.taken.items() if by[0] not in (None, number_of[to])
        ]
        expect(not wrong, f"mailed to somebody else: {wrong}")
        expect(
            mails.refused.total() == len(refusals),
            f"{mails.refused.total()} refusals of {len(refusals)}",
        )
        expect(by_us["in doubt"] == 0, "an event is in doubt")
        expect(
            by_us["sent"] + by_django["mailed"] == count,
            "the workers' own numbers do not add up",
        )
        expect(
            by_us["skipped"] + by_django["skipped"] >= len(bodies) - count,
            "duplicates are missing",
        )
        expect(
            min(by_us["sent"], by_django["mailed"]) >= 10,
            "one of the two had nothing to do",
        )
        rows = cluster.psql(
            "SELECT count(*), count(DISTINCT event_id) FROM jobs_processedevent"
        )
        expect(rows == f"{count}|{count}", f"rows and events: {rows}")
        expect(board.depth("SENDONCE_DLQ_URL") == 0, "there are dead letters")
        expect(
            columns(cluster, "NOT LIKE 'sendonce%'") == theirs,
            "a table of Django's was changed",
        )
        expect(
            "sendonce_claimbody" in columns(cluster, "LIKE 'sendonce%'"),
            "our own tables are missing",
        )
        board.expect_no_migration_due()
    except BaseException:
        for name in ("django", "ours"):
            if os.path.exists(f"{log}.{name}"):
                print(
                    f"--- {name}\n" + "".join(open(f"{log}.{name}").readlines()[-15:]),
                    file=sys.stderr,
                )
        raise
    finally:
        for worker in workers:
            if worker.poll() is None:
                worker.kill()
        mails.shutdown()
        cluster.stop()
        board.stop()


world.need_django()
main(sys.argv[1], int(sys.argv[2]))
