"""The studios: pictures, clips and 3D assets, made by jobs."""

from django.apps import AppConfig


class StudiosConfig(AppConfig):
    name = "studios"

    def ready(self) -> None:
        from billing import invariants
        from common import ownership
        from events import declarations
        from events.types import USER_STREAM
        from media.files.services.outputs import taken_down, taking_down
        from studios.account_closure import close
        from studios.data_ownership import OWNED
        from studios.event_types import USER_EVENTS
        from studios.handlers import AssetHandler, ImageHandler, VideoHandler
        from studios.invariants import INVARIANTS
        from studios.services.completion import lock_for_takedown, publish_takedown
        from studios.types import JOBS, Kind
        from work.jobs.handlers import register

        invariants.register(*INVARIANTS)
        register(JOBS[Kind.IMAGE], ImageHandler())
        register(JOBS[Kind.VIDEO], VideoHandler())
        register(JOBS[Kind.ASSET], AssetHandler())
        taking_down.connect(lock_for_takedown)
        taken_down.connect(publish_takedown)
        ownership.register(*OWNED)
        declarations.register(USER_STREAM, USER_EVENTS)
        ownership.register_closing(close)
