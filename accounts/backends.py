"""Authentication of operators for Django's sessions, which only the admin uses."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest

from accounts.models import User
from accounts.services.sessions import release_connection


class OperatorBackend(ModelBackend):
    """Authenticates by address and password, with Django's permissions."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **_: Any,
    ) -> User | None:
        """The user; an unknown address takes the same time as a wrong password. Raises
        ServiceUnavailable where too many hashes run."""
        user = User.objects.filter(email=(username or "").strip().lower()).first()
        release_connection()
        if user is None:
            make_password(password)
            return None
        known = user.check_password(password or "") and self.user_can_authenticate(user)
        return user if known else None
