"""Providers in the operators' admin: how they are, and the switches."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from unfold.contrib.filters.admin import BooleanRadioFilter
from unfold.widgets import UnfoldAdminSelectWidget

from admin_ui.acts import Act, Acting
from admin_ui.pages import ReadOnly
from admin_ui.theme import action, display
from ai.catalog.selectors import get_catalog
from ai.provider_health import switches
from ai.provider_health.models import Provider
from ai.provider_health.selectors import open_models, view_of
from ai.provider_health.tables import tables_of
from ai.providers.registry import get_keys

_OFF = "Calls of {what} are refused at once (503), in all processes; those that run go on."
_WAIT = " Orders of pictures, videos and 3D models that wait go on waiting, to their deadline."


class SwitchOff(Act):
    title = "Switch this provider off"
    explanation = _OFF.format(what="all its models") + _WAIT
    dangerous = True
    record: Provider

    def carry_out(self) -> str:
        is_done = switches.switch_provider(name=self.record.pk, is_off=True)
        return "Switched off." if is_done else ""


class SwitchOn(Act):
    title = "Switch this provider on"
    explanation = "Models that were switched off by themselves stay off."
    record: Provider

    def carry_out(self) -> str:
        is_done = switches.switch_provider(name=self.record.pk, is_off=False)
        return "Switched on." if is_done else ""


class _SwitchModel(Act):
    """Switches one model of the provider."""

    fields_in_order = ("model", "reason")
    is_off: bool
    record: Provider

    model = forms.ChoiceField(widget=UnfoldAdminSelectWidget)

    def __init__(self, record: Provider, data: Any = None) -> None:
        super().__init__(record, data)
        known = {each.id for each in get_catalog().models.values() if each.provider == record.pk}
        # One that has left the catalog can still be switched on.
        choices = known - {*record.models_off} if self.is_off else record.models_off
        self.fields["model"].choices = [(each, each) for each in sorted(choices)]  # type: ignore[attr-defined]

    def carry_out(self) -> str:
        model = self.cleaned_data["model"]
        is_done = switches.switch_model(name=self.record.pk, model=model, is_off=self.is_off)
        return f"Switched {'off' if self.is_off else 'on'}: {model}." if is_done else ""


class SwitchModelOff(_SwitchModel):
    title = "Switch a model off"
    explanation = _OFF.format(what="this model at this provider") + _WAIT
    dangerous = True
    is_off = True


class SwitchModelOn(_SwitchModel):
    title = "Switch a model on"
    is_off = False


@admin.register(Provider)
class ProviderAdmin(ReadOnly, Acting):
    """Of a key only its place in the setting is shown."""

    list_display = ("name", "switch", "models_switched_off", "keys", "open_circuits")
    list_filter = (("is_off", BooleanRadioFilter),)
    search_fields = ("name",)
    ordering = ("name",)
    sortable_by = ()
    fields = ("name", "switch", "models_switched_off", "changed_at", "keys")
    actions_detail = ("switch_off", "switch_on", "switch_model_off", "switch_model_on")
    change_form_after_template = "health/provider.html"

    def may_act_on(self, request: HttpRequest, record: Any) -> bool:
        """A provider belongs to no account."""
        return self.has_act_permission(request)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: Any = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> Any:
        view = view_of(str(object_id))
        context = {"tables": None if view is None else tables_of(view), **(extra_context or {})}
        return super().changeform_view(request, object_id, form_url, context)

    @display(description="switch", label={"on": "success", "off": "danger"})
    def switch(self, provider: Provider) -> str:
        return "off" if provider.is_off else "on"

    @display(description="models switched off")
    def models_switched_off(self, provider: Provider) -> str:
        return ", ".join(provider.models_off) or "none"

    @display(description="keys")
    def keys(self, provider: Provider) -> str:
        return str(len(get_keys(provider.pk)))

    @display(description="open circuits")
    def open_circuits(self, provider: Provider) -> str:
        models = open_models(provider.pk)
        return "unknown: Redis is away" if models is None else ", ".join(models) or "none"

    @action(description="Switch off", icon="toggle_off", permissions=["act"])
    def switch_off(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, SwitchOff)

    @action(description="Switch on", icon="toggle_on", permissions=["act"])
    def switch_on(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, SwitchOn)

    @action(description="Switch a model off", icon="toggle_off", permissions=["act"])
    def switch_model_off(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, SwitchModelOff)

    @action(description="Switch a model on", icon="toggle_on", permissions=["act"])
    def switch_model_on(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, SwitchModelOn)
