"""What the tests here share: sendoncectl, its embedded services, and Django's manage.py, each as a process of its own."""

import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

try:
    import boto3
except ImportError:
    print("skipped: Debian's package python3-boto3 is needed")
    sys.exit(77)


def need_django():
    try:
        import django
        import psycopg2  # noqa: F401
    except ImportError as missing:
        print(
            "skipped: Debian's packages python3-django and python3-psycopg2 are needed:",
            missing,
        )
        sys.exit(77)
    if django.VERSION < (3, 2):
        print("skipped: Django 3.2 or newer is needed")
        sys.exit(77)


def expect(holds, text):
    if not holds:
        raise SystemExit("FAILED: " + text)


class World:
    """The embedded services of a folder of their own; `environment` is what they print, and nothing of the person who runs this."""

    def __init__(self, sendoncectl, *local_options):
        self.sendoncectl = sendoncectl
        self.folder = tempfile.TemporaryDirectory()
        self.environment = {
            name: os.environ[name]
            for name in (
                "PATH",
                "LC_ALL",
                "TZ",
                "ASAN_OPTIONS",
                "UBSAN_OPTIONS",
                "LSAN_OPTIONS",
            )
            if name in os.environ
        }
        self.environment |= {
            "HOME": self.folder.name,
            "XDG_RUNTIME_DIR": self.folder.name,
            "SENDONCE_DATA_DIR": os.path.join(self.folder.name, "data"),
            "AWS_EC2_METADATA_DISABLED": "true",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.services = self.spawn(
            [
                sendoncectl,
                "local",
                "--sqs-port",
                "0",
                "--smtp-port",
                "0",
                *local_options,
            ]
        )
        for line in self.services.stdout:
            if line == "ready\n":
                break
            if export := re.fullmatch(r"export ([A-Z_]+)='(.*)'\n", line):
                self.environment[export[1]] = export[2]
        expect(
            "SENDONCE_QUEUE_URL" in self.environment,
            "sendoncectl local does not come up",
        )
        self.queue = boto3.client(
            "sqs",
            endpoint_url=self.environment["AWS_ENDPOINT_URL_SQS"],
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    def spawn(self, command, log=None):
        stderr = open(log, "w") if log else None
        return subprocess.Popen(
            command,
            env=self.environment,
            cwd=HERE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )

    def run(self, command):
        """What it printed; an exit code other than 0 is a failure of the test."""
        done = subprocess.run(
            command, env=self.environment, cwd=HERE, capture_output=True, text=True
        )
        expect(
            done.returncode == 0,
            f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}",
        )
        return done.stdout

    def ctl(self, *words):
        return self.run([self.sendoncectl, *words])

    def manage(self, *words):
        return self.run([sys.executable, "manage.py", *words])

    def spawn_manage(self, *words, log=None):
        return self.spawn([sys.executable, "manage.py", *words], log)

    def send(self, bodies):
        for start in range(0, len(bodies), 10):
            entries = [
                {"Id": str(i), "MessageBody": body}
                for i, body in enumerate(bodies[start : start + 10])
            ]
            answer = self.queue.send_message_batch(
                QueueUrl=self.environment["SENDONCE_QUEUE_URL"], Entries=entries
            )
            expect(not answer.get("Failed"), f"the queue refuses messages: {answer}")

    def depth(self, url_name):
        names = [
            "ApproximateNumberOfMessages",
            "ApproximateNumberOfMessagesNotVisible",
            "ApproximateNumberOfMessagesDelayed",
        ]
        answer = self.queue.get_queue_attributes(
            QueueUrl=self.environment[url_name], AttributeNames=names
        )
        return sum(int(answer["Attributes"][name]) for name in names)

    def wait_until(self, holds, seconds, text):
        deadline = time.monotonic() + seconds
        while not holds():
            expect(time.monotonic() < deadline, f"{text}: not within {seconds} s")
            time.sleep(0.1)

    def expect_no_migration_due(self):
        plan = self.manage("migrate", "--plan")
        expect(
            "No planned migration operations." in plan,
            f"Django wants to migrate: {plan}",
        )
        self.manage("makemigrations", "--check", "--dry-run")

    def stop(self):
        self.services.terminate()
        expect(self.services.wait(30) == 0, "sendoncectl local did not end well")
