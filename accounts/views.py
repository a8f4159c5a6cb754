"""The page of the admin where operators change their own passwords."""

from typing import Any

from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse_lazy

from accounts.forms import OwnPasswordForm
from accounts.services import passwords
from accounts.services.audit_log import record
from accounts.types import Client
from common.errors import DomainError
from server.client_ip import client_ip_of

# The service's names for the fields of the form.
_FIELDS = {"current_password": "old_password", "new_password": "new_password1"}


class OwnPasswordView(PasswordChangeView):
    """Like `/api/auth/change-password`: all other sessions end, and the user gets a mail."""

    form_class = OwnPasswordForm
    success_url = reverse_lazy("admin:password_change_done")

    def form_valid(self, form: Any) -> HttpResponse:
        try:
            user = passwords.change_password_in_admin(
                user=form.user,
                current_password=form.cleaned_data["old_password"],
                new_password=form.cleaned_data["new_password1"],
                client=Client(client_ip_of(self.request)),
            )
        except DomainError as error:
            for field, problem in _problems(error):
                form.add_error(field, problem)
            return self.form_invalid(form)
        update_session_auth_hash(self.request, user)
        record(user, "Changed their password.")
        return HttpResponseRedirect(self.get_success_url())


def _problems(error: DomainError) -> list[tuple[str, str]]:
    """The problems of each field. The page shows no others."""
    problems = error.extra.get("errors", [{"loc": ["current_password"], "msg": error.text}])
    return [(_FIELDS[problem["loc"][0]], problem["msg"]) for problem in problems]
