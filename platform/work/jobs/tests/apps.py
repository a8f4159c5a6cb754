"""Jobs of kinds that only tests have, done by real workers."""

from django.apps import AppConfig


class JobsTestsConfig(AppConfig):
    name = "work.jobs.tests"
    label = "jobs_tests"

    def ready(self) -> None:
        from work.jobs.tests import handlers

        handlers.register_all()
