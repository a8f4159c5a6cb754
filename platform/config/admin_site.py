"""The operators' site: access, and the first page."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.core.exceptions import BadRequest
from django.core.paginator import InvalidPage
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import path

from accounts.forms import SignInForm
from accounts.second_factor_views import (
    SecondFactorView,
    remember_second_factor,
    second_factor_redirect,
)
from accounts.views import OwnPasswordView
from admin_ui.theme import AdminSite
from billing.dashboard import dashboard
from billing.finding import FindForm, find_page, may_find

MAX_QUERY = 4_000  # characters; more than any form of the admin writes into an address


class OperatorSite(AdminSite):
    """The theme's site with our sign-in."""

    login_form = SignInForm
    login_template = "accounts/sign_in.html"
    index_template = "billing/dashboard.html"
    index_title = "Dashboard"

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response = super().login(request, extra_context)
        if request.method == "POST" and response.status_code == HTTPStatus.FOUND:
            remember_second_factor(request)
        return response

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """The search for charges and the dashboard, for operators who may see them; for others the
        list of pages."""
        context = extra_context or {}
        if may_find(request.user):
            context = {**context, "form": FindForm()}
        if request.user.has_perm("billing.view_ledgerentry"):
            context = {**context, "dashboard": dashboard()}
        return super().index(request, context)

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        """Wraps every page behind the sign-in: refuses values that PostgreSQL cannot store, and
        redirects operators without a second factor to its setup."""

        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            _refuse_unreadable(request)
            elsewhere = None if view == self.logout else second_factor_redirect(request)
            return elsewhere or view(request, *args, **kwargs)

        return super().admin_view(guarded, cacheable)

    def get_urls(self) -> list[Any]:
        """The routes, without "view on site", which no record has."""
        urls = [url for url in super().get_urls() if getattr(url, "name", None) != "view_on_site"]
        page = self.admin_view(self.second_factor)
        return [
            path("second-factor/", page, name="second_factor"),
            path("find/", self.admin_view(self.find), name="find"),
            *urls,
        ]

    def find(self, request: HttpRequest) -> HttpResponse:
        return find_page(request, self.each_context(request))

    def second_factor(self, request: HttpRequest) -> HttpResponseBase:
        return SecondFactorView.as_view(extra_context=self.each_context(request))(request)

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        context = {**self.each_context(request), **(extra_context or {})}
        return OwnPasswordView.as_view(extra_context=context)(request)

    def search(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Raises Http404 for a page that does not exist."""
        try:
            return super().search(request, extra_context)
        except (ValueError, InvalidPage):
            raise Http404 from None


def _refuse_unreadable(request: HttpRequest) -> None:
    if len(request.META.get("QUERY_STRING", "")) > MAX_QUERY:
        raise BadRequest("The address is too long.")
    for values in (request.GET, request.POST):
        if any("\0" in value for _, several in values.lists() for value in several):
            raise BadRequest("What was sent contains a NUL character.")
