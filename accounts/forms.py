"""The forms for signing in to the admin, and for changing passwords there."""

from typing import Any

import structlog
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.forms import CharField, Form, Widget
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminTextInputWidget

from accounts.errors import TooManyAttempts
from accounts.models import SecondFactor
from accounts.services import lockout, second_factor
from accounts.types import Client
from admin_ui.theme import AdminAuthenticationForm, PasswordChangeForm
from common.errors import ServiceUnavailable
from server.client_ip import client_ip_of

log = structlog.get_logger(__name__)

MAX_ADDRESS = 254
# The bound limits the work of hashing it.
MAX_PASSWORD = 1024
# A recovery code has 19 characters; people type spaces.
MAX_CODE = 64


# One text for every cause.
_REFUSED = (
    "Please enter the correct address and password of an operator, and a new code if you have set "
    "up a second factor. Note that the password is case-sensitive."
)


def _code_input() -> Widget:
    """An input for a code, which a phone may fill in and no browser stores."""
    widget: Widget = UnfoldAdminTextInputWidget(
        attrs={"autocomplete": "one-time-code", "spellcheck": "false"}
    )
    return widget


class SecondFactorForm(Form):
    """A code, and the sealed secret of a new app, if one is set up (accounts/totp.py)."""

    code = CharField(max_length=MAX_CODE, widget=_code_input())
    sealed = CharField(max_length=1024, required=False)


class SignInForm(AdminAuthenticationForm):
    """Address and password of an operator, and a code where they have a second factor. Repeated
    failures are delayed, whether the account exists or not."""

    request: HttpRequest
    _refusal: ValidationError | None = None

    code = CharField(
        max_length=MAX_CODE,
        required=False,
        widget=_code_input(),
        help_text="From your authenticator app, or a recovery code. Leave it empty if you have not "
        "set up a second factor.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.error_messages = {**self.error_messages, "invalid_login": _REFUSED}
        _bound(self, username=MAX_ADDRESS, password=MAX_PASSWORD)

    def clean(self) -> dict[str, Any]:
        address = self.cleaned_data.get("username")
        if not address or not self.cleaned_data.get("password"):
            return self.cleaned_data
        client_ip = client_ip_of(self.request)
        try:
            client = Client(client_ip)
            lockout.verify(self._is_right, address=address, client=client, in_admin=True)
            # Wrong codes and wrong passwords are counted separately.
            if self._refusal is None and not self._has_shown_code():
                self._refusal = self.get_invalid_login_error()
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

    def _has_shown_code(self) -> bool:
        """Is the code valid, or does the operator have no second factor? Called after the password
        was right. Raises TooManyAttempts."""
        operator = self.get_user()
        if not SecondFactor.objects.filter(operator=operator).exists():
            return True
        code = self.cleaned_data.get("code", "")
        return bool(code) and second_factor.verify(operator=operator, code=code)


class OwnPasswordForm(PasswordChangeForm):
    """The old password and the new one, twice. The service validates them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _bound(self, **dict.fromkeys(self.fields, MAX_PASSWORD))

    def clean_old_password(self) -> str:
        return str(self.cleaned_data["old_password"])

    def validate_password_for_user(self, user: Any, password_field_name: str = "") -> None:
        """Left to the service."""


def _bound(form: Form, **lengths: int) -> None:
    for name, length in lengths.items():
        form.fields[name].validators.append(MaxLengthValidator(length))
