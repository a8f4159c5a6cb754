"""`manage.py create_demo_gallery EMAIL`: jobs of the studios to look at. Development only; may be
run again."""

from typing import Any

from accounts.models import User
from common.errors import DomainError
from demo.commands import FillAccount
from demo.gallery import find_clip, order_gallery
from demo.tasks import extend_demo_clip


class Command(FillAccount):
    help = (
        "Order pictures, a clip that is extended, a 3D asset and a job that fails, for an account "
        "that has no jobs. Workers carry them out. Only simulated providers are called."
    )
    subject = "galleries"

    def fill(self, user: User, **options: Any) -> None:
        try:
            jobs = order_gallery(user)
        except DomainError as error:
            self.stdout.write(f"{user.email} gets no gallery: {error}")
            return
        if jobs:
            self.stdout.write(f"Ordered a gallery of {len(jobs)} jobs for {user.email}.")
        if clip_id := find_clip(jobs):
            extend_demo_clip.delay(str(clip_id))
