"""The operator's admin: models are edited, prices added, and withdrawn before they count."""

import html
import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from ai.catalog.models import AIModel, PriceVersion

PRICES = "/admin/catalog/priceversion/"
TOKENS = {"input": "1", "output": "2", "token_fee": "3"}
PICTURES = {"image_low": "1", "image_standard": "2", "image_high": "3", "image_fee": "4"}
SPEECH = {"speech_hour": "0.27", "speech_fee": "100"}
FILM = {"unit_rates": "720p 0.12", "unit_fee": "0.01"}
LATER = {"valid_from_0": "2030-01-01", "valid_from_1": "00:00:00"}


@pytest.fixture
def operator(db: None) -> Client:
    user = get_user_model().objects.create_superuser("operator@example.com", "a password")
    client = Client()
    client.force_login(user)
    return client


def add(operator: Client, **values: str) -> str:
    """What the form says to a price of gpt-6-luna; empty where it was added."""
    before = PriceVersion.objects.count()
    response = operator.post(PRICES + "add/", {"model": "gpt-6-luna", **LATER, **values})
    if response.status_code == 302:
        assert PriceVersion.objects.count() == before + 1
        return ""
    assert response.status_code == 200
    assert PriceVersion.objects.count() == before
    return response.content.decode()


def on(moment: datetime) -> dict[str, str]:
    return {"valid_from_0": f"{moment:%Y-%m-%d}", "valid_from_1": f"{moment:%H:%M:%S}"}


def new_price(moment: datetime, **rates: Any) -> PriceVersion:
    rates = rates or {"input": 1, "output": 2, "token_fee": 3}
    return PriceVersion.objects.create(model_id="gpt-6-luna", valid_from=moment, **rates)


def test_a_price_is_typed_in_dollars_to_the_last_digit(operator: Client) -> None:
    assert add(operator, input="0.000001", output="10000", token_fee="1.25") == ""
    price = PriceVersion.objects.get(model="gpt-6-luna", valid_from__year=2030)
    assert (price.input, price.output, price.token_fee) == (1, 10_000_000_000, 1_250_000)

    assert price.cached_input is None

    rates = {**PICTURES, "image_low": "0.000000001", "image_high": "100"}
    assert add(operator, model="gpt-image-2.5-flare", **rates) == ""
    price = PriceVersion.objects.get(model="gpt-image-2.5-flare", valid_from__year=2030)
    assert (price.image_low, price.image_high) == (1, 100_000_000_000)

    assert add(operator, model="nova-3", **SPEECH) == ""
    price = PriceVersion.objects.get(model="nova-3", valid_from__year=2030)
    assert (price.speech_hour, price.speech_fee) == (270_000_000, 100_000_000_000)

    stages = "preview 0.000000001\r\n\trefine  100\r\nimage 0.6\r\n"
    assert add(operator, model="meshy-6", unit_rates=stages, unit_fee="0.02") == ""
    price = PriceVersion.objects.get(model="meshy-6", valid_from__year=2030)
    assert price.unit_rates == {"preview": 1, "refine": 10**11, "image": 600_000_000}
    assert price.unit_fee == 20_000_000


@pytest.mark.parametrize(("cached", "kept"), [("0.044", 44_000), ("1", 1_000_000), ("0", 0)])
def test_cached_input_may_have_a_price_of_its_own(operator: Client, cached: str, kept: int) -> None:
    assert add(operator, **TOKENS, cached_input=cached) == ""
    price = PriceVersion.objects.get(model="gpt-6-luna", valid_from__year=2030)
    assert price.cached_input == kept
    page = operator.get(f"{PRICES}{price.id}/change/").content.decode()
    assert "Cached input / 1M" in page
    assert f"${float(cached):.2f}" in page or f"${cached}" in page


def test_cached_input_is_not_dearer_than_other_input(operator: Client) -> None:
    page = add(operator, **TOKENS, cached_input="1.000001")
    assert page.count("Cached input cannot cost more than other input") == 1
    assert "is violated" not in page


def test_a_price_in_parts_is_refused_on_the_form(operator: Client) -> None:
    assert "give input, output and token fee, and no other price" in add(operator, input="1")


@pytest.mark.parametrize(
    ("rates", "problem"),
    [
        ({**TOKENS, "output": "10000.01"}, "Give 0 to 10,000 US dollars."),
        ({**TOKENS, "output": "9223372036854775807"}, "Give 0 to 10,000 US dollars."),
        ({**TOKENS, "output": "-1"}, "Give 0 to 10,000 US dollars."),
        ({**TOKENS, "output": "0.0000001"}, "An amount has at most 6 decimals."),
        ({**TOKENS, "output": "1e400"}, "Write an amount like 12.50."),
        ({**TOKENS, "output": "1_5"}, "Write an amount like 12.50."),
        ({**TOKENS, "output": "cheap"}, "Write an amount like 12.50."),
        (dict.fromkeys(TOKENS, "0"), "GPT-6 Luna would cost nothing."),
        ({"model": "gpt-image-2.5-flare", **PICTURES, "image_fee": "100.01"}, "Give 0 to 100 US"),
        ({"unit_rates": "720p"}, "Write a variant and an amount on each line"),
        ({"unit_rates": "720p 0.1 0.2"}, "Write a variant and an amount on each line"),
        ({"unit_rates": "720p cheap"}, "Write an amount like 12.50."),
        ({"unit_rates": "720p -1"}, "Give 0 to 100 US dollars."),
        ({"unit_rates": "720p 100.01"}, "Give 0 to 100 US dollars."),
        ({"unit_rates": "720p 0.1\n720p 0.2"}, "Give 720p once."),
        ({"unit_rates": "720p 0.1\n1080p 0.2"}, "needs one rate for each of: 720p."),
        ({"unit_rates": "72p 0.1"}, "Runway Gen-4.5 needs one rate for each of: 720p."),
        ({"unit_rates": "720p 0", "unit_fee": "0"}, "Runway Gen-4.5 would cost nothing."),
    ],
)
def test_a_price_that_is_a_slip_is_refused_on_the_form(
    operator: Client, rates: dict[str, str], problem: str
) -> None:
    values = {"model": "gen4.5", **FILM, **rates} if "unit_rates" in rates else rates
    assert problem in add(operator, **values)


def test_a_model_on_this_machine_may_cost_nothing(operator: Client) -> None:
    assert add(operator, model="smollm2-135m", **dict.fromkeys(TOKENS, "0")) == ""


def test_a_price_begins_now_or_later_but_not_in_the_past(operator: Client) -> None:
    now = timezone.now()
    assert "This is in the past" in add(operator, **TOKENS, **on(now - timedelta(seconds=70)))
    assert add(operator, **TOKENS, **on(now)) == ""


def test_the_first_price_of_a_model_may_have_begun(operator: Client) -> None:
    new = AIModel.objects.get(id="gpt-6-luna")
    new.id = "gpt-7"
    new.save()
    assert add(operator, model="gpt-7", **TOKENS, **on(timezone.now() - timedelta(days=9))) == ""


def test_a_moment_that_is_none_is_refused_on_the_form(operator: Client) -> None:
    assert "Enter a valid date" in add(operator, **TOKENS, valid_from_0="tomorrow")


@pytest.mark.parametrize(
    ("model", "rates", "unit"),
    [
        ("gpt-6-luna", PICTURES, "token"),
        ("text-embedding-3-small", PICTURES, "token"),
        ("gpt-image-2.5-flare", TOKENS, "picture"),
        ("gpt-image-2.5-flare", SPEECH, "picture"),
        ("nova-3", TOKENS, "hour"),
        ("gpt-image-2.5-flare", {**PICTURES, "cached_input": "1"}, "picture"),
        ("gen4.5", SPEECH, "second"),
        ("gen4.5", {"unit_fee": "0.01"}, "second"),
        ("meshy-6", {**FILM, "input": "1"}, "asset"),
        ("gpt-6-luna", FILM, "token"),
    ],
)
def test_a_price_of_the_wrong_kind_is_refused_on_the_form(
    operator: Client, model: str, rates: dict[str, str], unit: str
) -> None:
    assert f"is sold by the {unit}" in add(operator, model=model, **rates)


def test_a_price_without_a_model_is_refused_on_the_form(operator: Client) -> None:
    assert operator.post(PRICES + "add/", TOKENS).status_code == 200


def test_a_price_in_force_is_neither_changed_nor_deleted(operator: Client) -> None:
    price = PriceVersion.objects.filter(model="gpt-6-luna").get()
    assert operator.get(f"{PRICES}{price.id}/change/").status_code == 200
    assert operator.post(f"{PRICES}{price.id}/change/", {"input": "1"}).status_code == 403
    assert operator.post(f"{PRICES}{price.id}/delete/", {"post": "yes"}).status_code == 403


def test_a_price_is_withdrawn_before_it_is_in_force(operator: Client) -> None:
    later = new_price(timezone.now() + timedelta(minutes=2))
    soon = new_price(timezone.now() + timedelta(seconds=50))
    assert f"{later.id}/delete/" in operator.get(f"{PRICES}{later.id}/change/").content.decode()
    assert operator.post(f"{PRICES}{later.id}/change/", {"input": "1"}).status_code == 403
    assert operator.post(f"{PRICES}{later.id}/delete/", {"post": "yes"}).status_code == 302
    assert operator.post(f"{PRICES}{soon.id}/delete/", {"post": "yes"}).status_code == 403
    assert list(PriceVersion.objects.filter(id__in=(later.id, soon.id))) == [soon]


def test_prices_are_not_withdrawn_in_numbers(operator: Client) -> None:
    later = new_price(timezone.now() + timedelta(days=2))
    chosen = {"action": "delete_selected", "_selected_action": [later.id], "post": "yes"}
    operator.post(PRICES, chosen)
    assert PriceVersion.objects.filter(id=later.id).exists()


def test_each_version_says_whether_it_is_in_force(operator: Client) -> None:
    now = timezone.now()
    past = PriceVersion.objects.get(model="gpt-6-luna")
    current = new_price(now - timedelta(hours=1))
    wrong_kind = new_price(
        now, image_low=1, image_standard=1, image_high=1, image_fee=1
    )  # passed over, as in the catalog
    later = new_price(now + timedelta(days=2))
    page = operator.get(f"{PRICES}?q=gpt-6-luna").context["cl"]
    states = {row.id: page.model_admin.state(row) for row in page.result_list}
    assert states == {
        past.id: "past",
        current.id: "in force",
        wrong_kind.id: "past",
        later.id: f"from {later.valid_from:%Y-%m-%d}",
    }


def test_a_model_is_switched_off(operator: Client) -> None:
    page = f"/admin/catalog/aimodel/{'gpt-oss-120b'}/change/"
    form = operator.get(page).context["adminform"].form
    data = {name: value for name, value in form.initial.items() if value not in (None, False)}
    data |= {"aliases-TOTAL_FORMS": 0, "aliases-INITIAL_FORMS": 0}
    del data["enabled"]
    assert operator.post(page, data).status_code == 302
    assert not AIModel.objects.get(id="gpt-oss-120b").enabled


def test_prices_are_shown_in_dollars(operator: Client) -> None:
    price = PriceVersion.objects.filter(model="gpt-6.1-sol").latest("valid_from")
    for page in (PRICES, f"{PRICES}{price.id}/change/"):
        text = operator.get(page).content.decode()
        assert "Output / 1M" in text
        assert f"${price.output / 1_000_000:.2f}" in text  # type: ignore[operator]


def test_a_new_price_begins_with_the_rates_of_another(operator: Client) -> None:
    price = PriceVersion.objects.filter(model="gpt-6.1-sol").latest("valid_from")
    page = operator.get(f"{PRICES}{price.id}/new_version/", follow=True)
    assert page.redirect_chain[0][0].startswith(f"{PRICES}add/?model=gpt-6.1-sol")
    assert price.output == 10_000_000
    assert 'name="output" value="10.00"' in page.content.decode()
    assert 'name="cached_input" value="0.10"' in page.content.decode()
    assert operator.get(f"{PRICES}0/new_version/").status_code == 404


def test_a_new_price_begins_with_the_rates_by_variant_of_another(operator: Client) -> None:
    price = PriceVersion.objects.get(model="meshy-6")
    shown = operator.get(f"{PRICES}{price.id}/change/").content.decode()
    assert "preview $0.40" in shown
    page = operator.get(f"{PRICES}{price.id}/new_version/", follow=True).content.decode()
    [rates] = re.findall(r'<textarea name="unit_rates".*?>(.*?)</textarea>', page, re.DOTALL)
    assert add(operator, model="meshy-6", unit_rates=html.unescape(rates), unit_fee="0.02") == ""
    new = PriceVersion.objects.get(model="meshy-6", valid_from__year=2030)
    assert (new.unit_rates, new.unit_fee) == (price.unit_rates, price.unit_fee)


def test_an_operator_who_may_only_view_prices_cannot_add_one(operator: Client) -> None:
    price = PriceVersion.objects.latest("valid_from")
    viewer = get_user_model().objects.create_user("viewer@example.com", "x", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_priceversion"))
    operator.force_login(viewer)
    assert "New price" not in operator.get(f"{PRICES}{price.id}/change/").content.decode()
    assert operator.get(f"{PRICES}{price.id}/new_version/").status_code == 403
