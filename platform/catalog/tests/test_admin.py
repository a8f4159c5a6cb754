"""The operator's admin: models can be edited, prices only added."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.test import Client

from catalog.models import AIModel, PriceVersion

PRICES = "/admin/catalog/priceversion/"
TOKENS = {"input": "1", "output": "2", "token_fee": "3"}
PICTURES = {"image_low": "1", "image_standard": "2", "image_high": "3", "image_fee": "4"}


@pytest.fixture
def operator(db: None) -> Client:
    user = get_user_model().objects.create_superuser("operator@example.com", "a password")
    client = Client()
    client.force_login(user)
    return client


def test_a_price_is_added(operator: Client) -> None:
    form = {
        "model": "gpt-6-luna",
        "valid_from_0": "2030-01-01",
        "valid_from_1": "00:00:00",
        "input": "1",
        "output": "2",
        "token_fee": "3",
    }
    assert operator.post(PRICES + "add/", form).status_code == 302
    assert PriceVersion.objects.filter(model="gpt-6-luna", input=1, token_fee=3).exists()


def test_a_price_in_parts_is_refused_on_the_form(operator: Client) -> None:
    form = {"model": "gpt-6-luna", "valid_from_0": "2030-01-01", "valid_from_1": "00:00:00"}
    before = PriceVersion.objects.count()
    assert operator.post(PRICES + "add/", {**form, "input": "1"}).status_code == 200
    assert PriceVersion.objects.count() == before


@pytest.mark.parametrize(
    ("model", "rates", "unit"),
    [
        ("gpt-6-luna", PICTURES, "token"),
        ("text-embedding-3-small", PICTURES, "token"),
        ("gpt-image-2.5-flare", TOKENS, "picture"),
    ],
)
def test_a_price_of_the_wrong_kind_is_refused_on_the_form(
    operator: Client, model: str, rates: dict[str, str], unit: str
) -> None:
    form = {"model": model, "valid_from_0": "2030-01-01", "valid_from_1": "00:00:00", **rates}
    page = operator.post(PRICES + "add/", form)
    assert page.status_code == 200
    assert f"is sold by the {unit}" in page.content.decode()
    assert not PriceVersion.objects.filter(model=model, valid_from__year=2030).exists()


def test_a_picture_s_price_is_added(operator: Client) -> None:
    day = {"valid_from_0": "2030-01-01", "valid_from_1": "00:00:00"}
    form = {"model": "gpt-image-2.5-flare", **day, **PICTURES}
    assert operator.post(PRICES + "add/", form).status_code == 302


def test_a_price_without_a_model_is_refused_on_the_form(operator: Client) -> None:
    assert operator.post(PRICES + "add/", TOKENS).status_code == 200


def test_a_price_is_neither_changed_nor_deleted(operator: Client) -> None:
    price = PriceVersion.objects.filter(model="gpt-6-luna").get()
    assert operator.get(f"{PRICES}{price.id}/change/").status_code == 200
    assert operator.post(f"{PRICES}{price.id}/change/", {"input": "1"}).status_code == 403
    assert operator.post(f"{PRICES}{price.id}/delete/", {"post": "yes"}).status_code == 403


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
        assert f"${price.output / 1_000_000:.2f} / 1M" in text  # type: ignore[operator]


def test_a_new_price_begins_with_the_rates_of_another(operator: Client) -> None:
    price = PriceVersion.objects.filter(model="gpt-6.1-sol").latest("valid_from")
    page = operator.get(f"{PRICES}{price.id}/new_version/", follow=True)
    assert page.redirect_chain[0][0].startswith(f"{PRICES}add/?model=gpt-6.1-sol")
    assert f'name="output" value="{price.output}"' in page.content.decode()
    assert operator.get(f"{PRICES}0/new_version/").status_code == 404


def test_who_may_only_look_at_prices_makes_none(operator: Client) -> None:
    price = PriceVersion.objects.latest("valid_from")
    viewer = get_user_model().objects.create_user("viewer@example.com", "x", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_priceversion"))
    operator.force_login(viewer)
    assert "New price" not in operator.get(f"{PRICES}{price.id}/change/").content.decode()
    assert operator.get(f"{PRICES}{price.id}/new_version/").status_code == 403
