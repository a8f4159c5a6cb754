"""The price list is applied as often as one likes, and never rewrites the past."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from ai.catalog import seeds, studio_seeds
from ai.catalog.listing import ModelSeed, per_million, per_second
from ai.catalog.models import AIModel, Alias, PriceVersion, RetiredModel
from ai.catalog.selectors import get_catalog
from ai.catalog.services import SeedReport, seed_catalog
from ai.catalog.types import TokenPrice

pytestmark = pytest.mark.usefixtures("empty_catalog")


def list_one(monkeypatch: pytest.MonkeyPatch, seed: ModelSeed) -> None:
    """Make a price list of that one model."""
    monkeypatch.setattr(seeds, "CHAT_MODELS", (seed,))
    monkeypatch.setattr(seeds, "IMAGE_MODELS", ())
    monkeypatch.setattr(seeds, "EMBEDDING_MODELS", ())
    monkeypatch.setattr(seeds, "SPEECH_MODELS", ())
    monkeypatch.setattr(seeds, "VIDEO_MODELS", ())
    monkeypatch.setattr(seeds, "ASSET_MODELS", ())


LUNA = next(seed for seed in seeds.CHAT_MODELS if seed.id == "gpt-6-luna")

RUNWAY = next(seed for seed in studio_seeds.VIDEO_MODELS if seed.id == "gen4.5")


def prices_of(model: str) -> list[PriceVersion]:
    return list(PriceVersion.objects.filter(model=model).order_by("valid_from"))


def test_the_service_starts_with_the_models_of_the_list() -> None:
    listed = seeds.hosted_models()
    prices = sum(len(seed.prices) for seed in listed)
    assert seed_catalog(local=False) == SeedReport(len(listed), len(listed), 0, prices)
    kept = dict(AIModel.objects.values_list("id", "modality"))
    assert kept == {seed.id: seed.modality for seed in listed}


def test_the_local_models_are_listed_only_when_asked_for() -> None:
    seed_catalog(local=False)
    assert get_catalog().find("smollm2-135m") is None
    assert get_catalog().find("pocketsphinx-en") is None
    assert seed_catalog(local=True).added == len(seeds.LOCAL_MODELS)
    assert AIModel.objects.get(id="smollm2-135m").free


def test_a_second_run_changes_nothing() -> None:
    seed_catalog(local=True)
    rows = list(PriceVersion.objects.values()), list(AIModel.objects.values())
    listed = len(seeds.hosted_models() + seeds.LOCAL_MODELS)
    assert seed_catalog(local=True) == SeedReport(listed, added=0, updated=0, prices_added=0)
    assert (list(PriceVersion.objects.values()), list(AIModel.objects.values())) == rows


def test_descriptive_fields_are_brought_up_to_date() -> None:
    seed_catalog(local=False)
    AIModel.objects.filter(id="gpt-6-luna").update(display_name="Old", context_window=1)
    assert seed_catalog(local=False).updated == 1
    assert AIModel.objects.get(id="gpt-6-luna").display_name == "GPT-6 Luna"


def test_a_model_that_an_operator_disabled_stays_disabled() -> None:
    seed_catalog(local=False)
    AIModel.objects.filter(id="gpt-6-luna").update(enabled=False)
    seed_catalog(local=False)
    assert not AIModel.objects.get(id="gpt-6-luna").enabled


def test_a_changed_price_is_a_new_version_from_now(monkeypatch: pytest.MonkeyPatch) -> None:
    list_one(monkeypatch, LUNA)
    seed_catalog(local=False)
    before = timezone.now()
    list_one(monkeypatch, replace(LUNA, prices=(per_million("0.20", "0.50"),)))
    assert seed_catalog(local=False).prices_added == 1
    old, new = prices_of(LUNA.id)
    assert (old.input, new.input) == (100_000, 200_000)
    assert before <= new.valid_from <= timezone.now()
    assert seed_catalog(local=False).prices_added == 0


@pytest.mark.parametrize("output", ["10000.01", "99999999999"])
def test_a_slip_in_the_list_is_not_applied(monkeypatch: pytest.MonkeyPatch, output: str) -> None:
    list_one(monkeypatch, replace(LUNA, prices=(per_million("0.20", output),)))
    with pytest.raises(ValidationError, match="less than or equal to"):
        seed_catalog(local=False)


@pytest.mark.parametrize("rates", [{"720p": "100.01"}, {}, {"1080p": "0.12"}])
def test_a_slip_in_the_rates_by_variant_is_not_applied(
    monkeypatch: pytest.MonkeyPatch, rates: dict[str, str]
) -> None:
    list_one(monkeypatch, replace(RUNWAY, prices=(per_second(rates),)))
    with pytest.raises(ValidationError, match=r"less than or equal to|one rate for each of: 720p"):
        seed_catalog(local=False)


def test_changed_params_are_brought_up_to_date_and_no_others() -> None:
    seed_catalog(local=False)
    AIModel.objects.filter(id=RUNWAY.id).update(params={})
    assert seed_catalog(local=False).updated == 1
    assert AIModel.objects.get(id=RUNWAY.id).params == RUNWAY.params


def test_a_changed_rate_of_a_variant_is_a_new_version(monkeypatch: pytest.MonkeyPatch) -> None:
    list_one(monkeypatch, RUNWAY)
    seed_catalog(local=False)
    list_one(monkeypatch, replace(RUNWAY, prices=(per_second({"720p": "0.11"}),)))
    assert seed_catalog(local=False).prices_added == 1
    assert [price.unit_rates for price in prices_of(RUNWAY.id)] == [
        {"720p": 120_000_000},
        {"720p": 110_000_000},
    ]
    assert seed_catalog(local=False).prices_added == 0


def test_a_list_of_old_prices_is_applied_to_an_empty_catalog(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    days = (date(2026, 1, 1), date(2026, 2, 1))
    list_one(monkeypatch, replace(LUNA, prices=tuple(per_million("1", "2", day) for day in days)))
    assert seed_catalog(local=False).prices_added == len(days)


def test_a_dated_price_starts_on_its_date(monkeypatch: pytest.MonkeyPatch) -> None:
    day = timezone.now().date() + timedelta(days=40)
    later = per_million("0.20", "0.50", since=day)
    list_one(monkeypatch, LUNA)
    seed_catalog(local=False)
    list_one(monkeypatch, replace(LUNA, prices=(*LUNA.prices, later)))
    seed_catalog(local=False)
    assert prices_of(LUNA.id)[1].valid_from.date() == day
    price = get_catalog().models[LUNA.id].price
    assert price.version_id == prices_of(LUNA.id)[0].id


def test_an_operator_s_price_stands() -> None:
    seed_catalog(local=False)
    PriceVersion.objects.create(
        model_id=LUNA.id, valid_from=timezone.now(), input=7, output=8, token_fee=9
    )
    seed_catalog(local=False)
    assert get_catalog().models[LUNA.id].price.version_id == prices_of(LUNA.id)[-1].id
    assert len(prices_of(LUNA.id)) == 2


def test_the_introductory_price_of_gemini_flash_ends_with_the_year() -> None:
    seed_catalog(local=False)
    now, then = prices_of("gemini-3.8-flash")
    assert (now.input, now.output) == (750_000, 3_750_000)
    assert (then.input, then.output) == (1_500_000, 7_500_000)
    assert then.valid_from == datetime(2027, 1, 1, tzinfo=UTC)


def test_cached_input_costs_what_its_provider_lists() -> None:
    seed_catalog(local=True)
    catalog = get_catalog()
    prices = {name: model.price for name, model in catalog.models.items()}
    cached = {
        name: price.cached_input
        for name, price in prices.items()
        if isinstance(price, TokenPrice) and price.cached_input is not None
    }
    assert cached.keys() == {seed.id for seed in seeds.CHAT_MODELS}
    assert cached["claude-opus-5-5"] == 200_000
    assert cached["deepseek-v4-pro"] == 44_000
    assert cached["grok-4.7"] == 500_000


def without_cached_input(seed: ModelSeed) -> ModelSeed:
    prices = tuple(
        replace(price, rates={**price.rates, "cached_input": None}) for price in seed.prices
    )
    return replace(seed, prices=prices)


def test_a_rate_that_the_list_has_got_counts_from_now_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a price that is not in force yet: its version begins a second later."""
    flash = next(seed for seed in seeds.CHAT_MODELS if seed.id == "gemini-3.8-flash")
    list_one(monkeypatch, without_cached_input(flash))
    seed_catalog(local=False)
    before = timezone.now()
    list_one(monkeypatch, flash)
    assert seed_catalog(local=False).prices_added == 2

    old, now, then, then_with = prices_of(flash.id)
    assert [price.cached_input for price in (old, now, then, then_with)] == [
        *(None, 75_000),
        *(None, 150_000),
    ]
    assert before <= now.valid_from <= timezone.now()
    assert then_with.valid_from - then.valid_from == timedelta(seconds=1)
    assert then_with.input == then.input == 1_500_000
    assert seed_catalog(local=False).prices_added == 0


def test_a_price_that_another_of_the_list_has_replaced_does_not_return(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    days = (date(2026, 1, 1), date(2026, 2, 1), date(2026, 3, 1))
    prices = tuple(
        per_million(usd, "2", since=day, cached_usd="0.1")
        for usd, day in zip(("1", "2", "3"), days, strict=True)
    )
    seed = replace(LUNA, prices=prices)
    list_one(monkeypatch, without_cached_input(seed))
    assert seed_catalog(local=False).prices_added == 3
    list_one(monkeypatch, seed)
    assert seed_catalog(local=False).prices_added == 1
    *_, new = prices_of(LUNA.id)
    assert (new.input, new.cached_input) == (3_000_000, 100_000)


def test_an_operator_s_price_stands_when_the_list_gets_a_rate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    list_one(monkeypatch, without_cached_input(LUNA))
    seed_catalog(local=False)
    PriceVersion.objects.create(
        model_id=LUNA.id, valid_from=timezone.now(), input=7, output=8, token_fee=9
    )
    list_one(monkeypatch, LUNA)
    assert seed_catalog(local=False).prices_added == 0
    assert [price.input for price in prices_of(LUNA.id)] == [100_000, 7]


def test_a_rate_that_the_list_has_lost_ends_now(monkeypatch: pytest.MonkeyPatch) -> None:
    list_one(monkeypatch, LUNA)
    seed_catalog(local=False)
    list_one(monkeypatch, without_cached_input(LUNA))
    assert seed_catalog(local=False).prices_added == 1
    assert [price.cached_input for price in prices_of(LUNA.id)] == [10_000, None]


def test_a_cached_rate_above_the_rate_of_input_is_not_applied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dearer = per_million("0.10", "0.50", cached_usd="0.11")
    list_one(monkeypatch, replace(LUNA, prices=(dearer,)))
    with pytest.raises(ValidationError, match="cannot cost more than other input"):
        seed_catalog(local=False)


def test_former_names_lead_to_current_models_and_dead_ones_nowhere() -> None:
    seed_catalog(local=False)
    catalog = get_catalog()
    for old, new in [
        ("gpt-4o-mini", "gpt-6-luna"),
        ("claude-haiku-4-5", "claude-haiku-5-5"),
        ("gemini-2.5-pro", "gemini-3.1-pro-preview"),
        ("deepseek-reasoner", "deepseek-v4-pro"),
    ]:
        model = catalog.find(old)
        assert model is not None
        assert model.id == new
    assert "dall-e-3" in catalog.retired
    assert catalog.find("dall-e-3") is None


def test_an_alias_that_moves_in_the_list_follows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    list_one(monkeypatch, LUNA)
    seed_catalog(local=False)
    list_one(monkeypatch, replace(LUNA, id="gpt-7-luna"))
    seed_catalog(local=False)
    assert {alias.model_id for alias in Alias.objects.all()} == {"gpt-7-luna"}


def test_the_names_that_an_operator_has_changed_stay() -> None:
    seed_catalog(local=False)
    Alias.objects.filter(name="gpt-5").update(model="gpt-6-luna")
    Alias.objects.filter(name="gpt-4.1").delete()
    RetiredModel.objects.filter(name="dall-e-2").delete()
    seed_catalog(local=False)
    assert Alias.objects.get(name="gpt-5").model_id == "gpt-6-luna"
    assert not Alias.objects.filter(name="gpt-4.1").exists()
    assert not RetiredModel.objects.filter(name="dall-e-2").exists()


def test_a_price_that_an_operator_has_withdrawn_stays_away_until_the_list_changes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    day = timezone.now().date() + timedelta(days=40)
    list_one(monkeypatch, replace(LUNA, prices=(*LUNA.prices, per_million("0.20", "0.50", day))))
    seed_catalog(local=False)
    prices_of(LUNA.id)[1].delete()
    assert seed_catalog(local=False).prices_added == 0
    list_one(monkeypatch, replace(LUNA, prices=(*LUNA.prices, per_million("0.30", "0.50", day))))
    assert seed_catalog(local=False).prices_added == 1


def test_no_name_means_two_things() -> None:
    listed = seeds.hosted_models() + seeds.LOCAL_MODELS
    names = [seed.id for seed in listed] + [name for seed in listed for name in seed.aliases]
    names += seeds.RETIRED
    assert len(names) == len(set(names))


def test_every_listed_price_is_above_its_fee_and_whole() -> None:
    seed_catalog(local=True)
    without_fee = PriceVersion.objects.exclude(token_fee=1_000_000).exclude(image_fee=10_000_000)
    of_a_unit = without_fee.exclude(speech_fee=60_000_000)
    fees = {"video": 10_000_000, "3d": 20_000_000}
    assert {price.unit_fee == fees[price.model.modality] for price in of_a_unit} == {True}
    assert RetiredModel.objects.count() == len(seeds.RETIRED)
    assert all(
        type(rate) is int
        for seed in (*seeds.CHAT_MODELS, *seeds.SPEECH_MODELS, *studio_seeds.VIDEO_MODELS)
        for rate in _rates(seed)
    )


def _rates(seed: ModelSeed) -> list[int]:
    rates = [rate for price in seed.prices for rate in price.rates.values()]
    by_variant = [rate for rate in rates if isinstance(rate, dict)]
    alone = [rate for rate in rates if not isinstance(rate, dict) and rate is not None]
    return [*alone, *(rate for each in by_variant for rate in each.values())]


def test_prices_are_dated_in_order() -> None:
    for seed in seeds.CHAT_MODELS:
        dates: list[date] = [price.since for price in seed.prices]
        assert dates == sorted(set(dates))
