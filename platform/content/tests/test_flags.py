"""GET /api/flags"""

import time
from typing import Any

import httpx
import pytest
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from conftest import Persona
from content.flags import FLAGS
from content.models import FlagRecord
from content.selectors import flags as selectors
from content.services import flags
from tests.personas import authorization, new_user
from tests.service import Web

URL = "/api/flags"


def flags_of(persona: Persona) -> dict[str, bool]:
    selectors.reset()  # seconds later
    answer = persona.client.get(URL)
    assert answer.status_code == 200
    found: dict[str, bool] = answer.json()["flags"]
    return found


def test_it_answers_every_flag_with_its_default(alice: Persona) -> None:
    assert flags_of(alice) == {name: flag.default for name, flag in FLAGS.items()}


def test_it_answers_what_is_set_for_the_caller(
    alice: Persona, bob: Persona, sharing: FlagRecord
) -> None:
    flags.set_for_user(flag=sharing, user_id=alice.user.pk, is_on=False)
    assert flags_of(alice)["public_sharing"] is False
    assert flags_of(bob)["public_sharing"] is True


def test_one_flag_can_be_asked_for_by_its_name(alice: Persona) -> None:
    assert alice.client.get(f"{URL}?name=sign_up").json() == {"flags": {"sign_up": True}}


@pytest.mark.parametrize(
    "name", ["nothing", "", "SIGN_UP", "sign_up,public_sharing", "%00", "../x"]
)
def test_a_name_that_no_flag_has_is_refused(alice: Persona, name: str) -> None:
    answer = alice.client.get(f"{URL}?name={name}")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["name"]


def test_a_flag_that_is_not_defined_any_more_is_not_answered(alice: Persona) -> None:
    stale = FlagRecord.objects.create(name="gone")
    flags.set_for_everyone(flag=stale, is_on=True)
    assert "gone" not in flags_of(alice)
    assert alice.client.get(f"{URL}?name=gone").status_code == 422


def test_it_is_for_signed_in_users(visitor: APIClient) -> None:
    assert visitor.get(URL).status_code == 401


def test_other_methods_are_refused(alice: Persona) -> None:
    assert alice.client.post(URL, {"sign_up": False}, format="json").status_code == 405


def test_flags_cost_no_query_beside_the_one_that_finds_the_user(
    alice: Persona, sharing: FlagRecord, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    flags.set_for_plan(flag=sharing, plan="free", is_on=False)
    flags_of(alice)
    with django_assert_num_queries(1):
        assert alice.client.get(URL).json()["flags"]["public_sharing"] is False


def test_the_first_look_at_what_is_set_costs_one_query(
    alice: Persona, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    selectors.reset()
    with django_assert_num_queries(2):
        alice.client.get(URL)


def test_unchanged_flags_are_not_sent_again(alice: Persona, sharing: FlagRecord) -> None:
    tag = alice.client.get(URL)["ETag"]
    assert alice.client.get(URL, headers={"If-None-Match": tag}).status_code == 304
    flags.set_for_everyone(flag=sharing, is_on=False)
    selectors.reset()
    assert alice.client.get(URL, headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.usefixtures("committed")
def test_another_process_follows_a_change_within_seconds(web: Web) -> None:
    headers = authorization(new_user("alice"))
    record = FlagRecord.objects.get(name="public_sharing")

    def is_on(http: httpx.Client) -> Any:
        return http.get(URL, headers=headers).json()["flags"]["public_sharing"]

    with httpx.Client(base_url=web.url) as http:
        assert is_on(http) is True
        flags.set_for_everyone(flag=record, is_on=False)
        try:
            deadline = time.monotonic() + 15
            while is_on(http):
                assert time.monotonic() < deadline
                time.sleep(0.1)
        finally:
            flags.set_for_everyone(flag=record, is_on=None)
        while not is_on(http):  # so that the tests after this one find it on
            assert time.monotonic() < deadline + 15
            time.sleep(0.1)
