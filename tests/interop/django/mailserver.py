"""An SMTP server that refuses some mails once, each in one of several ways, and remembers what it took."""

import collections
import socketserver
import threading
import time

# What becomes of the first attempt for a recipient. All of these are "not sent" beyond doubt.
REFUSALS = ("final 451", "recipient 550", "recipient 421", "hang up")


class MailServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, refusals):
        """refusals: recipient -> one of REFUSALS, for its first attempt."""
        super().__init__(("127.0.0.1", 0), Conversation)
        self.refusals = dict(refusals)
        self.refused = collections.Counter()
        self.taken = collections.defaultdict(
            list
        )  # recipient -> values of X-Sendonce-Event; None: by Django
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"smtp://127.0.0.1:{self.server_address[1]}"

    def refusal(self, recipient, at):
        """The refusal that is due for this recipient at this step, once."""
        with self.lock:
            kind = self.refusals.get(recipient)
            if kind is None or kind.startswith("final") != (at == "final"):
                return None
            self.refused[recipient] += 1
            return self.refusals.pop(recipient)


class Conversation(socketserver.StreamRequestHandler):
    timeout = 60

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")

    def handle(self):
        try:
            self.talk()
        except OSError:
            pass  # whoever has gone needs no answer

    def talk(self):
        self.say("220 mail.example ESMTP")
        recipient = None
        while line := self.rfile.readline():
            verb = line.split()[0].upper() if line.split() else b""
            if verb == b"EHLO":
                self.say("250-mail.example\r\n250-8BITMIME\r\n250 ENHANCEDSTATUSCODES")
            elif verb == b"RCPT":
                recipient = line.decode().partition("<")[2].partition(">")[0]
                refusal = self.server.refusal(recipient, "recipient")
                if refusal == "recipient 550":
                    self.say("550 5.1.1 not today")
                elif refusal == "recipient 421":
                    self.say("421 4.3.2 closing")
                    return
                elif refusal == "hang up":
                    return
                else:
                    self.say("250 2.1.5 Ok")
            elif verb == b"DATA":
                self.say("354 Go on")
                event = self.read_mail()
                time.sleep(
                    0.005
                )  # a real one takes its time, and claims stay open for as long
                if self.server.refusal(recipient, "final"):
                    self.say("451 4.3.0 try again later")
                else:
                    with self.server.lock:
                        self.server.taken[recipient].append(event)
                    self.say("250 2.0.0 Ok")
            elif verb == b"QUIT":
                self.say("221 2.0.0 Bye")
                return
            elif verb in (b"MAIL", b"RSET", b"NOOP", b"HELO"):
                self.say("250 2.0.0 Ok")
            else:
                self.say("502 5.5.1 unknown")

    def read_mail(self):
        event = None
        in_head = True
        while (line := self.rfile.readline()) and line != b".\r\n":
            in_head = in_head and line != b"\r\n"
            if in_head and line.lower().startswith(b"x-sendonce-event:"):
                event = line.partition(b":")[2].strip().decode()
        return event
