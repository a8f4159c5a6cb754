"""What operators fill in to enter the admin, and to change their passwords there."""

from typing import Any

import structlog
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.forms import Form
from django.http import HttpRequest

from accounts.errors import TooManyAttempts
from accounts.services import lockout
from common.backoffice.theme import AdminAuthenticationForm, PasswordChangeForm
from common.client_ip import client_ip_of
from common.errors import ServiceUnavailable

log = structlog.get_logger(__name__)

MAX_ADDRESS = 254
# The bound keeps the work of hashing it small.
MAX_PASSWORD = 1024


class SignInForm(AdminAuthenticationForm):
    """Address and password of an operator. Who fails too often is refused for a while, in the same
    words whether there is such an account or not."""

    request: HttpRequest
    _refusal: ValidationError | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _bound(self, username=MAX_ADDRESS, password=MAX_PASSWORD)

    def clean(self) -> dict[str, Any]:
        address = self.cleaned_data.get("username")
        if not address or not self.cleaned_data.get("password"):
            return self.cleaned_data
        client_ip = client_ip_of(self.request)
        try:
            lockout.verify(self._is_right, address=address, client_ip=client_ip, in_admin=True)
        except (TooManyAttempts, ServiceUnavailable) as error:
            raise ValidationError(error.text) from None
        if self._refusal:
            log.warning("admin.sign_in_failed", address=address, client_ip=client_ip)
            raise self._refusal
        return self.cleaned_data

    def _is_right(self) -> bool:
        try:
            super().clean()
        except ValidationError as refusal:
            self._refusal = refusal
        return self._refusal is None


class OwnPasswordForm(PasswordChangeForm):
    """The old password and the new one, twice. The service that changes it checks them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _bound(self, **dict.fromkeys(self.fields, MAX_PASSWORD))

    def clean_old_password(self) -> str:
        return str(self.cleaned_data["old_password"])

    def validate_password_for_user(self, user: Any, password_field_name: str = "") -> None:
        """Leave it to the service."""


def _bound(form: Form, **lengths: int) -> None:
    for name, length in lengths.items():
        form.fields[name].validators.append(MaxLengthValidator(length))
