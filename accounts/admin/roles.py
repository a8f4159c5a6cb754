"""The roles of operators: Django's groups, which only superusers create and assign."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin
from django.contrib.auth.models import Group
from django.http import HttpRequest

from admin_ui.pages import Page

admin.site.unregister(Group)


@admin.register(Group)
class RoleAdmin(Page, GroupAdmin):
    def _is_for(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_superuser

    has_module_permission = has_view_permission = has_add_permission = _is_for
    has_change_permission = has_delete_permission = _is_for
