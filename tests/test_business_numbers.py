"""Numbers that SQL and Python both say are the same in both."""

import re

import pytest

from billing.selectors import free_budget
from billing.types import FREE_MESSAGES, FREE_WINDOW_HOURS
from common.idempotency import KEY_HOURS
from common.money import NUSD_PER_CENT
from devserver.paths import ROOT
from tests.documents import rows, section
from work.leases.keeper import HEARTBEAT_SECONDS, LEASE_SECONDS

FILES = [
    *ROOT.glob("*/sql/*.sql"),
    *ROOT.glob("platform/**/sql/*.sql"),
    ROOT / "billing" / "services" / "sweeps.py",
]
SQL = "\n".join(path.read_text() for path in FILES)


@pytest.mark.parametrize(
    ("said_as", "number"),
    [
        (r"f\.used < (\d+)", FREE_MESSAGES),
        (r"f\.window_start (?:<= t -|\+) interval '(\d+) hours'", FREE_WINDOW_HOURS),
        (r"afford < (\d+)", NUSD_PER_CENT),
        (r"created_at <?>?=? (?:money_)?now\(\) - interval '(\d+) hours'", KEY_HOURS),
        (r"money_now\(\) \+ interval '(\d+) seconds'", LEASE_SECONDS),
    ],
)
def test_a_number_of_the_sql_functions_is_that_of_the_code(said_as: str, number: float) -> None:
    said = re.findall(said_as, SQL)
    assert said, f"no SQL function says {said_as}"
    assert {float(each) for each in said} == {number}, said_as


def test_a_process_is_given_up_after_the_same_time_wherever_that_is_asked() -> None:
    doubted_for = {int(each) for each in re.findall(r"doubted_at < .* '(\d+) seconds'", SQL)}
    assert len(doubted_for) == 1
    assert doubted_for.pop() < HEARTBEAT_SECONDS


def test_the_parts_of_the_free_budget_are_documented_as_they_are() -> None:
    words = {5: "a fifth", 20: "a twentieth"}
    table = rows(section(ROOT / "docs" / "configuration.md", "Running"))
    [stated] = [row[2] for row in table if row[0] == "FREE_UNVERIFIED_PERCENT"]
    assert f"{words[free_budget.NETWORK_PART]} of this share" in stated
    assert f"one mailbox {words[free_budget.MAILBOX_PART]}" in stated
