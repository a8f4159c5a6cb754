"""What can be written behind the question mark of an operators' page, and into its forms."""

import re
from html import unescape
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.contrib.contenttypes.models import ContentType
from django.core.cache import cache
from django.db.models import Model
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.ids import uuid7
from conftest import Persona
from tests.operators import Operator, new_operator

MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
LOOKUPS = (
    *("", "__exact", "__in", "__gte", "__range", "__isnull", "__isempty", "__year", "__date"),
    *("__startswith", "__regex", "__contains", "__id__exact", "__pk", "__email"),
    *("_from", "_to", "__password__regex"),
)
CONTROLS = ("q", "o", "p", "all", "e", "days", "kind", "_popup", "_to_field", "_changelist_filters")
VALUES = (
    *("", "\0", "x\0", "(", "(a+)+$", "%", "'\"\\", "\ufffd", "1,x,", "x" * 5000),
    *("-1", "0", "1", "abc", "NaN", "True", "id", "password", "-1.-2.x", "2026-13-45"),
    *("999999-01-01", "0000-00-00", "9" * 12, "9" * 30, "-" + "9" * 400),
)
STRANGE = ("q=%27%22%25_", "p=-1", "p=x", "p=999999", "o=9.x", "days=x", "x=1", "e=1")
AUTOCOMPLETE = (
    "/admin/autocomplete/?app_label=billing&model_name=contractallowance&field_name=account"
)


@pytest.fixture
def operator(db: None) -> Operator:
    cache.clear()
    return new_operator()


def list_of(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def status(operator: Operator, address: str) -> int:
    return int(operator.client.get(address).status_code)


@st.composite
def addresses(draw: st.DrawFn) -> str:
    """A list with up to three parameters, most of which mean something to it."""
    model = draw(st.sampled_from(MODELS))
    fields = st.sampled_from([field.name for field in model._meta.get_fields()])
    lookups = st.builds(str.__add__, fields, st.sampled_from(LOOKUPS))
    names = st.one_of(st.sampled_from(CONTROLS), lookups)
    values = st.one_of(st.sampled_from(VALUES), st.text(max_size=20))
    pairs = draw(st.lists(st.tuples(names, values), min_size=1, max_size=3))
    return f"{list_of(model)}?{urlencode(pairs, errors='replace')}"


def test_no_page_can_be_made_to_fail_by_its_address(operator: Operator) -> None:
    for model in admin.site._registry:
        path = list_of(model)
        for query in STRANGE:
            status = operator.client.get(f"{path}?{query}").status_code
            assert status in (200, 302, 400), query
        for row in ("x", "0", "%00", "99999999999999999999", str(uuid7())):
            assert operator.client.get(f"{path}{row}/change/").status_code in (302, 404), row
    assert operator.client.get("/admin/search/?s=user").status_code == 200
    for page in ("x", "0", "99"):
        assert operator.client.get(f"/admin/search/?s=user&page={page}").status_code == 404


@given(address=addresses())
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_list_can_be_made_to_fail_by_its_address(operator: Operator, address: str) -> None:
    assert status(operator, address) in (200, 302, 400)


@pytest.mark.parametrize(
    "query",
    [
        "password__startswith=argon2",
        "password__regex=%5Eargon2",
        "password=x",
        "token_version=1",
        "is_superuser=1",
        "email=alice%40example.com",
        "last_login__year=999999999999",
        "status__regex=a",
        "status=active",
        "api_keys__digest__startswith=a",
        "groups__user__password__startswith=a",
    ],
)
def test_a_list_of_accounts_is_narrowed_by_no_field_but_its_filters(
    alice: Persona, query: str
) -> None:
    viewer = new_operator("accounts.view_user")
    assert alice.user.email in viewer.get("accounts/user/")
    assert status(viewer, f"/admin/accounts/user/?{query}") in (302, 400)


def test_a_list_of_keys_is_not_narrowed_by_their_digests(operator: Operator) -> None:
    for query in ("digest=abc", "digest__startswith=a", "hint=a"):
        assert status(operator, f"/admin/accounts/apikey/?{query}") == 400


def test_every_filter_that_a_list_offers_is_taken(operator: Operator) -> None:
    for model in MODELS:
        page = operator.client.get(list_of(model)).content.decode()
        [form] = re.findall(r'<form[^>]* id="filter-form".*?</form>', page, re.DOTALL) or [""]
        named = set(re.findall(r'name="([^"]+)"', form))
        links = {unescape(link) for link in re.findall(r'href="(\?[^"]+)"', page)}
        asked = {f"?{name}=1" for name in named} | links
        assert asked or not admin.site._registry[model].list_filter, model
        for query in asked:
            assert status(operator, list_of(model) + query) in (200, 302), query


def test_a_nul_character_and_an_endless_address_are_refused_everywhere(operator: Operator) -> None:
    pages = [*map(list_of, MODELS), "/admin/", "/admin/search/", AUTOCOMPLETE]
    for page in pages:
        sign = "&" if "?" in page else "?"
        for query in ("q=%00", "s=%00", "term=a%00", "q=" + "x" * 5000):
            assert status(operator, f"{page}{sign}{query}") == 400, page
    form = {"action": "delete_selected", "_selected_action": "\0"}
    assert operator.client.post("/admin/catalog/retiredmodel/", form).status_code == 400


def test_an_id_that_is_none_is_refused_or_left_out(operator: Operator) -> None:
    for model in MODELS:
        form = {"action": "delete_selected", "_selected_action": "x", "index": "0"}
        assert operator.client.post(list_of(model), form).status_code in (200, 302, 400), model
    for account in ("x", str(uuid7())):
        form = {"account": account, "model": "x", "granted": "1"}
        answer = operator.client.post("/admin/billing/contractallowance/add/", form)
        assert answer.status_code == (400 if account == "x" else 200)
    for query in ("account=x", f"account={uuid7()}", "account=", "model=x", "granted=x"):
        operator.get(f"billing/contractallowance/add/?{query}")
    operator.get("catalog/priceversion/add/?model=x&valid_from=x")
    latest = "9999-12-31T23:59:59.999999-14:00"
    operator.get(f"catalog/priceversion/add/?valid_from={latest}")
    kind = ContentType.objects.get_by_natural_key("accounts", "user").pk
    assert status(operator, f"/admin/r/{kind}/x/") == 404
