"""Operators for tests, signed in to the admin, and what they fill in there."""

from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.db.models import Model
from django.test import Client

from accounts.models import User
from common.ids import uuid7
from tests.personas import new_user


@dataclass
class Operator:
    user: User
    client: Client

    def get(self, path: str) -> str:
        """The page under `/admin/`."""
        response = self.client.get(f"/admin/{path}")
        assert response.status_code == 200, response.status_code
        return response.content.decode()

    def post(self, path: str, **values: Any) -> Any:
        """The answer to a form that is sent to `/admin/...`."""
        return self.client.post(f"/admin/{path}", values)

    def is_allowed(self, path: str) -> bool:
        """May the page be opened?"""
        status = self.client.get(f"/admin/{path}").status_code
        assert status in (200, 403)
        return status == 200


def new_operator(*permissions: str) -> Operator:
    """Staff with permissions like `billing.change_wallet`, given by a group; none: a superuser."""
    user = new_user("operator")
    user.is_staff, user.is_superuser = True, not permissions
    user.save()
    if permissions:
        group = Group.objects.create(name=uuid7().hex)
        for permission in permissions:
            app, codename = permission.split(".")
            group.permissions.add(
                Permission.objects.get(content_type__app_label=app, codename=codename)
            )
        user.groups.add(group)
    client = Client()
    client.force_login(user)
    return Operator(user, client)


def audit_of(record: Model) -> list[str]:
    """What the audit log says about a record, the newest first."""
    entries = LogEntry.objects.filter(object_id=str(record.pk)).order_by("-pk")
    return [entry.get_change_message() for entry in entries]
