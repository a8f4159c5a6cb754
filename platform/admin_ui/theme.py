"""The theme of the admin (django-unfold), which has no types: the type checker takes its classes
for the Django classes that they extend."""

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib import admin
    from django.contrib.admin import FieldListFilter as RangeDateFilter
    from django.contrib.admin import SimpleListFilter as DropdownFilter
    from django.contrib.admin import TabularInline
    from django.contrib.admin.forms import AdminAuthenticationForm
    from django.contrib.admin.views.main import ChangeList
    from django.contrib.auth.forms import PasswordChangeForm
    from django.db.models import Model
    from django.http import HttpRequest, HttpResponse

    F = TypeVar("F")
    M = TypeVar("M", bound=Model)

    class AdminSite(admin.AdminSite):
        def search(
            self, request: HttpRequest, extra_context: dict[str, Any] | None = None
        ) -> HttpResponse: ...

    class ModelAdmin(admin.ModelAdmin[M]):
        def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]: ...

    def action(**options: Any) -> Callable[[F], F]: ...
    def display(**options: Any) -> Callable[[F], F]: ...
else:
    from unfold.admin import ModelAdmin, TabularInline
    from unfold.contrib.filters.admin import DropdownFilter, RangeDateFilter
    from unfold.decorators import action, display
    from unfold.forms import AdminOwnPasswordChangeForm as PasswordChangeForm
    from unfold.forms import AuthenticationForm as AdminAuthenticationForm
    from unfold.sites import UnfoldAdminSite as AdminSite
    from unfold.views import ChangeList

__all__ = [
    "AdminAuthenticationForm",
    "AdminSite",
    "ChangeList",
    "DropdownFilter",
    "ModelAdmin",
    "PasswordChangeForm",
    "RangeDateFilter",
    "TabularInline",
    "action",
    "display",
]
