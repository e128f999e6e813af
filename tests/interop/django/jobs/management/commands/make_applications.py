"""Fills an empty job board: one application and one candidate for each number, so that a recipient tells the application."""

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand

from jobs.models import Application, Candidate, Company, Job


class Command(BaseCommand):
    help = "Makes as many applications as asked for; application n is that of user<n>@example.com."

    def add_arguments(self, parser):
        parser.add_argument("count", type=int)

    def handle(self, *args, **options):
        numbers = range(1, options["count"] + 1)
        job = Job.objects.create(
            company=Company.objects.create(name="Acme"),
            title="Engineer",
            description="A job",
        )
        User.objects.bulk_create(
            User(
                id=n,
                username=f"user{n}",
                first_name=f"First{n}",
                email=f"user{n}@example.com",
            )
            for n in numbers
        )
        Candidate.objects.bulk_create(
            Candidate(id=n, user_id=n, headline="Here I am") for n in numbers
        )
        Application.objects.bulk_create(
            Application(
                id=n, job=job, candidate_id=n, status="interview", cover_letter=""
            )
            for n in numbers
        )
