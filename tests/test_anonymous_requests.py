"""Requests without an access token wait for each other, and signed-in ones do not wait for them."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest

from accounts.authentication import is_signed_in
from conversations.selectors.sharing import share_token
from conversations.services import sharing
from conversations.tests.rows import talk
from tests.locks import wait_until_blocked
from tests.personas import authorization, new_user
from tests.service import Web, database_url


@pytest.mark.usefixtures("committed")
def test_of_one_address_they_come_one_at_a_time(web: Web) -> None:
    alice = new_user("alice")
    conversation = talk(alice, "Hello")
    share, _ = sharing.share(user=alice, conversation_id=conversation.pk)
    token = share_token(share)
    with httpx.Client(base_url=web.url, timeout=20) as http, ThreadPoolExecutor(2) as threads:
        with psycopg.connect(database_url()) as holder:
            holder.execute("LOCK TABLE conversations_share IN ACCESS EXCLUSIVE MODE")
            first = threads.submit(http.get, f"/api/conversations/shared/{token}")
            wait_until_blocked(holder)
            second = threads.submit(http.get, "/api/nothing")
            signed_in = http.get("/api/users/me", headers=authorization(alice))
            assert signed_in.status_code == 200
            assert not second.done()
        assert first.result().status_code == 200
        assert second.result().status_code == 404


@pytest.mark.parametrize(
    "header",
    [None, b"Bearer eyJhbGciOiJIUzI1NiJ9.e30.x", b"Basic YTpi"],
    ids=["none", "forged", "another scheme"],
)
def test_what_is_no_access_token_of_ours_is_anonymous(header: bytes | None) -> None:
    headers = [] if header is None else [(b"authorization", header)]
    assert not is_signed_in(headers)
