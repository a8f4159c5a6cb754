"""The operators' site: who gets in, and what they see first."""

from typing import Any

from django.core.paginator import InvalidPage
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from accounts.forms import SignInForm
from accounts.views import OwnPasswordView
from billing.dashboard import dashboard
from common.backoffice.theme import AdminSite


class OperatorSite(AdminSite):
    """The theme's site with our way in."""

    login_form = SignInForm
    index_template = "billing/dashboard.html"
    index_title = "Dashboard"

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """The dashboard, for those who may see the ledger; for others the list of pages."""
        context = extra_context or {}
        if request.user.has_perm("billing.view_ledgerentry"):
            context = {**context, "dashboard": dashboard()}
        return super().index(request, context)

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        context = {**self.each_context(request), **(extra_context or {})}
        return OwnPasswordView.as_view(extra_context=context)(request)

    def search(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Raises Http404 for a page that there is not."""
        try:
            return super().search(request, extra_context)
        except (ValueError, InvalidPage):
            raise Http404 from None
