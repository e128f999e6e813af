"""The job board's own worker: takes events from the queue and sends one e-mail for each, in one transaction with its claim."""

import json
import logging
import signal

import boto3
from django.conf import settings
from django.core.mail import send_mail
from django.core.management.base import BaseCommand
from django.db import transaction

from jobs.models import Application, ProcessedEvent

log = logging.getLogger("jobs.worker")


class Command(BaseCommand):
    help = "Handles the queue's events until SIGTERM; then says what it did, as JSON."

    def add_arguments(self, parser):
        parser.add_argument(
            "--until-empty",
            action="store_true",
            help="end with the first empty answer of the queue",
        )

    def handle(self, *args, **options):
        self.stopping = False
        self.counts = {"mailed": 0, "skipped": 0, "gone": 0, "failed": 0}
        signal.signal(signal.SIGTERM, self.stop)
        queue = boto3.client("sqs", endpoint_url=settings.SQS_ENDPOINT_URL)
        # Whoever waits for this line knows that the next thing is a receive.
        self.stdout.write("ready")
        self.stdout.flush()
        while not self.stopping:
            answer = queue.receive_message(
                QueueUrl=settings.SQS_QUEUE_URL,
                MaxNumberOfMessages=10,
                WaitTimeSeconds=1,
            )
            messages = answer.get("Messages", [])
            if options["until_empty"] and not messages:
                break
            for message in messages:
                try:
                    self.process(json.loads(message["Body"]))
                except Exception as error:
                    # Not deleted: the queue delivers it again.
                    self.counts["failed"] += 1
                    log.error(
                        "Failed to handle message %s: %s", message["MessageId"], error
                    )
                else:
                    queue.delete_message(
                        QueueUrl=settings.SQS_QUEUE_URL,
                        ReceiptHandle=message["ReceiptHandle"],
                    )
        self.stdout.write(json.dumps(self.counts))

    def stop(self, *_):
        self.stopping = True

    def process(self, event):
        if event["type"] != "application.status_changed":
            raise ValueError(f"unknown type {event['type']}")
        with transaction.atomic():
            # Looks, and then inserts within a savepoint: a refused INSERT is looked at once more and leaves the transaction usable.
            _, is_new = ProcessedEvent.objects.get_or_create(
                event_id=event["event_id"], defaults={"event_type": event["type"]}
            )
            outcome = self.tell_candidate(event) if is_new else "skipped"
        self.counts[outcome] += 1
        log.info("Event %s: %s", event["event_id"], outcome)

    def tell_candidate(self, event):
        related = Application.objects.select_related("candidate__user", "job__company")
        application = related.filter(pk=event["application_id"]).first()
        if application is None:
            return "gone"
        user = application.candidate.user
        send_mail(
            f"Your application for {application.job.title} at {application.job.company.name}: {event['new_status']}",
            f"Hi {user.first_name},\n\nthe status of your application is now: {event['new_status']}.\n",
            None,
            [user.email],
        )
        return "mailed"
