"""The first operator, made where nobody is there who could do it in the admin."""

from django.db import transaction

from accounts.errors import EmailTaken
from accounts.models import User
from accounts.services.audit_log import record
from accounts.services.password_rules import check_password_rules


def has_operator() -> bool:
    """Is there somebody who can make others operators?"""
    able = User.objects.filter(is_staff=True, is_superuser=True, status=User.Status.ACTIVE)
    return able.exists()


@transaction.atomic
def create_first_operator(*, email: str, password: str) -> User:
    """The caller has found that there is none, and holds a lock that keeps others from it.

    Raises ValidationFailed for a weak password, and EmailTaken for the address of an account:
    whoever has signed up with an address need not be the person who reads its mails.
    """
    user = User(email=email, is_staff=True, is_superuser=True)
    check_password_rules(password, user)
    if User.objects.filter(email=email).exists():
        raise EmailTaken
    user.set_password(password)
    user.save()
    record(user, "Made the first operator by command.")
    return user
