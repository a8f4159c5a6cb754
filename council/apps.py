"""Councils: several models answer one question side by side."""

from django.apps import AppConfig


class CouncilConfig(AppConfig):
    name = "council"

    def ready(self) -> None:
        from common import ownership
        from council.account_closure import close
        from council.data_ownership import OWNED
        from council.event_types import COUNCIL_EVENTS, USER_EVENTS
        from council.runner import GenerationHandler
        from council.types import JOB, STREAM
        from events import declarations
        from events.types import USER_STREAM
        from work.jobs.handlers import register

        register(JOB, GenerationHandler())
        ownership.register(*OWNED)
        declarations.register(STREAM, COUNCIL_EVENTS)
        declarations.register(USER_STREAM, USER_EVENTS)
        ownership.register_closing(close)
