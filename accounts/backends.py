"""How operators are known to Django, which keeps their visits to the admin."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest

from accounts.models import User
from accounts.services.sessions import give_connection_back


class OperatorBackend(ModelBackend):
    """By address and password, with Django's permissions."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **_: Any,
    ) -> User | None:
        """The user, after the same work for an unknown address as for a wrong password. Raises
        ServiceUnavailable where too many hash at once."""
        user = User.objects.filter(email=(username or "").strip().lower()).first()
        give_connection_back()
        if user is None:
            make_password(password)
            return None
        known = user.check_password(password or "") and self.user_can_authenticate(user)
        return user if known else None
