"""docs/operations/capacity.md: its tables are what its formulae say of its figures."""

import math

import pytest
from django.conf import settings

from tests.documents import rows, section
from tests.operations.blocks import FOLDER

PAGE = FOLDER / "capacity.md"
MONTH = 30 * 24 * 3600
FIGURES = {row[0]: float(row[1]) for row in rows(section(PAGE, "What was measured"))}


def table(title: str) -> tuple[list[float], dict[str, list[float]]]:
    """The sizes in its head, and its rows."""
    lines = [line for line in section(PAGE, title).splitlines() if line.startswith("|")]
    head, _, *body = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return _numbers(head), {row[0]: _numbers(row) for row in body}


def _numbers(row: list[str]) -> list[float]:
    return [float(cell.replace(",", "")) for cell in row[1:]]


def of_charges(charges: float) -> dict[str, float]:
    f = FIGURES
    mean = charges / MONTH
    peak = mean * f["peak"]
    calls = peak * f["call_seconds"]
    cores = 2 * peak * f["call_cpu"] / 1000
    return {
        "calls per second, mean": mean,
        "calls per second, peak": peak,
        "open calls at the peak": calls,
        "web cores for calls, half busy": cores,
        "memory for calls, MB": calls * f["call_memory"] / 1000,
        "web processes for calls, one spare": math.ceil(max(calls / f["max_calls"], cores)) + 1,
        "share of the money path, percent": 100 * peak / f["pairs"],
        "disk in a month, GB": charges * f["charge_disk"] / 1e9,
        "WAL in a month, GB": charges * f["charge_wal"] / 1e9,
        "replies: appends per second, peak": calls * f["appends"],
        "replies: WAL in a month, GB": (
            charges * f["call_seconds"] * f["appends"] * f["event_wal"] / 1e9
        ),
    }


def of_sockets(sockets: float) -> dict[str, float]:
    return {
        "memory, MB": sockets * FIGURES["socket_memory"] / 1000,
        "web processes, one spare": math.ceil(sockets / FIGURES["max_sockets"]) + 1,
        "streams looked at per second": sockets / 5,
        "tokens checked per second": sockets / settings.SOCKET_TICK_SECONDS,
    }


@pytest.mark.parametrize(
    ("title", "computed"),
    [("Charges: worked examples", of_charges), ("Sockets: worked examples", of_sockets)],
    ids=["charges", "sockets"],
)
def test_the_examples_are_computed(title: str, computed: object) -> None:
    """Within the two digits that they are written with."""
    sizes, stated = table(title)
    for at, size in enumerate(sizes):
        expected = computed(size)  # type: ignore[operator]
        assert list(stated) == list(expected)
        for name, figure in expected.items():
            assert stated[name][at] == pytest.approx(figure, rel=0.06), (name, size)


def test_limits_are_those_of_the_settings() -> None:
    assert FIGURES["max_calls"] == settings.MAX_OPEN_CALLS
    assert FIGURES["max_sockets"] == settings.MAX_SOCKETS
