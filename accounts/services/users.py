"""Accounts as a whole: made, changed and closed."""

from django.db import transaction

from accounts.models import User


@transaction.atomic
def ensure_user(*, email: str, password: str, name: str, operator: bool = False) -> User:
    """The account of that address with that password, made or put right if need be. For seeds.

    Where the password changes, every token issued so far is revoked. An operator may use the admin.
    """
    user = User.objects.select_for_update(no_key=True).filter(email=email).first()
    if user is None:
        user = User.objects.create_user(email, password, name=name)
    elif not user.check_password(password):
        user.set_password(password)
        user.token_version += 1
    user.status = User.Status.ACTIVE
    user.email_verified = True
    user.is_staff = user.is_superuser = operator
    user.save()
    return user
