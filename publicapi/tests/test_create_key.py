"""POST /api/keys"""

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts import keys
from accounts.errors import TooManyKeys
from accounts.models import ApiKey
from accounts.services import api_keys
from billing.services.balance import change_plan
from billing.tests.bank import other_connection
from conftest import Persona
from tests.locks import wait_until_blocked
from tests.personas import new_user

URL = "/api/keys"


def create(persona: Persona, **body: Any) -> Any:
    return persona.client.post(URL, {"name": "laptop", **body}, format="json")


def create_with_cap(persona: Persona, number: str) -> Any:
    """With a cap as it is written in JSON."""
    body = f'{{"name": "laptop", "monthly_spend_cap_usd": {number}}}'
    return persona.client.post(URL, body, content_type="application/json")


def test_it_answers_the_raw_key_and_its_record(alice_on_max: Persona) -> None:
    response = create(alice_on_max, monthly_spend_cap_usd=12.5, allowed_models=["gpt-6-luna"])
    assert response.status_code == 201
    body = response.json()
    assert keys.well_formed(body["key"])
    assert body["hint"] == body["key"][-4:]
    assert uuid.UUID(body["id"]).version == 7
    assert body["created_at"].endswith("Z")
    assert {name: body[name] for name in body.keys() - {"id", "key", "hint", "created_at"}} == {
        "name": "laptop",
        "monthly_spend_cap_usd": 12.5,
        "allowed_models": ["gpt-6-luna"],
        "spent_this_month_usd": 0,
        "last_used_at": None,
        "revoked_at": None,
    }


def test_only_a_digest_and_the_last_four_characters_are_stored(alice_on_max: Persona) -> None:
    raw = create(alice_on_max).json()["key"]
    [row] = ApiKey.objects.filter(account=alice_on_max.user).values()
    assert bytes(row["digest"]) == keys.digest(raw)
    stored = [str(value) for name, value in row.items() if name != "digest"]
    assert not any(raw[3:-4] in value for value in stored)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("two\r\nlines", "two lines"), ("a\tb\x1bc", "a bc"), ("\u202egpj.exe", "gpj.exe")],
)
def test_a_name_is_one_line_without_what_is_not_seen(
    alice_on_max: Persona, sent: str, kept: str
) -> None:
    assert create(alice_on_max, name=sent).json()["name"] == kept


@pytest.mark.parametrize("name", ["\n", " \t ", "\u200b", "\x1b"])
def test_a_name_of_which_nothing_is_seen_is_refused(alice_on_max: Persona, name: str) -> None:
    response = create(alice_on_max, name=name)
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == ["name"]


def test_without_a_cap_and_a_list_the_key_has_none(alice_on_max: Persona) -> None:
    body = create(alice_on_max).json()
    assert body["monthly_spend_cap_usd"] is None
    assert body["allowed_models"] == []


@pytest.mark.parametrize("cap", [0, 0.01, 0.29, 1, 19.99, 100_000, 100_000.0, None])
def test_a_cap_in_whole_cents_is_taken(alice_on_max: Persona, cap: float | None) -> None:
    response = create(alice_on_max, monthly_spend_cap_usd=cap)
    assert response.status_code == 201
    assert response.json()["monthly_spend_cap_usd"] == cap


@pytest.mark.parametrize(
    "cap",
    [
        0.001,
        19.999,
        1e-300,
        -0.01,
        -1,
        100_000.01,
        100_001,
        1e308,
        10**99,
        True,
        False,
        "10",
        "ten",
        "",
        [],
        [10],
        {"usd": 10},
    ],
)
def test_any_other_cap_is_refused(alice_on_max: Persona, cap: Any) -> None:
    response = create(alice_on_max, monthly_spend_cap_usd=cap)
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == ["monthly_spend_cap_usd"]
    assert not ApiKey.objects.filter(account=alice_on_max.user).exists()


@pytest.mark.parametrize(
    ("number", "status"), [("NaN", 400), ("Infinity", 400), ("1e400", 422), ("-1e400", 422)]
)
def test_a_cap_that_is_no_finite_number_is_refused(
    alice_on_max: Persona, number: str, status: int
) -> None:
    assert create_with_cap(alice_on_max, number).status_code == status


@pytest.mark.parametrize("number", ["10.00", "1e1", "0.1E+2", "10." + "0" * 400])
def test_a_cap_in_whole_cents_is_taken_however_it_is_written(
    alice_on_max: Persona, number: str
) -> None:
    response = create_with_cap(alice_on_max, number)
    assert (response.status_code, response.json()["monthly_spend_cap_usd"]) == (201, 10)


@pytest.mark.parametrize(
    "number",
    ["10.0000000000000000001", f"10.{'0' * 40}1", "1e-400", "1e-2000000", f"1e-{'9' * 30}"],
)
def test_a_cap_is_read_to_the_last_digit(alice_on_max: Persona, number: str) -> None:
    """As floats these would be whole cents."""
    response = create_with_cap(alice_on_max, number)
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == ["monthly_spend_cap_usd"]
    assert not ApiKey.objects.filter(account=alice_on_max.user).exists()


def test_an_alias_is_stored_as_the_current_id_and_only_once(alice_on_max: Persona) -> None:
    sent = ["gpt-6-luna", "claude-opus-5-5", "gpt-5", "gpt-5.6-sol", "gpt-6-luna"]
    body = create(alice_on_max, allowed_models=sent).json()
    assert body["allowed_models"] == ["gpt-6-luna", "claude-opus-5-5", "gpt-6.1-sol"]


@pytest.mark.parametrize(
    "models",
    [
        ["no-such-model"],
        ["gpt-6-luna", ""],
        [5],
        [None],
        [["gpt-6-luna"]],
        "gpt-6-luna",
        {"a": 1},
        None,
        ["gpt-6-luna"] * 65,
    ],
)
def test_any_other_list_of_models_is_refused(alice_on_max: Persona, models: Any) -> None:
    response = create(alice_on_max, allowed_models=models)
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"][0] == "allowed_models"


@pytest.mark.parametrize("model", ["gpt-transcribe", "nova-3"])
def test_a_model_that_v1_does_not_have_is_refused_by_name(
    alice_on_max: Persona, model: str
) -> None:
    response = create(alice_on_max, allowed_models=["gpt-6-luna", model])
    assert response.status_code == 422
    assert response.json()["detail"] == f"allowed_models: '{model}' is not offered under /v1."


def test_a_list_that_is_too_long_is_not_looked_into(alice_on_max: Persona) -> None:
    response = create(alice_on_max, allowed_models=[5] * 100_000)
    assert response.json()["errors"] == [
        {"loc": ["allowed_models"], "msg": "At most 64 can be listed."}
    ]


def test_a_list_of_64_models_is_taken(alice_on_max: Persona) -> None:
    assert create(alice_on_max, allowed_models=["gpt-6-luna"] * 64).status_code == 201


@pytest.mark.parametrize("name", ["", "   ", "n" * 101, None, 5, ["laptop"]])
def test_a_name_has_1_to_100_characters(alice_on_max: Persona, name: Any) -> None:
    response = create(alice_on_max, name=name)
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == ["name"]


def test_a_name_of_100_characters_is_taken(alice_on_max: Persona) -> None:
    assert create(alice_on_max, name="ñ" * 100).status_code == 201


def test_a_name_without_nul(alice_on_max: Persona) -> None:
    assert create(alice_on_max, name="lap\0top").status_code == 400


def test_it_refuses_a_sixth_active_key(alice_on_max: Persona) -> None:
    ids = [create(alice_on_max).json()["id"] for _ in range(5)]
    response = create(alice_on_max)
    assert response.status_code == 409
    alice_on_max.client.delete(f"{URL}/{ids[0]}")
    assert create(alice_on_max).status_code == 201


def test_one_persons_keys_do_not_count_for_another(alice_on_max: Persona, bob: Persona) -> None:
    change_plan(account=bob.user, plan="max")
    for _ in range(5):
        create(alice_on_max)
    assert create(bob).status_code == 201


def test_six_creations_at_once_leave_five_active_keys(committed: None) -> None:
    alice = new_user("alice", plan="max")

    def once() -> bool:
        try:
            api_keys.create_key(user=alice, name="laptop")
        except TooManyKeys:
            return False
        finally:
            connection.close()
        return True

    with other_connection() as first, ThreadPoolExecutor(6) as pool:
        first.execute("BEGIN")
        first.execute("SELECT FROM accounts_user WHERE id = %s FOR NO KEY UPDATE", (alice.pk,))
        made = [pool.submit(once) for _ in range(6)]
        wait_until_blocked(first, waiters=6)
        first.execute("COMMIT")
    assert [each.result() for each in made].count(True) == 5
    assert ApiKey.objects.owned_by(alice).active().count() == 5


@pytest.mark.parametrize("plan", ["free", "pro"])
def test_a_plan_without_the_api_is_refused(alice: Persona, plan: str) -> None:
    change_plan(account=alice.user, plan=plan, forced=True)
    response = create(alice)
    assert response.status_code == 403
    assert "plan" in response.json()["detail"]


@pytest.mark.django_db
def test_it_needs_a_token(visitor: APIClient) -> None:
    assert visitor.post(URL, {"name": "laptop"}, format="json").status_code == 401


def test_an_api_key_does_not_open_it(alice_on_max: Persona, visitor: APIClient) -> None:
    raw = create(alice_on_max).json()["key"]
    visitor.credentials(HTTP_AUTHORIZATION=f"Bearer {raw}")
    assert visitor.post(URL, {"name": "another"}, format="json").status_code == 401
