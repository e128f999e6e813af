"""Compares what several clients saw of the same calls, field by field; what differs from call to call only by shape.

    compare.py SCENARIO FIRST OTHER…      files that the clients wrote; OTHER may lack steps"""

import json
import re
import sys

SHAPES = [
    ("<id>", r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    ("<milliseconds>", r"1[0-9]{12}"),
    ("<seconds>", r"1[0-9]{9}"),
]


def shaped(key, value):
    if key in ("ReceiptHandle", "NextToken"):
        return f"<{key}>" if value else value
    for name, expression in SHAPES:
        if re.fullmatch(expression, value):
            return name
    value = re.sub(r"compared-\w+?-", "compared-", value)
    value = re.sub(r"Value \S+ for parameter ReceiptHandle", "Value <ReceiptHandle> for parameter ReceiptHandle", value)
    # The query protocol has its own words for it (recorded from AWS).
    return value.replace(" does not exist for this wsdl version.", " does not exist.")


def fields(value, path="", key=""):
    """Every leaf of a result with its path; batch results go by Id."""
    if isinstance(value, dict):
        for name in sorted(value):
            yield from fields(value[name], f"{path}.{name}" if path else name, name)
        if not value:
            yield path, {}
    elif isinstance(value, list):
        for number, item in enumerate(value):
            name = item["Id"] if isinstance(item, dict) and "Id" in item else number
            yield from fields(item, f"{path}[{name}]", key)
    else:
        yield path, shaped(key, value) if isinstance(value, str) else value


def shorten(value):
    text = repr(value)
    return text if len(text) < 200 else f"{text[:200]}… ({len(text)})"


def main(scenario, *files):
    with open(scenario, encoding="utf-8") as file:
        steps = json.load(file)["steps"]
    seen = {}
    for name in files:
        with open(name, encoding="utf-8") as file:
            seen[name.rpartition("/")[2].removesuffix(".json")] = json.load(file)
    first, *others = seen
    problems, compared = [], 0
    for step in steps:
        name = step["name"]
        for client, results in seen.items():
            if name not in results:
                if client == first or not step.get("cli", False) and client == "awscli":
                    continue
                problems.append(f"{name}: {client} did not do it")
                continue
            error = results[name].get("error")
            wanted = step.get("error")
            if bool(error) != bool(wanted):
                problems.append(f"{name}: {client} got {shorten(results[name])}, expected {wanted or 'a result'}")
            elif error and (error["code"] != wanted[0] or error.get("status", wanted[1]) != wanted[1]):
                problems.append(f"{name}: {client} got {shorten(error)}, expected {wanted}")
        if name not in seen[first]:
            problems.append(f"{name}: {first} did not do it")
            continue
        expected = dict(fields(seen[first][name]))
        for client in others:
            if name not in seen[client]:
                continue
            got = dict(fields(seen[client][name]))
            if client == "awscli":
                got.setdefault("error.status", expected.get("error.status"))  # it does not tell
                if got["error.status"] is None:
                    del got["error.status"]
            for path in sorted(expected.keys() | got.keys()):
                compared += 1
                if expected.get(path) != got.get(path):
                    problems.append(
                        f"{name}: {path}: {first} has {shorten(expected.get(path))}, {client} {shorten(got.get(path))}"
                    )
    for problem in problems:
        print(problem)
    counts = ", ".join(f"{client} {len(results)}" for client, results in seen.items())
    print(f"calls: {counts}; {compared} fields compared, {len(problems)} problems")
    return 1 if problems or not compared else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
