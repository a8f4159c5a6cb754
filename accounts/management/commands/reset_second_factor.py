"""`manage.py reset_second_factor`: lets an operator who has lost their app set up another one."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from accounts.models import User
from accounts.services import second_factor
from accounts.services.audit_log import record


class Command(BaseCommand):
    help = (
        "Forget the second factor of an operator and sign them out everywhere. For the last "
        "operator there is; colleagues can do it in the admin."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="the operator's address")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        email = options["email"].strip().lower()
        operator = User.objects.filter(email=email, is_staff=True).first()
        if operator is None:
            raise CommandError(f"There is no operator with the address {email}.")
        if not second_factor.reset(operator=operator):
            raise CommandError(f"{email} has no second factor.")
        record(operator, "Second factor reset by command.")
        self.stdout.write(f"{email} signs in with the password alone, until a new one is set up.")
