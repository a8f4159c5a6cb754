"""`manage.py create_demo_gallery EMAIL`: jobs of the studios to look at. Development only; may be
run again."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from common.errors import DomainError
from demo.gallery import find_clip, order_gallery
from demo.tasks import extend_demo_clip


class Command(BaseCommand):
    help = (
        "Order pictures, a clip that is extended, a 3D asset and a job that fails, for an account "
        "that has no jobs. Workers carry them out. Only simulated providers are called."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="of the account, such as that of create_demo")

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        if not settings.DEMO_SEEDS:
            raise CommandError("Demo galleries are off here. DEMO=1 allows them, in development.")
        user = User.objects.filter(email=email).first()
        if user is None:
            raise CommandError(f"No account has the address {email}.")
        try:
            jobs = order_gallery(user)
        except DomainError as error:
            self.stdout.write(f"{email} gets no gallery: {error}")
            return
        if jobs:
            self.stdout.write(f"Ordered a gallery of {len(jobs)} jobs for {email}.")
        if clip_id := find_clip(jobs):
            extend_demo_clip.delay(str(clip_id))
