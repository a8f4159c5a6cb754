"""The task behind the demo gallery."""

from uuid import UUID

from celery import shared_task

from demo import gallery

# Seconds between two looks at a clip, and how many of them there are.
PAUSE = 3
LOOKS = 200


@shared_task
def extend_demo_clip(clip_id: str, looks: int = LOOKS) -> None:
    """Extend the clip of a demo gallery as soon as it is finished."""
    if not gallery.extend(UUID(clip_id)) and looks > 1:
        extend_demo_clip.apply_async((clip_id, looks - 1), countdown=PAUSE)
