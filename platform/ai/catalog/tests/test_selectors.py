"""The snapshot: what is in it, how old it gets, and who waits for the next one."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from ai.catalog import selectors
from ai.catalog.models import AIModel, Alias, PriceVersion
from ai.catalog.selectors import aget_catalog, get_catalog, price_history
from ai.catalog.types import Catalog, ImagePrice, TokenPrice, UnitPrice
from common import snapshots
from common.errors import ServiceUnavailable, ValidationFailed

from .conftest import database_away

LUNA = "gpt-6-luna"
FLARE = "gpt-image-2.5-flare"
VECTORS = "text-embedding-3-small"
TOKENS = {"input": 1, "output": 2, "token_fee": 3}
RUNWAY = "gen4.5"
UNITS = {"unit_rates": {"540p": 1}, "unit_fee": 1}
PICTURES = {"image_low": 1, "image_standard": 2, "image_high": 3, "image_fee": 4}


class Database:
    """The database from outside of Django: who is connected, and who waits for a lock."""

    def __init__(self) -> None:
        names = ("host", "port", "user", "password", "dbname")
        parameters = connection.get_connection_params()
        self._parameters: dict[str, Any] = {name: parameters.get(name) for name in names}

    def connect(self) -> psycopg.Connection:
        return psycopg.connect(**self._parameters, autocommit=True)

    def count(self, waiting: bool = False) -> int:
        """Sessions in this database, or those of them that wait for a lock."""
        with self.connect() as watcher:
            [(count,)] = watcher.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND backend_type = 'client backend' AND (wait_event_type = 'Lock' OR NOT %s)",
                [waiting],
            ).fetchall()
        return int(count)

    @contextmanager
    def models_locked(self) -> Iterator[Callable[[], None]]:
        """Nobody reads the models until the block ends, or the function given is called."""
        with self.connect() as locker:
            locker.execute("BEGIN")
            locker.execute("LOCK TABLE catalog_aimodel IN ACCESS EXCLUSIVE MODE")
            yield locker.rollback


@pytest.fixture
def database(committed: None) -> Database:
    return Database()


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.django_db
class TestContents:
    def test_models_come_in_order_with_their_prices(self) -> None:
        models = get_catalog().models
        assert list(models) == sorted(models)
        luna = models[LUNA]
        assert isinstance(luna.price, TokenPrice)
        assert (luna.price.input, luna.price.output, luna.price.fee) == (
            100_000,
            500_000,
            1_000_000,
        )
        picture = models[FLARE].price
        assert isinstance(picture, ImagePrice)
        assert picture.per_image == {"low": 6_000_000, "standard": 13_000_000, "high": 53_000_000}

    def test_a_film_is_sold_by_the_second_and_an_asset_by_the_piece(self) -> None:
        models = get_catalog().models
        film, asset = models[RUNWAY].price, models["meshy-6"].price
        assert isinstance(film, UnitPrice)
        assert (film.unit, film.per_unit, film.fee) == ("second", {"720p": 120_000_000}, 10_000_000)
        assert isinstance(asset, UnitPrice)
        assert (asset.unit, asset.fee) == ("asset", 20_000_000)
        assert isinstance(price_history()[RUNWAY][0][1], UnitPrice)

    def test_a_model_knows_the_fields_of_all_others_even_of_those_that_are_switched_off(
        self,
    ) -> None:
        AIModel.objects.exclude(id=RUNWAY).update(enabled=False)
        params = get_catalog().models[RUNWAY].params
        assert {"negative_prompt", "references", "stage", "seed"} <= params.known
        with pytest.raises(ValidationFailed):
            params.check({"negative_prompt": "rain"})

    def test_a_model_whose_price_lacks_a_rate_is_not_there_and_reported_once(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        PriceVersion.objects.create(model_id=RUNWAY, valid_from=timezone.now(), **UNITS)
        for _ in range(2):
            selectors.reset()
            assert RUNWAY not in get_catalog().models
        assert caplog.text.count("catalog.price_lacks_rates") == 1

    def test_a_model_that_is_switched_off_is_not_there_nor_its_former_names(self) -> None:
        AIModel.objects.filter(id=LUNA).update(enabled=False)
        catalog = get_catalog()
        assert LUNA not in catalog.models
        assert catalog.find("gpt-4o-mini") is None

    def test_a_model_without_a_price_in_force_is_not_there(self) -> None:
        model = AIModel.objects.get(id=LUNA)
        model.id = "from-tomorrow"
        model.save(force_insert=True)
        PriceVersion.objects.create(
            model=model,
            valid_from=timezone.now() + timedelta(days=1),
            input=1,
            output=1,
            token_fee=1,
        )
        assert "from-tomorrow" not in get_catalog().models

    def test_the_latest_price_in_force_counts(self) -> None:
        now = timezone.now()
        for days, rate in ((-2, 5), (-1, 6), (1, 7)):
            PriceVersion.objects.create(
                model_id=LUNA,
                valid_from=now + timedelta(days=days),
                input=rate,
                output=rate,
                token_fee=rate,
            )
        price = get_catalog().models[LUNA].price
        assert isinstance(price, TokenPrice)
        assert price.input == 6

    @pytest.mark.parametrize(
        ("model", "rates"),
        [(LUNA, PICTURES), (FLARE, TOKENS), (VECTORS, PICTURES), (RUNWAY, TOKENS), (LUNA, UNITS)],
    )
    def test_a_price_of_the_wrong_kind_is_passed_over_and_reported_once(
        self, model: str, rates: dict[str, Any], caplog: pytest.LogCaptureFixture
    ) -> None:
        before = get_catalog().models[model].price
        PriceVersion.objects.create(model_id=model, valid_from=timezone.now(), **rates)
        for _ in range(2):
            selectors.reset()
            assert get_catalog().models[model].price == before
        assert caplog.text.count("catalog.price_of_wrong_kind") == 1

    def test_a_price_of_the_right_kind_follows_on_one_of_the_wrong(self) -> None:
        now = timezone.now()
        PriceVersion.objects.create(model_id=LUNA, valid_from=now - timedelta(hours=2), **PICTURES)
        PriceVersion.objects.create(model_id=LUNA, valid_from=now - timedelta(hours=1), **TOKENS)
        price = get_catalog().models[LUNA].price
        assert isinstance(price, TokenPrice)
        assert price.input == TOKENS["input"]

    def test_the_history_of_a_price_has_all_versions_in_order(self) -> None:
        listed = get_catalog().models[LUNA].price
        earlier, later = (timezone.now() + timedelta(days=days) for days in (-900, 900))
        for moment in (later, earlier):
            PriceVersion.objects.create(model_id=LUNA, valid_from=moment, **TOKENS)
        history = price_history()[LUNA]
        assert [since for since, _ in history][::2] == [earlier, later]
        assert history[1][1] == listed
        assert all(isinstance(price, TokenPrice) for _, price in history)

    def test_a_snapshot_cannot_be_changed(self) -> None:
        catalog = get_catalog()
        with pytest.raises(TypeError):
            catalog.models["x"] = catalog.models[LUNA]  # type: ignore[index]
        with pytest.raises(AttributeError):
            catalog.models[LUNA].free = False  # type: ignore[misc]


@pytest.mark.django_db
class TestAge:
    def test_only_the_first_lookup_asks_the_database(
        self, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        with django_assert_num_queries(5):
            get_catalog()
        with django_assert_num_queries(0):
            assert get_catalog().find("gpt-4o-mini")

    def test_a_young_snapshot_is_kept(self) -> None:
        get_catalog()
        Alias.objects.create(name="luna", model_id=LUNA)
        assert get_catalog().find("luna") is None

    def test_an_old_snapshot_is_replaced(self, monkeypatch: pytest.MonkeyPatch) -> None:
        get_catalog()
        Alias.objects.create(name="luna", model_id=LUNA)
        monkeypatch.setattr(snapshots, "MAX_AGE", 0.0)
        assert get_catalog().find("luna")


class TestWaiting:
    def test_while_one_thread_refreshes_others_are_served_the_old_snapshot(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        old = get_catalog()
        monkeypatch.setattr(snapshots, "MAX_AGE", 0.0)
        fetched: list[Catalog] = []

        def refresh() -> None:
            fetched.append(get_catalog())
            connection.close()

        with database.models_locked():
            thread = threading.Thread(target=refresh)
            thread.start()
            eventually(lambda: database.count(waiting=True) == 1)
            assert get_catalog() is old
        thread.join()
        assert fetched[0] is not old

    def test_a_loop_never_waits_for_a_refresh_and_starts_only_one(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        old = get_catalog()
        monkeypatch.setattr(snapshots, "MAX_AGE", 0.0)

        async def scenario() -> None:
            for _ in range(50):
                assert await aget_catalog() is old
            await asyncio.to_thread(eventually, lambda: database.count(waiting=True) == 1)
            assert await aget_catalog() is old
            assert database.count(waiting=True) == 1
            unlock()

        with database.models_locked() as unlock:
            asyncio.run(scenario())
        assert get_catalog() is not old

    def test_a_loop_goes_on_while_its_first_load_waits(self, database: Database) -> None:
        async def scenario() -> Catalog:
            first = asyncio.create_task(aget_catalog())
            second = asyncio.create_task(aget_catalog())
            await asyncio.to_thread(eventually, lambda: database.count(waiting=True) == 1)
            assert not first.done()
            unlock()
            assert await first is await second
            return await first

        with database.models_locked() as unlock:
            assert LUNA in asyncio.run(scenario()).models

    def test_a_loop_s_refresh_leaves_no_connection_behind(
        self, no_pool: None, database: Database
    ) -> None:
        before = database.count()

        async def scenario() -> None:
            await aget_catalog()
            await asyncio.to_thread(eventually, lambda: database.count() == before)

        asyncio.run(scenario())


@pytest.mark.usefixtures("no_pool")
class TestAbsence:
    def test_without_a_database_there_is_no_first_snapshot(self) -> None:
        with database_away():
            with pytest.raises(ServiceUnavailable):
                get_catalog()
            with pytest.raises(ServiceUnavailable):
                asyncio.run(aget_catalog())
        assert LUNA in get_catalog().models

    def test_without_a_database_the_last_snapshot_is_served(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        old = get_catalog()
        monkeypatch.setattr(snapshots, "MAX_AGE", 0.0)
        with database_away():
            assert get_catalog() is old
            assert asyncio.run(aget_catalog()) is old
        assert get_catalog() is not old
