"""Operators' actions on a record, each on a page of its own, with a reason for the audit log."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.contrib.auth import get_permission_codename
from django.core.exceptions import PermissionDenied
from django.db import OperationalError, transaction
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from unfold.widgets import UnfoldAdminTextInputWidget

from admin_ui.pages import Page
from admin_ui.ranks import may_act_for
from common.errors import DomainError, ServiceUnavailable


class Act(forms.Form):
    """An action on `record`. A GET changes nothing."""

    title: ClassVar[str]
    # What the action does, for the operator to read first.
    explanation: ClassVar[str] = ""
    dangerous: ClassVar[bool] = False
    fields_in_order: ClassVar[Sequence[str]] = ()

    reason = forms.CharField(
        max_length=200,
        widget=UnfoldAdminTextInputWidget,
        help_text="Goes into the audit log.",
    )

    def __init__(self, record: Any, data: Any = None) -> None:
        self.record = record
        super().__init__(data, field_order=self.fields_in_order)

    def carry_out(self) -> str:
        """Carry out the action, in the caller's transaction. Returns a sentence for the operator,
        empty where an earlier request carried it out. Raises DomainError, which the page shows."""
        raise NotImplementedError


class Acting(Page):
    """A page of records with actions. Operators with the permission to change such records may act
    on them, even where the fields cannot be edited."""

    def has_act_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        codename = get_permission_codename("change", self.opts)
        return bool(request.user.has_perm(f"{self.opts.app_label}.{codename}"))

    def account_of(self, record: Any) -> Any:
        """The account that actions on this record affect."""
        return record.account

    def may_act_on(self, request: HttpRequest, record: Any) -> bool:
        """May this operator act on this record?"""
        permitted = self.has_act_permission(request)
        return permitted and may_act_for(request.user, self.account_of(record))

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """None where this operator may not act on this record."""
        record = self.get_object(request, str(object_id))
        if record is None or not self.may_act_on(request, record):
            return []
        return super().get_actions_detail(request, object_id)

    def act(
        self, request: HttpRequest, object_id: str, kind: Callable[[Any, Any], Act]
    ) -> HttpResponse:
        """The page of an action (GET), or the action itself (POST). `kind` is given the record and
        the form that was sent.

        Raises Http404 and PermissionDenied.
        """
        record = self.get_object(request, unquote(object_id))
        if record is None:
            raise Http404
        if not self.may_act_on(request, record):
            raise PermissionDenied
        act = kind(record, request.POST if request.method == "POST" else None)
        if act.is_valid() and self._carried_out(request, record, act):
            return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", record.pk)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": record,
            "title": act.title,
            "act": act,
        }
        return TemplateResponse(request, "admin_ui/act.html", context)

    def _carried_out(self, request: HttpRequest, record: Model, act: Act) -> bool:
        """Carry out the action and write the audit log, both or neither."""
        try:
            with transaction.atomic():
                if done := act.carry_out():
                    reason = act.cleaned_data["reason"]
                    self.log_change(request, record, f"{done} Reason: {reason}")
        except DomainError as error:
            act.add_error(None, error.text)
            return False
        except OperationalError:  # the account is locked for longer than we wait
            act.add_error(None, ServiceUnavailable.message)
            return False
        messages.success(request, done or "This had been done before; nothing changed.")
        return True
