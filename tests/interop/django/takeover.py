"""takeover.py SENDONCECTL: a SQLite database of ours is taken over by Django, and then both work on it."""

import json
import sqlite3
import sys

import world
from world import expect

DATABASE_LINES = """
import json
from jobs.models import Application, ProcessedEvent
application = Application.objects.select_related("candidate__user", "job__company").get(pk=3)
print(json.dumps({
    "user": application.candidate.user.username,
    "company": application.job.company.name,
    "events": {event.event_id: str(event.processed_at) for event in ProcessedEvent.objects.all()},
}))
"""


def counts(text):
    return {
        name: int(number)
        for name, number in (
            part.rsplit(" ", 1) for part in text.splitlines()[-1].split(", ")
        )
    }


def main(sendoncectl):
    board = world.World(sendoncectl, "--visibility-timeout", "5")
    try:
        board.ctl("send", "--event-id", "first-by-us")
        ours = counts(board.ctl("worker", "--until-empty"))
        expect(ours["sent"] == 1, f"our worker, alone: {ours}")

        said = board.manage("migrate", "--fake-initial")
        expect(
            "jobs.0001_initial... FAKED" in said and said.count("Applying") == 1,
            f"more than a fake was needed: {said}",
        )
        board.expect_no_migration_due()

        read = json.loads(board.manage("shell", "-c", DATABASE_LINES).splitlines()[-1])
        expect(
            (read["user"], read["company"]) == ("sam", "Acme"), f"Django reads {read}"
        )
        path = board.environment["DATABASE_URL"].removeprefix("sqlite:///")
        with sqlite3.connect(path) as database:
            stored = dict(
                database.execute(
                    "SELECT event_id, processed_at || '+00:00' FROM jobs_processedevent"
                )
            )
        expect(
            read["events"] == stored,
            f"Django reads {read['events']}, the file holds {stored}",
        )

        # Each skips what the other one has handled, and Django's rows are ours to read.
        board.ctl("send", "--event-id", "first-by-us")
        board.ctl("send", "--event-id", "second-by-django")
        django = json.loads(
            board.manage("process_events", "--until-empty").splitlines()[-1]
        )
        expect(
            django == {"mailed": 1, "skipped": 1, "gone": 0, "failed": 0},
            f"Django's worker: {django}",
        )
        board.ctl("send", "--event-id", "first-by-us")
        board.ctl("send", "--event-id", "second-by-django")
        ours = counts(board.ctl("worker", "--until-empty"))
        expect(
            (ours["sent"], ours["skipped"], ours["failed"]) == (0, 2, 0),
            f"our worker behind Django's: {ours}",
        )
        rows = [
            json.loads(line)
            for line in board.ctl("events", "list", "--json").splitlines()
        ]
        expect(
            {row["eventId"] for row in rows} == {"first-by-us", "second-by-django"},
            f"we read {rows}",
        )
        expect(
            all(row["processedAt"] for row in rows), f"a time cannot be read: {rows}"
        )
        mails = board.ctl("mail", "list", "--json").splitlines()
        expect(len(mails) == 2, f"{len(mails)} mails instead of 2")
        with sqlite3.connect(path) as database:
            expect(
                database.execute("PRAGMA integrity_check").fetchall() == [("ok",)],
                "the file is damaged",
            )
            expect(
                not database.execute("PRAGMA foreign_key_check").fetchall(),
                "a foreign key leads nowhere",
            )
    finally:
        board.stop()


world.need_django()
main(sys.argv[1])
