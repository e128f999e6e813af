"""The cases' frame: each is a function that talks to a server and returns what it saw, registered with what AWS answers and, where
a server under test is known to answer something else, with that and the source for AWS's side."""

import concurrent.futures
import itertools
import threading
import time

CASES = []
_numbers = itertools.count(1)
_number_lock = threading.Lock()


class Case:
    def __init__(self, name, function, aws, ours, fauxqs):
        self.name, self.function, self.aws = name, function, aws
        self.deviations = {"ours": ours, "fauxqs": fauxqs}

    def expected(self, server):
        deviation = self.deviations[server]
        return self.aws if deviation is None else deviation.answer


def case(name, aws, ours=None, fauxqs=None):
    def register(function):
        CASES.append(Case(name, function, aws, ours, fauxqs))
        return function

    return register


class Queue:
    def __init__(self, world, name, url):
        self.world, self.name, self.url = world, name, url
        self.arn = f"arn:aws:sqs:us-east-1:000000000000:{name}"

    def ask(self, operation, **params):
        return self.world.ask(operation, QueueUrl=self.url, **params)

    def call(self, operation, **params):
        return self.ask(operation, **params).seen()

    def done(self, operation, **params):
        """For steps that a case takes for granted."""
        reply = self.ask(operation, **params)
        if reply.status != 200:
            raise AssertionError(f"{operation} failed: {reply.seen()}")
        return reply.json()

    def send(self, body="a", **params):
        return self.done("SendMessage", MessageBody=body, **params)

    def receive(self, **params):
        return self.done("ReceiveMessage", **params).get("Messages", [])

    def one(self, **params):
        (message,) = self.receive(**params)
        return message

    def bodies(self, **params):
        return sorted(message["Body"] for message in self.receive(MaxNumberOfMessages=10, **params))

    def drain(self):
        """Receives until there is nothing, and hides what it got for long."""
        got = []
        while batch := self.receive(MaxNumberOfMessages=10, VisibilityTimeout=600, AttributeNames=["All"]):
            got += batch
        return got

    def attributes(self, *names):
        return self.done("GetQueueAttributes", AttributeNames=list(names) or ["All"]).get("Attributes", {})

    def counts(self):
        """Visible, in flight, delayed."""
        every = self.attributes("All")
        return [int(every["ApproximateNumberOfMessages" + which]) for which in ("", "NotVisible", "Delayed")]

    def batch(self, operation, entries):
        """A batch with Successful and Failed sorted by Id: the order is nobody's promise."""
        seen = self.call(operation, Entries=entries)
        for part in ("Successful", "Failed"):
            if part in seen:
                seen[part] = sorted(seen[part], key=lambda entry: entry["Id"])
        return seen


class World:
    """One server, and the names that cases of one run share with nobody."""

    def __init__(self, wire, server):
        self.wire, self.server = wire, server

    def name(self, prefix="case"):
        with _number_lock:
            return f"{prefix}-{next(_numbers)}"

    def ask(self, operation, **params):
        return self.wire.call(operation, params)

    def call(self, operation, **params):
        return self.ask(operation, **params).seen()

    def create(self, name, **attributes):
        return self.call("CreateQueue", QueueName=name, Attributes=attributes)

    def queue(self, name=None, **attributes):
        name = name or self.name()
        created = self.create(name, **attributes)
        if "QueueUrl" not in created:
            raise AssertionError(f"CreateQueue failed: {created}")
        return Queue(self, name, created["QueueUrl"])

    def absent(self):
        """A queue that there is not, at a URL of the server's own form."""
        known = self.queue()
        name = self.name("absent")
        return Queue(self, name, known.url.removesuffix(known.name) + name)

    def with_dead_letters(self, count, **attributes):
        dead = self.queue()
        policy = f'{{"deadLetterTargetArn":"{dead.arn}","maxReceiveCount":{count}}}'
        return self.queue(RedrivePolicy=policy, **attributes), dead

    def meanwhile(self, function):
        """Runs function on a thread, and returns once it has had time to reach the server; .result() waits for its end."""
        future = concurrent.futures.Future()

        def run():
            try:
                future.set_result(function())
            except BaseException as problem:  # it belongs to whoever asks for the result
                future.set_exception(problem)

        threading.Thread(target=run, daemon=True).start()
        time.sleep(0.3)
        return future


def until(condition, seconds=20):
    """Asks again and again until condition gives something true; its last value."""
    end = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return value
