"""Reads mails as Python's email package does: one base64 mail per line in, one JSON object per line out."""
import base64
import json
import sys
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.utils import getaddresses


def text_of(part):
    return part.get_content().replace("\r\n", "\n") if part is not None else None


def name_of(mail, header):
    """The display name. Not from policy.default: Python 3.11 leaves the blank between two encoded words of a name in."""
    raw = mail[header].replace("\r\n", "").replace("\n", "")
    return str(make_header(decode_header(getaddresses([raw])[0][0])))


for line in sys.stdin:
    raw = base64.b64decode(line)
    mail = message_from_bytes(raw, policy=policy.default)
    old = message_from_bytes(raw, policy=policy.compat32)
    to = mail["To"].addresses[0]
    sender = mail["From"].addresses[0]
    print(json.dumps({
        "defects": [repr(d) for part in mail.walk() for d in part.defects]
                   + [repr(d) for value in mail.values() for d in value.defects],
        "fromName": name_of(old, "From"),
        "fromAddress": sender.addr_spec,
        "toName": name_of(old, "To"),
        "toAddress": to.addr_spec,
        "recipients": len(mail["To"].addresses),
        "subject": str(mail["Subject"]),
        "event": str(mail["X-Sendonce-Event"]),
        "messageId": str(mail["Message-ID"]),
        "date": int(mail["Date"].datetime.timestamp()),
        "type": mail.get_content_type(),
        "text": text_of(mail.get_body(("plain",))),
        "html": text_of(mail.get_body(("html",))),
    }), flush=True)
