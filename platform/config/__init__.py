"""The project: settings, routes, servers. Django and Celery load the app and the checks from
here."""

from config import checks
from config.celery import app as celery_app

__all__ = ["celery_app", "checks"]
