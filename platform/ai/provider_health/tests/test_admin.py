"""The page of providers in the operators' admin."""

import time
from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.core.cache import cache
from pytest_django import Settings

from ai.provider_health.callers import CallerRules
from ai.provider_health.circuit import Claim, Failed, Rules
from ai.provider_health.exchange import Exchange
from ai.provider_health.models import Provider, read_switches
from ai.provider_health.name import Name
from ai.provider_health.statistics import MINUTE, fields_of
from ai.provider_health.status_cache import FailureNote, StatusCache
from ai.provider_health.store import Store
from ai.providers.config import PROVIDERS, from_environ
from ai.providers.keys import KeyRests, keys_of
from tests.operators import Operator, audit_of, new_operator

RULES = Rules(window=60.0, failures=2, faults=1, pause=60.0, probe_seconds=5.0, open_seconds=60.0)
CALLERS = CallerRules(in_a_row=5, pause=5.0, window=600.0, quota=200, free_quota=20)
NAME = Name("openai", "gpt-6-luna")
KEYS = ["sk-first-secret", "sk-second-secret"]


@pytest.fixture
def operator(db: None) -> Operator:
    cache.clear()
    return new_operator()


@pytest.fixture
def elsewhere(settings: Settings) -> Iterator[StatusCache]:
    """The status cache of another process, which shares it when it is asked to."""
    settings.PROVIDERS = from_environ(
        {"OPENAI_API_KEY": ",".join(KEYS)}, simulated=frozenset(), simulator_url=""
    )
    yield StatusCache(lambda: RULES, lambda: CALLERS)
    forget_all()


def forget_all() -> None:
    store = Store()
    for key in store._redis.scan_iter("health:*"):
        store._redis.delete(key)


def share(status: StatusCache, rests: KeyRests | None = None) -> None:
    exchange = Exchange(status, Store(), rests or KeyRests(), lambda: RULES, lambda: CALLERS)
    exchange._share()


def test_there_is_a_row_for_each_provider(operator: Operator) -> None:
    page = operator.get("health/provider/")
    assert all(f">{name}<" in page for name in PROVIDERS)


def test_a_page_tells_how_a_provider_is(operator: Operator, elsewhere: StatusCache) -> None:
    request_id = uuid4().hex
    elsewhere.fault(NAME, "connect", begun_at=elsewhere.now())
    elsewhere.take(NAME, Claim("probe"))
    elsewhere.take(NAME, Failed("probe", "503"))
    for _ in range(2):
        elsewhere.add_statistics(NAME, fields_of("503", is_failure=True))
    elsewhere.add_statistics(NAME, fields_of("served", is_failure=False, first=0.2, total=3.0))
    elsewhere.note_failure("openai", FailureNote(time.time(), request_id, NAME.model, "503"))
    rests = KeyRests()
    rests.rest(keys_of("openai", KEYS)[1], "quota")
    share(elsewhere, rests)

    page = operator.get("health/provider/openai/change/")

    assert "open: 503; the next probe tells in" in page
    assert "0 s ago" in page
    assert "67%" in page
    assert "503: 2, served: 1" in page
    assert "0.18 s / 0.18 s" in page
    assert request_id in page
    assert "its quota is exhausted" in page
    assert not any(key in page for key in KEYS)
    assert not any(key.fingerprint in page for key in keys_of("openai", KEYS))


def test_an_old_minute_is_in_no_table(operator: Operator, elsewhere: StatusCache) -> None:
    elsewhere.hear_clock(time.time() - 16 * MINUTE)
    elsewhere.add_statistics(NAME, fields_of("599", is_failure=True))
    share(elsewhere)
    assert "599" not in operator.get("health/provider/openai/change/")


def test_a_provider_is_switched_off_and_on_with_a_reason(operator: Operator) -> None:
    groq = Provider.objects.get(pk="groq")
    answer = operator.post("health/provider/groq/switch_off/", reason="It leaks prompts.")
    assert answer.status_code == 302
    assert read_switches() == (["groq"], [])
    assert ">off<" in operator.get("health/provider/groq/change/").replace("\n", "").replace(
        " ", ""
    )
    operator.post("health/provider/groq/switch_on/", reason="It does not any more.")
    assert read_switches() == ([], [])
    assert audit_of(groq) == [
        "Switched on. Reason: It does not any more.",
        "Switched off. Reason: It leaks prompts.",
    ]


def test_one_model_is_switched_off_and_on(operator: Operator) -> None:
    page = "health/provider/openai"
    operator.post(f"{page}/switch_model_off/", model=NAME.model, reason="Wrong answers.")
    assert read_switches() == ([], [NAME])
    assert NAME.model in operator.get("health/provider/")
    operator.post(f"{page}/switch_model_on/", model=NAME.model, reason="Mended.")
    assert read_switches() == ([], [])
    assert audit_of(Provider.objects.get(pk="openai"))[0] == (
        f"Switched on: {NAME.model}. Reason: Mended."
    )


def test_a_model_of_another_provider_is_not_switched(operator: Operator) -> None:
    answer = operator.post(
        "health/provider/groq/switch_model_off/", model=NAME.model, reason="A slip."
    )
    assert answer.status_code == 200
    assert read_switches() == ([], [])


def test_without_a_reason_nothing_is_switched(operator: Operator) -> None:
    assert operator.post("health/provider/groq/switch_off/").status_code == 200
    assert read_switches() == ([], [])


def test_who_may_only_look_switches_nothing(db: None) -> None:
    support = new_operator("health.view_provider")
    assert "groq" in support.get("health/provider/")
    assert "switch_off" not in support.get("health/provider/groq/change/")
    answer = support.post("health/provider/groq/switch_off/", reason="I may not.")
    assert (answer.status_code, read_switches()) == (403, ([], []))


def test_who_has_another_right_sees_nothing(db: None) -> None:
    support = new_operator("billing.view_charge")
    assert not support.is_allowed("health/provider/")


def test_without_redis_the_page_says_so(operator: Operator, settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    assert "Redis is away" in operator.get("health/provider/openai/change/")
