"""A job board as small as it can be: no pages, only the tables and the worker. Everything that varies comes from the environment,
under the names that `sendoncectl local` prints."""

import os
from urllib.parse import unquote, urlsplit

SECRET_KEY = "only for tests"
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "jobs"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"

_database = urlsplit(os.environ["DATABASE_URL"])
if _database.scheme == "sqlite":
    # sqlite:////absolute/path: the first slash ends the host.
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": unquote(_database.path)[1:],
            "OPTIONS": {"timeout": 20},
        }
    }
else:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": _database.path[1:],
            "HOST": _database.hostname,
            "PORT": _database.port,
            "USER": _database.username,
        }
    }

_mail = urlsplit(os.environ.get("SENDONCE_MAIL_URL", "smtp://127.0.0.1:25"))
EMAIL_HOST = _mail.hostname
EMAIL_PORT = _mail.port
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = "Job Board <no-reply@jobboard.example>"

SQS_ENDPOINT_URL = os.environ.get("AWS_ENDPOINT_URL_SQS")
SQS_QUEUE_URL = os.environ.get("SENDONCE_QUEUE_URL")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"stderr": {"class": "logging.StreamHandler"}},
    "loggers": {"jobs": {"handlers": ["stderr"], "level": "INFO"}},
}
