"""What is counted is shown, exactly, and never in more series than are allowed."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from prometheus_client import generate_latest

from observability.metrics.instruments import MAX_SERIES, ReadGauge, counter, gauge, histogram
from observability.metrics.labels import Declared, FirstSeen
from observability.metrics.registry import REGISTRY

COLOURS = frozenset({"red", "blue"})


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """The metrics of a test are gone after it."""
    before = {*REGISTRY._collector_to_names}
    yield
    for metric in REGISTRY._collector_to_names.keys() - before:
        REGISTRY.unregister(metric)


def shown() -> list[str]:
    """The lines of the tests' own metrics."""
    lines = generate_latest(REGISTRY).decode().splitlines()
    return [line for line in lines if line.startswith("test_")]


def test_a_counter_shows_what_was_counted() -> None:
    boats = counter("test_boats_total", "Boats.", colour=COLOURS)
    boats.labels("red").inc()
    boats.labels("red").inc(2)
    assert shown() == ['test_boats_total{colour="red"} 3.0']


def test_a_gauge_rises_and_falls() -> None:
    boats = gauge("test_open", "Open.", colour=COLOURS)
    boats.labels("red").inc()
    boats.labels("red").inc()
    boats.labels("red").dec()
    boats.labels("blue").set(0.5)
    assert shown() == ['test_open{colour="red"} 1.0', 'test_open{colour="blue"} 0.5']


def test_a_read_gauge_is_replaced() -> None:
    boats = ReadGauge("test_open", "Open.", colour=COLOURS)
    assert shown() == []
    boats.replace({("red",): 1})
    boats.replace({("blue",): 7})
    assert shown() == ['test_open{colour="blue"} 7.0']


def test_a_histogram_counts_a_value_at_a_bound_below_it() -> None:
    seconds = histogram("test_seconds", "Seconds.", (0.5, 1.0))
    for value in (0.1, 0.5, 0.7, 3.0):
        seconds.labels().observe(value)
    assert shown() == [
        'test_seconds_bucket{le="0.5"} 2.0',
        'test_seconds_bucket{le="1.0"} 3.0',
        'test_seconds_bucket{le="+Inf"} 4.0',
        "test_seconds_count 4.0",
        "test_seconds_sum 4.3",
    ]


def test_a_value_outside_of_the_set_is_other() -> None:
    boats = counter("test_boats_total", "Boats.", colour=COLOURS)
    for number in range(1_000):
        boats.labels(f"colour-{number}").inc()
    boats.labels("red").inc()
    assert shown() == [
        'test_boats_total{colour="other"} 1000.0',
        'test_boats_total{colour="red"} 1.0',
    ]


def test_a_metric_has_no_more_series_than_the_cap() -> None:
    names = frozenset(str(number) for number in range(100))
    pairs = counter("test_pairs_total", "Pairs.", one=names, two=names)
    for one in sorted(names):
        for two in sorted(names):
            pairs.labels(one, two).inc()
    lines = shown()
    assert len(lines) == MAX_SERIES + 1
    assert f'test_pairs_total{{one="other",two="other"}} {10_000 - MAX_SERIES}.0' in lines


def test_names_that_operators_make_up_are_limited() -> None:
    names = FirstSeen(2)
    assert ["a" in names, "b" in names, "c" in names, "a" in names] == [True, True, False, True]


def test_declared_values_are_those_of_the_subclasses() -> None:
    class Base:
        code = "base"

    class Derived(Base):
        code = "derived"

    class Last(Derived):
        code = "last"

    codes = Declared(Base, "code")
    assert all(cls.code in codes for cls in (Base, Derived, Last))
    assert "made-up" not in codes


def test_two_metrics_cannot_have_one_name() -> None:
    counter("test_boats_total", "Boats.")
    with pytest.raises(ValueError, match="test_boats"):
        counter("test_boats_total", "Others.")


def test_threads_lose_no_count() -> None:
    boats = counter("test_boats_total", "Boats.").labels()
    seconds = histogram("test_seconds", "Seconds.", (1.0,)).labels()

    def work() -> None:
        for _ in range(100_000):
            boats.inc()
            seconds.observe(2.0)

    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(work) for _ in range(8)]:
            done.result()
    assert shown() == [
        "test_boats_total 800000.0",
        'test_seconds_bucket{le="1.0"} 0.0',
        'test_seconds_bucket{le="+Inf"} 800000.0',
        "test_seconds_count 800000.0",
        "test_seconds_sum 1.6e+06",
    ]


def test_what_is_read_at_a_scrape_is_shown_as_it_is_then() -> None:
    levels: dict[tuple[str, ...], float] = {("red",): 1.0}
    ReadGauge("test_boats", "Boats.", lambda: levels, colour=COLOURS)
    assert shown() == ['test_boats{colour="red"} 1.0']
    del levels["red",]
    levels["green",] = 2.0
    assert shown() == ['test_boats{colour="other"} 2.0']
    levels.update({(str(number),): 1.0 for number in range(MAX_SERIES)})
    assert len(shown()) == 1
