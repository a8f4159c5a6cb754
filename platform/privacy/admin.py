"""The deletion of accounts' data in the operators' admin, on the page of the account."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from unfold.widgets import UnfoldAdminTextInputWidget

from accounts.admin.users import UserAdmin
from accounts.models import User
from admin_ui.acts import Act
from admin_ui.pages import OfAnAccount, ReadOnly
from admin_ui.theme import action
from privacy.models import Deletion
from privacy.services import deletions

_PERMISSION = "userdata.add_deletion"


class DeleteData(Act):
    title = "Delete this account's data"
    explanation = (
        "The account is closed at once and for good. What runs is cancelled and billed as usual; "
        "then conversations, councils, runs, studio jobs, files and all that tells who it was are "
        "deleted. The books stay without a name. Nobody can undo this. The address can sign up "
        "again when it is done."
    )
    dangerous = True
    record: User

    address = forms.CharField(
        label="Address of the account",
        max_length=254,
        widget=UnfoldAdminTextInputWidget,
        help_text="Type it to confirm that this is the account.",
    )
    fields_in_order = ("address", "reason")

    def clean_address(self) -> str:
        address: str = self.cleaned_data["address"]
        if address.strip().lower() != self.record.email:
            raise forms.ValidationError("This is not the address of this account.")
        return address

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"]
        if self.record.email in reason.lower():
            raise forms.ValidationError("Do not name the address: the audit log keeps the reason.")
        return reason

    def carry_out(self) -> str:
        return "Deletion of the data requested." if deletions.request(user=self.record) else ""


admin.site.unregister(User)


@admin.register(User)
class AccountAdmin(UserAdmin):
    """The page of an account, with the deletion of its data."""

    actions_detail = (*UserAdmin.actions_detail, "delete_data")  # type: ignore[assignment]

    def has_erase_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return bool(request.user.has_perm(_PERMISSION))

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        user = self.get_object(request, str(object_id))
        acts = super().get_actions_detail(request, object_id)
        if user is None or user.status != User.Status.DELETED:
            return acts
        ended = {f"accounts_user_{name}" for name in ("delete_data", "reactivate", "suspend")}
        return [act for act in acts if act.action_name not in ended]

    @action(description="Delete data", icon="delete_forever", permissions=["erase"])
    def delete_data(self, request: HttpRequest, object_id: str) -> HttpResponse:
        if not self.has_erase_permission(request):
            raise PermissionDenied
        return self.act(request, object_id, DeleteData)


@admin.register(Deletion)
class DeletionAdmin(ReadOnly, OfAnAccount):
    """Requested deletions. They end within minutes, once nothing of the account runs."""

    list_display = ("requested_at", "account", "waits_for", "ended_at")
    list_filter = (("ended_at", admin.EmptyFieldListFilter),)
    ordering = ("-requested_at",)
    fields = ("account", "requested_at", "waits_for", "ended_at")
