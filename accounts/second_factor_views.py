"""The page of the admin where operators set up and replace their second factor."""

from typing import Any, ClassVar, cast

import segno
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.generic import View

from accounts import totp
from accounts.forms import SecondFactorForm
from accounts.models import SecondFactor, User
from accounts.services import second_factor
from accounts.services.audit_log import record
from common.encryption import Unreadable
from common.errors import DomainError

# Set in the session after a sign-in with a code.
_SHOWN = "second_factor_shown"


def remember_second_factor(request: HttpRequest) -> None:
    """Record in the session whether the sign-in took a code."""
    request.session[_SHOWN] = SecondFactor.objects.filter(operator_id=request.user.pk).exists()


def second_factor_redirect(request: HttpRequest) -> HttpResponseRedirect | None:
    """A redirect to the page that an operator has to visit before the requested one, or None."""
    if request.session.get(_SHOWN):
        return None
    if SecondFactor.objects.filter(operator_id=request.user.pk).exists():
        # The second factor was set up during this visit, which began without a code.
        request.session.flush()
        return redirect_to_login(request.get_full_path(), reverse("admin:login"))
    page = reverse("admin:second_factor")
    is_needed = settings.OPERATORS_NEED_SECOND_FACTOR and request.path != page
    return redirect(page) if is_needed else None


class SecondFactorView(View):
    """An operator without a second factor gets a new secret as a QR code, and a form for the first
    code. Others can get new recovery codes or remove their app, each with a code."""

    extra_context: ClassVar[dict[str, Any]] = {}

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(SecondFactorForm())

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """Raises BadRequest for an unknown act."""
        acts = {"set_up": self._set_up, "renew": self._renew, "remove": self._remove}
        act = acts.get(request.POST.get("act", ""))
        if act is None:
            raise BadRequest("Send an act: set_up, renew or remove.")
        form = SecondFactorForm(request.POST)
        if form.is_valid():
            try:
                return act(form)
            except DomainError as error:
                form.add_error("code", error.text)
        return self._page(form)

    def _set_up(self, form: SecondFactorForm) -> HttpResponseBase:
        codes = second_factor.enrol(operator=self._operator, **form.cleaned_data)
        self._keep_visit()
        self.request.session[_SHOWN] = True
        record(self._operator, "Set up a second factor.")
        return self._page(SecondFactorForm(), codes)

    def _renew(self, form: SecondFactorForm) -> HttpResponseBase:
        codes = second_factor.renew_recovery_codes(
            operator=self._operator, code=form.cleaned_data["code"]
        )
        record(self._operator, "Made new recovery codes.")
        return self._page(SecondFactorForm(), codes)

    def _remove(self, form: SecondFactorForm) -> HttpResponseBase:
        second_factor.remove(operator=self._operator, code=form.cleaned_data["code"])
        self._keep_visit()
        self.request.session.pop(_SHOWN, None)
        record(self._operator, "Removed their second factor.")
        messages.success(self.request, "Removed. You can set up another app now.")
        return redirect("admin:second_factor")

    @property
    def _operator(self) -> User:
        return cast(User, self.request.user)

    def _keep_visit(self) -> None:
        """Keep this visit signed in: all other sessions of the operator were just ended."""
        update_session_auth_hash(self.request, self._operator)

    def _page(self, form: SecondFactorForm, codes: list[str] | None = None) -> HttpResponse:
        factor = SecondFactor.objects.filter(operator=self._operator).first()
        context = {
            "title": "Second factor",
            "form": form,
            "factor": factor,
            "codes": codes,
            "is_required": settings.OPERATORS_NEED_SECOND_FACTOR,
            **({} if factor else self._enrolment(form)),
            **self.extra_context,
        }
        return TemplateResponse(self.request, "accounts/second_factor.html", context)

    def _enrolment(self, form: SecondFactorForm) -> dict[str, Any]:
        """The secret to set up, with its QR code; after a wrong code, the secret of the form
        again."""
        try:
            secret = totp.unseal(
                form.data.get("sealed", ""),
                self._operator.pk,
                within=second_factor.ENROLMENT_TIME,
            )
        except Unreadable:
            secret = totp.new_secret()
        uri = totp.provisioning_uri(secret, self._operator.email)
        picture = segno.make(uri, micro=False).svg_inline(scale=5, border=4, light="white")
        return {
            "sealed": totp.seal(secret, self._operator.pk),
            "secret": totp.written(secret),
            "picture": mark_safe(picture),  # noqa: S308 - made of squares
        }
