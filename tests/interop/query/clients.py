"""Plays scenario.json through one of Debian's clients, both of which speak the query protocol here, and prints what came back.

    clients.py boto3|awscli ENDPOINT SCENARIO"""

import base64
import json
import re
import subprocess
import sys


def filled(value, saved):
    """The step's parameters with what was saved in them."""
    if isinstance(value, str):
        return re.sub(r"\$\{(\w+)\}", lambda match: saved[match[1]], value)
    if isinstance(value, list):
        return [filled(item, saved) for item in value]
    if isinstance(value, dict):
        if "$repeat" in value:
            return value["$repeat"][0] * value["$repeat"][1]
        if "$bytes" in value:
            return base64.b64decode(value["$bytes"])
        return {key: filled(item, saved) for key, item in value.items()}
    return value


def taken(result, path):
    for key in path.split("."):
        result = result[int(key) if key.isdigit() else key]
    return result


def plain(value):
    """JSON has no bytes."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(type(value))


class Boto3:
    prefix = "compared-boto3-"

    def __init__(self, endpoint):
        import boto3
        from botocore.config import Config
        from botocore.exceptions import ClientError

        self.error = ClientError
        self.client = boto3.client(
            "sqs",
            endpoint_url=endpoint,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(retries={"total_max_attempts": 1}),
        )
        if self.client.meta.service_model.metadata["protocol"] != "query":
            sys.exit(f"boto3 {boto3.__version__} does not speak the query protocol; Debian 12's does")

    def call(self, step, params):
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", step["op"]).lower()
        try:
            result = getattr(self.client, name)(**params)
        except self.error as problem:
            answer = problem.response
            return {
                "error": {
                    "code": answer["Error"]["Code"],
                    "message": answer["Error"]["Message"],
                    "status": answer["ResponseMetadata"]["HTTPStatusCode"],
                }
            }
        if not result.pop("ResponseMetadata")["RequestId"]:
            sys.exit(f"{step['name']}: no request id")
        return {"result": result}


class AwsCli:
    prefix = "compared-awscli-"

    def __init__(self, endpoint):
        self.command = ["/usr/bin/aws", "--endpoint-url", endpoint, "--region", "us-east-1", "--output", "json", "sqs"]

    def call(self, step, params):
        if not step.get("cli"):
            return None
        name = re.sub(r"(?<!^)(?=[A-Z])", "-", step["op"]).lower()
        done = subprocess.run(
            [*self.command, name, "--cli-input-json", json.dumps(params, default=plain)],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode != 0:
            told = re.search(
                r"An error occurred \((\S+)\) when calling the \w+ operation: (.*)", done.stderr, re.DOTALL
            )
            if not told:
                sys.exit(f"{step['name']}: {done.stderr}")
            return {"error": {"code": told[1], "message": told[2].rstrip("\n")}}
        return {"result": json.loads(done.stdout) if done.stdout.strip() else {}}


def main(which, endpoint, scenario):
    client = {"boto3": Boto3, "awscli": AwsCli}[which](endpoint)
    saved = {"prefix": client.prefix}
    seen = {}
    with open(scenario, encoding="utf-8") as file:
        steps = json.load(file)["steps"]
    for step in steps:
        if which == "awscli" and not step.get("cli"):
            continue
        seen[step["name"]] = client.call(step, filled(step["params"], saved))
        for name, path in step.get("save", {}).items():
            saved[name] = taken(seen[step["name"]].get("result", {}), path)
    json.dump(seen, sys.stdout, default=plain)


if __name__ == "__main__":
    main(*sys.argv[1:])
