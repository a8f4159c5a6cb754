"""GET /api/auth/sessions, DELETE /api/auth/sessions/{id}, POST /api/auth/sessions/end-others"""

from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from accounts.services import sessions
from conftest import Persona

pytestmark = pytest.mark.django_db

URL = "/api/auth/sessions"
NOBODYS = "0199a7c0-0000-7000-8000-000000000000"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:149.0) Gecko/20100101 Firefox/149.0"


def sign_in(persona: Persona, **headers: Any) -> APIClient:
    """Once more, elsewhere."""
    body = {"email": persona.user.email, "password": persona.password}
    answer = APIClient().post("/api/auth/login", body, format="json", **headers)
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {answer.json()['access_token']}")


def list_of(client: APIClient) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.get(URL).json()
    return rows


def current_of(client: APIClient) -> str:
    [row] = [row for row in list_of(client) if row["current"]]
    return str(row["id"])


def is_live(client: APIClient) -> bool:
    return bool(client.get("/api/auth/me").status_code == 200)


def test_a_user_sees_where_they_are_signed_in(alice: Persona, bob: Persona) -> None:
    laptop = sign_in(alice, HTTP_USER_AGENT=FIREFOX, REMOTE_ADDR="192.0.2.7")
    new, old = list_of(laptop)
    assert new.keys() == {"id", "current", "client", "ip", "created_at", "last_used_at"}
    assert (new["client"], new["ip"]) == ("Firefox on Linux", "192.0.2.7")
    assert (new["current"], old["current"]) == (True, False)
    assert [row["current"] for row in list_of(alice.client)] == [False, True]


def test_a_refresh_brings_the_session_up_to_date(alice: Persona) -> None:
    [before] = list_of(alice.client)
    body = {"refresh_token": alice.signed_in.refresh_token}
    elsewhere: Any = {"HTTP_USER_AGENT": "curl/8.5.0", "REMOTE_ADDR": "2001:db8::1"}
    APIClient().post("/api/auth/refresh", body, format="json", **elsewhere)
    [after] = list_of(alice.client)
    assert (after["client"], after["ip"]) == ("curl/8.5.0", "2001:db8::/64")
    assert (after["id"], after["created_at"]) == (before["id"], before["created_at"])
    assert after["last_used_at"] > before["last_used_at"]


def test_a_request_finds_user_and_session_in_one_statement_and_writes_nothing(
    alice: Persona, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1) as statements:
        assert is_live(alice.client)
    assert all(each["sql"].lstrip().startswith("SELECT") for each in statements)


def test_the_list_is_in_pages(alice: Persona) -> None:
    laptop = sign_in(alice)
    answer = laptop.get(f"{URL}?limit=1")
    assert [row["id"] for row in answer.json()] == [current_of(laptop)]
    [older] = laptop.get(answer["Link"].split(">")[0][1:]).json()
    assert older["id"] == current_of(alice.client)


def test_ending_one_ends_its_tokens_and_no_others(alice: Persona, bob: Persona) -> None:
    laptop = sign_in(alice)
    assert alice.client.delete(f"{URL}/{current_of(laptop)}").status_code == 204
    assert not is_live(laptop)
    assert is_live(alice.client)
    assert is_live(bob.client)
    assert [row["current"] for row in list_of(alice.client)] == [True]


def test_ending_one_ends_its_refresh_token(alice: Persona) -> None:
    laptop = sign_in(alice)
    laptop.delete(f"{URL}/{current_of(alice.client)}")
    body = {"refresh_token": alice.signed_in.refresh_token}
    assert APIClient().post("/api/auth/refresh", body, format="json").status_code == 401


def test_ending_the_current_one_is_signing_out_here_alone(alice: Persona) -> None:
    laptop = sign_in(alice)
    assert laptop.delete(f"{URL}/{current_of(laptop)}").status_code == 204
    assert not is_live(laptop)
    assert is_live(alice.client)


def test_others_sessions_missing_and_ended_ones_are_not_told_apart(
    alice: Persona, bob: Persona
) -> None:
    ended = current_of(sign_in(alice))
    alice.client.delete(f"{URL}/{ended}")
    answers = [
        alice.client.delete(f"{URL}/{session_id}")
        for session_id in (current_of(bob.client), uuid4(), ended)
    ]
    assert [answer.status_code for answer in answers] == [404] * 3
    assert len({answer.content for answer in answers}) == 1
    assert is_live(bob.client)


def test_an_id_that_is_none_is_404(alice: Persona) -> None:
    assert alice.client.delete(f"{URL}/current").status_code == 404


def test_ending_all_others_leaves_the_current_one(alice: Persona, bob: Persona) -> None:
    phone, laptop = sign_in(alice), sign_in(alice)
    assert laptop.post(f"{URL}/end-others").status_code == 204
    assert not is_live(phone)
    assert not is_live(alice.client)
    assert is_live(laptop)
    assert is_live(bob.client)
    assert laptop.post(f"{URL}/end-others").status_code == 204


@pytest.mark.parametrize(
    ("method", "path"), [("get", ""), ("post", "/end-others"), ("delete", f"/{NOBODYS}")]
)
def test_none_of_it_goes_without_a_token(visitor: APIClient, method: str, path: str) -> None:
    assert visitor.generic(method.upper(), f"{URL}{path}").status_code == 401


def test_the_session_that_gives_way_to_a_fifty_first_loses_its_access_token(
    alice: Persona,
) -> None:
    for _ in range(sessions.MAX_SESSIONS):
        sessions.open_session(alice.user)
    assert not is_live(alice.client)
