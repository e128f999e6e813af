"""A small client for SQS in AWS JSON 1.0, on the standard library alone: it sends what it is told, also what no SDK would send."""

import http.client
import json
import socket
import threading
import urllib.parse

TIMEOUT_S = 60  # a slow server is no failure; silence is


class Reply:
    """What came back: status, headers with lower-case names, body as bytes."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = {name.lower(): value for name, value in headers}
        self.body = body

    def json(self):
        return json.loads(self.body) if self.body else {}

    def seen(self):
        """The part that cases compare: the result of a 200, else what identifies an error to a client."""
        try:
            if self.status == 200:
                return self.json()
            answer = self.json()
            shape = answer["__type"].rpartition("#")[2]
            message = answer.get("message", answer.get("Message"))
        except (ValueError, KeyError, TypeError):
            return {"status": self.status}
        return {
            "status": self.status,
            "shape": shape,
            "query": self.headers.get("x-amzn-query-error"),
            "message": message,
        }


class Wire:
    """Keeps one connection for each thread."""

    def __init__(self, endpoint):
        parts = urllib.parse.urlsplit(endpoint)
        self.host, self.port = parts.hostname, parts.port
        self.authority = f"{self.host}:{self.port}"
        self._own = threading.local()

    def request(self, method, path, body=b"", headers=None):
        if getattr(self._own, "connection", None) is None:
            self._own.connection = http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT_S)
        connection = self._own.connection
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            return Reply(response.status, response.getheaders(), response.read())
        except (OSError, http.client.HTTPException):
            connection.close()
            self._own.connection = None
            raise

    def call(self, operation, params, path="/", headers=None):
        """One operation; params is the body as an object, or as bytes."""
        body = params if isinstance(params, bytes) else json.dumps(params).encode()
        # Region and account belong to the credential scope; nobody checks the signature.
        every = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"AmazonSQS.{operation}",
            "x-amzn-query-mode": "true",
            "Authorization": "AWS4-HMAC-SHA256 Credential=test/20250901/us-east-1/sqs/aws4_request, "
            "SignedHeaders=host, Signature=00",
        }
        every.update(headers or {})
        return self.request("POST", path, body, {name: value for name, value in every.items() if value is not None})

    def raw(self, data):
        """Sends bytes and reads until the server has answered once or hung up: the first reply, None for none."""
        with socket.create_connection((self.host, self.port), timeout=TIMEOUT_S) as connection:
            connection.sendall(data)
            response = http.client.HTTPResponse(connection)
            try:
                response.begin()
                return Reply(response.status, response.getheaders(), response.read())
            except http.client.HTTPException:
                return None
