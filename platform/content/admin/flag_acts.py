"""What operators can do to a flag. Each act is in the flag's history, with its reason."""

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from admin_ui.acts import Act
from content.models import FlagOverride, FlagRecord
from content.services import flags

_VALUES = {"on": True, "off": False, "": None}
_SOON = "Every process knows it within seconds."


class FlagAct(Act):
    """Sets a flag to a value, or removes what is set."""

    fields_in_order = ("plan", "user", "value", "reason")
    record: FlagRecord

    value = forms.ChoiceField(
        choices=[("", "Not set"), ("on", "On"), ("off", "Off")],
        required=False,
        widget=UnfoldAdminSelectWidget,
    )

    def set(self, is_on: bool | None) -> tuple[bool, str]:
        """Set it. Did that change anything; and whom was it for?"""
        raise NotImplementedError

    def carry_out(self) -> str:
        is_on = _VALUES[self.cleaned_data["value"]]
        changed, whom = self.set(is_on)
        if not changed:
            return ""
        if is_on is None:
            return f"Not set any more for {whom}."
        return f"Switched {'on' if is_on else 'off'} for {whom}."


class SetForEveryone(FlagAct):
    title = "Set for everyone"
    explanation = f"What is set for users, plans and a share of users counts before this. {_SOON}"

    def set(self, is_on: bool | None) -> tuple[bool, str]:
        return flags.set_for_everyone(flag=self.record, is_on=is_on), "everyone"


class SetForPlan(FlagAct):
    title = "Set for a plan"
    explanation = f"Only what is set for a user counts before this. {_SOON}"

    plan: forms.ModelChoiceField[Any] = forms.ModelChoiceField(
        queryset=None, widget=UnfoldAdminSelectWidget
    )

    def __init__(self, record: FlagRecord, data: Any = None) -> None:
        super().__init__(record, data)
        plans: Any = FlagOverride._meta.get_field("plan").related_model
        self.fields["plan"].queryset = plans.objects.all()  # type: ignore[attr-defined]

    def set(self, is_on: bool | None) -> tuple[bool, str]:
        plan = self.cleaned_data["plan"].pk
        changed = flags.set_for_plan(flag=self.record, plan=plan, is_on=is_on)
        return changed, f"the plan {plan}"


class SetForUser(FlagAct):
    title = "Set for a user"
    explanation = f"Nothing counts before this. {_SOON}"

    user = forms.CharField(
        max_length=254,
        widget=UnfoldAdminTextInputWidget,
        help_text="The address or the id of an account.",
    )

    def set(self, is_on: bool | None) -> tuple[bool, str]:
        account = flags.find_account(self.cleaned_data["user"])
        changed = flags.set_for_user(flag=self.record, user_id=account.pk, is_on=is_on)
        return changed, str(account)


class SetShare(Act):
    title = "Switch on for a share of users"
    explanation = (
        "The same users stay in the share: more join when it is raised, and the last ones leave "
        f"when it is lowered. What is set for a user or a plan counts before this. {_SOON}"
    )
    fields_in_order = ("percent", "reason")
    record: FlagRecord

    percent = forms.IntegerField(
        min_value=0,
        max_value=100,
        required=False,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Percent of all users. Empty: no share.",
    )

    def carry_out(self) -> str:
        percent = self.cleaned_data["percent"]
        if not flags.set_share(flag=self.record, percent=percent):
            return ""
        if percent is None:
            return "Not set any more for a share of users."
        return f"Switched on for {percent} % of users."
