"""Settings of the processes behind the screens: each mail is one line of the worker's log."""

from tests.hurried_settings import *  # noqa: F403

EMAIL_BACKEND = "devserver.mails.EmailBackend"
