"""Finding a charge by whatever a customer gives: the id of a request, a charge or a refund, an
idempotency key, or the last characters of a key."""

import re
from collections.abc import Iterator
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.dataclasses import SearchResult
from unfold.widgets import UnfoldAdminTextInputWidget

from accounts.keys import PREFIX
from accounts.models import ApiKey, User
from admin_ui.ranks import may_view
from admin_ui.related import find_related
from admin_ui.tables import Table, link
from billing.models import Charge, IdempotencyKey, LedgerEntry, Refund
from common.ids import as_uuid
from common.money import usd_text

# Charges of one request, keys of one hint.
MAX_FOUND = 50
# The newest charges of an account, among which those of one of its keys are looked for.
LOOKED_THROUGH = 10_000
MAX_TERM = 255
_HINT = re.compile(r"(?:mk_)?(?:\.\.\.|…)?([0-9A-Za-z]{4})", re.ASCII)


class FindForm(forms.Form):
    """The search on the first page."""

    q = forms.CharField(
        label="Find a charge",
        max_length=MAX_TERM,
        widget=UnfoldAdminTextInputWidget(
            attrs={
                "type": "search",
                "placeholder": "x-request-id, charge, refund, idempotency key, end of a key",
            }
        ),
    )


def may_find(operator: Any) -> bool:
    """May this operator use the search?"""
    return may_view(operator, "billing.charge")


def find_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """The page of results. Raises PermissionDenied."""
    if not may_find(request.user):
        raise PermissionDenied
    form = FindForm(request.GET or None)
    term = form.cleaned_data["q"] if form.is_valid() else ""
    shown = {**context, "title": "Find a charge", "form": form}
    if is_whole_key(term):
        form.add_error("q", "This is a whole key. Ask for its last four characters only.")
    elif term:
        shown["found"] = results(term, request.user)
    return TemplateResponse(request, "billing/find.html", shown)


def is_whole_key(term: str) -> bool:
    """Does the text contain a secret?"""
    return term.startswith(PREFIX) and _HINT.fullmatch(term) is None


def results(term: str, operator: Any) -> Table:
    """All that the text may mean, for operators who may see it."""
    rows = [*_charges(charges_of(term), operator), *_others(term, operator)]
    return Table("Found", ("what", "", "account", "when (UTC)", "what became of it"), rows)


def command_results(request: HttpRequest, _term: str) -> list[SearchResult]:
    """The charges for the command search, which gives the text in small letters."""
    term = request.GET.get("s", "").strip()
    if not may_find(request.user) or not term or len(term) > MAX_TERM or is_whole_key(term):
        return []
    return [
        SearchResult(
            title=f"Charge {charge.pk}",
            description=f"{charge.account}, {charge.model_id}, {charge.status}",
            link=reverse("admin:billing_charge_change", args=(charge.pk,)),
            icon="bolt",
        )
        for charge in charges_of(term)
    ]


def charges_of(term: str) -> list[Charge]:
    """The charges that the text names, the newest first: each search uses an index."""
    # An idempotency key is kept for a day.
    of_key = IdempotencyKey.objects.filter(key=term).order_by("-created_at")
    ids = set(of_key.values_list("charge_id", flat=True)[:MAX_FOUND])
    if wanted := as_uuid(term):
        ids |= {wanted, *Refund.objects.filter(pk=wanted).values_list("charge_id", flat=True)}
    charges = Charge.objects.select_related("account")
    found = {charge.pk: charge for charge in charges.filter(pk__in=ids)}
    of_request = charges.filter(request_id=term).order_by("-pk")[:MAX_FOUND]
    found |= {charge.pk: charge for charge in of_request}
    if not found and (hint := _HINT.fullmatch(term)):
        found |= {charge.pk: charge for key in _keys(hint[1]) for charge in _charges_of_key(key)}
    return sorted(found.values(), key=lambda charge: charge.pk, reverse=True)[:MAX_FOUND]


def _keys(hint: str) -> list[ApiKey]:
    return list(ApiKey.objects.filter(hint=hint).select_related("account")[:MAX_FOUND])


def _charges_of_key(key: ApiKey) -> list[Charge]:
    """Its newest charges, among the newest of its account."""
    newest = Charge.objects.filter(account_id=key.account_id).order_by("-pk")
    oldest = newest.values_list("pk", flat=True)[LOOKED_THROUGH - 1 : LOOKED_THROUGH].first()
    if oldest is not None:
        newest = newest.filter(pk__gte=oldest)
    return list(newest.filter(api_key_id=key.pk).select_related("account")[:MAX_FOUND])


def _charges(charges: list[Charge], operator: Any) -> Iterator[tuple[Any, ...]]:
    for charge in charges:
        billed = usd_text(charge.charge_plan + charge.charge_balance)
        failed = f", {charge.failure['code']}" if charge.failure else ""
        yield (
            "charge",
            link(operator, "billing.charge", charge.pk),
            link(operator, "accounts.user", charge.account_id, charge.account),
            f"{charge.admitted_at:%Y-%m-%d %H:%M:%S}",
            f"{charge.model_id}: {charge.status}{failed}, billed {billed}",
        )


def _others(term: str, operator: Any) -> Iterator[tuple[Any, ...]]:
    """Keys of that hint, and records of that id, whether or not they have a charge."""
    if (hint := _HINT.fullmatch(term)) and may_view(operator, "accounts.apikey"):
        for key in _keys(hint[1]):
            owner = link(operator, "accounts.user", key.account_id, key.account)
            state = "revoked" if key.revoked_at else "active"
            yield ("key", link(operator, "accounts.apikey", key.pk, key), owner, "", state)
    if wanted := as_uuid(term):
        for user in User.objects.filter(pk=wanted):
            yield ("account", link(operator, "accounts.user", user.pk, user), "", "", user.status)
        for entry in LedgerEntry.objects.filter(pk=wanted).exclude(kind="charge"):
            delta = usd_text(entry.delta)
            shown = link(operator, "billing.ledgerentry", entry.pk)
            yield ("ledger entry", shown, "", f"{entry.created_at:%Y-%m-%d %H:%M:%S}", delta)
        for related in find_related(wanted):
            yield (related.what, link(operator, related.model, related.key), "", "", related.state)
