"""`POST /v1/images/generations`: pictures that we serve, billed by the piece."""

from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from ai.catalog.selectors import get_catalog
from ai.catalog.types import ImagePrice, Model
from billing.models import PlanAllowance, UsageDaily
from billing.tests import bank
from common.money import NUSD_PER_USD
from media.files.models import StoredFile
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import BALANCE_ONLY_IMAGE, IMAGE, IMAGES, Customer
from publicapi.tests.v1.errors import refusal
from tests.personas import access_token_of

SIGNATURES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/webp": b"RIFF",
}
MODELS = ("gpt-image-2.5-flare", "gemini-nano-banana-2.1", "flux-2-pro", "grok-imagine-image-2.0")


def price_of(model: str, quality: str) -> int:
    """Nano-USD of one picture, the platform's fee included."""
    price = cast(ImagePrice, cast(Model, get_catalog().find(model)).price)
    return price.per_image[quality] + price.fee


def download(alice: Customer, url: str) -> httpx.Response:
    """Get a picture as a browser would: without a key."""
    assert url.startswith(f"{alice.web.url}/files/")
    return httpx.get(url)


def urls(response: httpx.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [picture["url"] for picture in response.json()["data"]]


# --- The answer ---------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n", [1, 4])
def test_every_model_makes_pictures_that_need_no_key(
    customer: NewCustomer, model: str, n: int
) -> None:
    alice = customer(plan="enterprise")
    links = urls(alice.draw(model=model, n=n))
    assert len(set(links)) == n
    for link in links:
        picture = download(alice, link)
        assert picture.status_code == 200
        assert picture.content.startswith(SIGNATURES[picture.headers["content-type"]])
        assert len(picture.content) == int(picture.headers["content-length"])


def test_the_answer_has_the_shape_that_clients_know(alice: Customer) -> None:
    answer = alice.draw(size="1536x1024", quality="high").json()
    assert answer.keys() == {"created", "data", "size", "quality", "usage"}
    assert isinstance(answer["created"], int)
    assert [picture.keys() for picture in answer["data"]] == [{"url"}]
    assert (answer["size"], answer["quality"]) == ("1536x1024", "high")
    assert answer["usage"] == {
        "input_tokens": 0,
        "output_tokens": 0,
        "total_tokens": 0,
        "input_tokens_details": {"image_tokens": 0, "text_tokens": 0},
        "billed_usd": price_of(IMAGE, "high") / NUSD_PER_USD,
    }


def test_a_link_works_for_24_hours_and_its_file_is_kept_longer(alice: Customer) -> None:
    [link] = urls(alice.draw())
    file = StoredFile.objects.get(account=alice.user)
    assert f"/files/{file.name}?" in link
    [expires] = parse_qs(urlsplit(link).query)["expires"]
    life = int(expires) - file.created_at.timestamp()
    assert 24 * 3600 - 60 < life < 24 * 3600 + 60
    assert file.expires_at is not None
    assert (file.expires_at - file.created_at).total_seconds() >= 48 * 3600


def test_they_are_not_in_the_history_of_the_studio(alice: Customer) -> None:
    assert len(urls(alice.draw(n=2))) == 2
    headers = {"Authorization": f"Bearer {access_token_of(alice.user)}"}
    history = alice.http.get("/api/images", headers=headers)
    assert (history.status_code, history.json()) == (200, [])


def test_the_same_request_is_carried_out_once(alice: Customer) -> None:
    body = {"model": IMAGE, "prompt": alice.prompt("A red boat."), "n": 2}
    named = {"Idempotency-Key": alice.marker}
    first, second = (alice.post(IMAGES, json=body, headers=named) for _ in range(2))
    assert second.headers["idempotency-replayed"] == "true"
    assert {**second.json(), "data": None} == {**first.json(), "data": None}
    assert [download(alice, link).content for link in urls(second)] == [
        download(alice, link).content for link in urls(first)
    ]
    assert len(alice.charges()) == 1
    assert StoredFile.objects.filter(account=alice.user).count() == 2


# --- The money ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "billed"),
    [
        ("low", "low"),
        ("standard", "standard"),
        ("medium", "standard"),
        ("auto", "standard"),
        (None, "standard"),
        ("high", "high"),
        ("hd", "high"),
    ],
)
def test_each_quality_has_its_price(alice: Customer, asked: str | None, billed: str) -> None:
    answer = alice.draw(quality=asked, n=2).json()
    cost = 2 * price_of(IMAGE, billed)
    assert answer["quality"] == {"standard": "medium"}.get(billed, billed)
    assert answer["usage"]["billed_usd"] == cost / NUSD_PER_USD
    assert alice.spent_of_plan(IMAGE) == cost
    assert alice.spent_of_balance() == 0
    charge = alice.charge()
    assert (charge.status, charge.kind, charge.images) == ("settled", "images", 2)


@pytest.mark.parametrize("quality", ["low", "standard", "high"])
def test_a_picture_of_each_quality_is_billed_as_it_is_listed(alice: Customer, quality: str) -> None:
    listed = alice.get(f"/v1/models/{IMAGE}").json()["pricing"]
    billed = alice.draw(quality=quality).json()["usage"]["billed_usd"]
    assert billed == listed["effective_per_image_usd_by_quality"][quality]


def test_without_an_allowance_the_balance_pays_twice(alice: Customer) -> None:
    answer = alice.draw(model=BALANCE_ONLY_IMAGE, n=3, quality="low").json()
    billed = 2 * 3 * price_of(BALANCE_ONLY_IMAGE, "low")
    assert answer["usage"]["billed_usd"] == billed / NUSD_PER_USD
    assert alice.spent_of_balance() == billed
    [day] = UsageDaily.objects.filter(account=alice.user)
    assert (day.requests, day.billed) == (1, billed)


def test_what_the_allowance_does_not_cover_the_balance_pays_twice(alice: Customer) -> None:
    granted = PlanAllowance.objects.get(plan_id="max", model_id=IMAGE).granted
    left = 1_000_000
    _, earlier = bank.hold(alice.user, granted - left, owner=bank.live_owner(), model=IMAGE)
    bank.settle(earlier, granted - left)

    answer = alice.draw(quality="high").json()

    twice_the_rest = 2 * (price_of(IMAGE, "high") - left)
    assert answer["usage"]["billed_usd"] == (left + twice_the_rest) / NUSD_PER_USD
    assert alice.spent_of_plan(IMAGE) == granted
    assert alice.spent_of_balance() == twice_the_rest


@pytest.mark.parametrize("model", MODELS)
def test_only_pictures_that_were_delivered_are_billed(customer: NewCustomer, model: str) -> None:
    alice = customer(plan="enterprise")
    response = alice.draw(model=model, n=4, steer={"pictures": 3})
    assert len(urls(response)) == 3
    assert alice.charge().images == 3
    assert alice.charge().cost == 3 * price_of(model, "standard")


def test_an_empty_balance_is_refused_before_the_provider_is_asked(customer: NewCustomer) -> None:
    alice = customer(balance_usd=0)
    refusal(alice.draw(model=BALANCE_ONLY_IMAGE), 402, "insufficient_balance")
    assert alice.provider_calls() == []
    alice.assert_nothing_billed()


def test_a_client_that_hangs_up_pays_for_the_pictures(alice: Customer) -> None:
    prompt = alice.prompt("A red boat.", ttft_ms=600)
    alice.hang_up_and_wait(IMAGES, {"model": BALANCE_ONLY_IMAGE, "prompt": prompt, "n": 2})
    assert alice.spent_of_balance() == 2 * 2 * price_of(BALANCE_ONLY_IMAGE, "standard")
    assert StoredFile.objects.filter(account=alice.user).count() == 2


# --- Providers that fail ------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_what_moderation_blocks_costs_nothing(customer: NewCustomer, model: str) -> None:
    alice = customer(plan="enterprise")
    response = alice.draw(model=model, steer={"blocked": True})
    refusal(response, 400, "content_blocked")
    alice.assert_nothing_billed()
    assert not StoredFile.objects.filter(account=alice.user).exists()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "fault",
    [{"status": 500}, {"drop": True}, {"bad_json": True}],
    ids=lambda fault: next(iter(fault)),
)
def test_a_provider_that_fails_costs_nothing(
    customer: NewCustomer, model: str, fault: dict[str, Any]
) -> None:
    alice = customer(plan="enterprise")
    refusal(alice.draw(model=model, steer=fault), 502, "upstream_error")
    alice.assert_nothing_billed()
    assert not StoredFile.objects.filter(account=alice.user).exists()
