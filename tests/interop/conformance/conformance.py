"""Runs every case against one server, in threads, and compares what was seen with what the server is known to answer.

    conformance.py ours|fauxqs ENDPOINT [PART-OF-A-NAME …]

One line for each failed case and one for the sum; exit code 1 when something failed. --list prints names and deviations."""

import concurrent.futures
import sys
import time

import batchcases  # noqa: F401  (they register themselves)
import deadlettercases  # noqa: F401
import handlecases  # noqa: F401
import httpcases  # noqa: F401
import messagecases  # noqa: F401
import movetaskcases  # noqa: F401
import queuecases  # noqa: F401
import receivecases  # noqa: F401
from suite import CASES, World
from wire import Wire

THREADS = 24  # most of them wait


def shorten(value):
    text = repr(value)
    return text if len(text) <= 600 else f"{text[:600]}… ({len(text)} characters)"


def run(one, world):
    expected = one.expected(world.server)
    try:
        got = one.function(world)
    except Exception as problem:  # a case that breaks is a failed case
        return f"FAIL {one.name}: expected {shorten(expected)}, got {type(problem).__name__}: {shorten(str(problem))}"
    # The expected side first: it may hold matchers.
    if expected == got:
        return None
    return f"FAIL {one.name}: expected {shorten(expected)}, got {shorten(got)}"


def main(arguments):
    names = [one.name for one in CASES]
    doubled = {name for name in names if names.count(name) > 1}
    if doubled:
        sys.exit(f"two cases of one name: {doubled}")
    same = [one.name for one in CASES if any(d and d.answer == one.aws for d in one.deviations.values())]
    if same:
        sys.exit(f"deviations that are none: {same}")
    if arguments == ["--list"]:
        for one in CASES:
            print(one.name)
            for server, deviation in one.deviations.items():
                if deviation:
                    print(f"    {server} differs: {deviation.source}")
        return 0
    if len(arguments) < 2 or arguments[0] not in ("ours", "fauxqs"):
        sys.exit(__doc__)
    server, endpoint, *parts = arguments
    chosen = [one for one in CASES if not parts or any(part in one.name for part in parts)]
    world = World(Wire(endpoint), server)
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(THREADS) as threads:
        failures = [line for line in threads.map(lambda one: run(one, world), chosen) if line]
    for line in failures:
        print(line)
    deviating = sum(one.deviations[server] is not None for one in chosen)
    print(
        f"{len(chosen)} cases, {len(chosen) - len(failures)} as expected, {len(failures)} failed; {deviating} with a known "
        f"deviation of {server} from AWS; {time.monotonic() - start:.1f} s"
    )
    return 1 if failures or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
