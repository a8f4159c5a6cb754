"""The studios: pictures, clips and 3D assets, made by jobs."""

from django.apps import AppConfig


class StudiosConfig(AppConfig):
    name = "studios"

    def ready(self) -> None:
        from jobs.handlers import register
        from studios.handlers import AssetHandler, ImageHandler, VideoHandler
        from studios.types import JOBS, Kind

        register(JOBS[Kind.IMAGE], ImageHandler())
        register(JOBS[Kind.VIDEO], VideoHandler())
        register(JOBS[Kind.ASSET], AssetHandler())
