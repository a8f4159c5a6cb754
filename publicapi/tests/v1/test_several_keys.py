"""A service with several keys of a provider."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pytest_django import DjangoDbBlocker

from ai.providers.keys import keys_of
from publicapi.tests.v1 import wire
from publicapi.tests.v1.customer import new_customer
from publicapi.tests.v1.errors import refusal
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.service import running_web


class Keys:
    """Two keys, which the simulator lets die."""

    def __init__(self, simulator: RunningSimulator) -> None:
        self.values = [f"sk-{uuid4().hex}" for _ in range(2)]
        self._simulator = simulator

    @property
    def environment(self) -> dict[str, str]:
        return {
            "OPENAI_API_KEY": ",".join(self.values),
            "DJANGO_SETTINGS_MODULE": "tests.keyed_settings",
        }

    def let_die(self, index: int) -> None:
        self._simulator.let_key_die(self.values[index])

    def used(self) -> list[int]:
        """The keys of all calls, in their order."""
        names = [key.fingerprint for key in keys_of("openai", self.values)]
        return [
            names.index(each["key"]) for each in self._simulator.calls() if each["key"] in names
        ]


@pytest.fixture
def keys(simulator: RunningSimulator) -> Iterator[Keys]:
    yield Keys(simulator)
    simulator.revive_keys()


def test_a_dead_key_costs_no_call_and_is_not_tried_by_other_processes(
    committed: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
    keys: Keys,
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    with (
        running_web(simulator, log=str(log), **keys.environment) as first,
        running_web(simulator, **keys.environment) as second,
        wire.client(first.url) as http,
        wire.client(second.url) as other,
    ):
        alice = new_customer(http, first, simulator)
        bob = new_customer(other, second, simulator, name="bob")
        keys.let_die(0)
        assert alice.chat().status_code == 200
        assert alice.chat(stream=True).status_code == 200
        assert keys.used() == [0, 1, 1]
        assert [charge.status for charge in alice.charges()] == ["settled"] * 2
        # The other one hears of it.
        wait_for(lambda: (bob.chat().status_code, keys.used()[-2:]) == (200, [1, 1]))

        keys.let_die(1)
        refusal(alice.chat(), 502, "upstream_error")
        simulator.revive_keys()
        assert alice.chat().status_code == 200
    written = log.read_text()
    assert "provider.key_rests" in written
    assert not any(key in written for key in keys.values)
