"""Councils: several models answer one question side by side."""

from django.apps import AppConfig


class CouncilConfig(AppConfig):
    name = "council"

    def ready(self) -> None:
        from common import ownership
        from council.closing import close
        from council.owned import OWNED
        from council.runner import GenerationHandler
        from council.types import JOB
        from jobs.handlers import register

        register(JOB, GenerationHandler())
        ownership.register(*OWNED)
        ownership.register_closing(close)
