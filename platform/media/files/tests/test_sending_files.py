"""Uploads on their way to the running service: long, slow, broken off, and of strangers."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import httpx
import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser

from common.multipart import MAX_FILE_BYTES
from media.files.models import Upload
from media.files.tests.forms import END, MULTIPART, URL, bytes_of, part
from server.file_bodies import MAX_AT_ONCE
from tests.personas import authorization, new_user
from tests.service import WEB_APP, Web

MEGABYTE = 1_000_000
HEAD, TAIL = part('name="file"; filename="a.bin"', b"").removesuffix(b"\r\n"), b"\r\n" + END


@pytest.fixture
def user(committed: None) -> AbstractBaseUser:
    return new_user("alice")


@pytest.fixture
def http(web: Web) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=web.url, timeout=60) as http:
        yield http


def post(
    http: httpx.Client, content: bytes, user: AbstractBaseUser | None, **headers: str
) -> httpx.Response:
    headers |= authorization(user) if user else {}
    return http.post(URL, files={"file": ("a.bin", content)}, headers=headers)


class Slow:
    """A client that sends a part of its file and then waits. It is there once the service reads it,
    or has refused it."""

    def __init__(self, web: Web, user: AbstractBaseUser) -> None:
        self._socket = socket.create_connection(("127.0.0.1", web.port), timeout=20)
        fields = {
            "Host": "127.0.0.1",
            "Content-Type": MULTIPART,
            "Content-Length": str(len(HEAD) + MEGABYTE + len(TAIL)),
            "Expect": "100-continue",
            **authorization(user),
        }
        lines = [f"POST {URL} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode() + HEAD + bytes(1000))
        self._first = self._socket.recv(4096)

    def go_on(self) -> int:
        """The status of the answer, when the rest is sent."""
        self._socket.sendall(bytes(MEGABYTE - 1000) + TAIL)
        return self.status()

    def status(self) -> int:
        """That of an answer that comes before."""
        _, is_read, answer = self._first.rpartition(b"100 Continue\r\n\r\n")
        return int((self._socket.recv(4096) if is_read and not answer else answer).split()[1])

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def slow(web: Web) -> Iterator[Callable[[AbstractBaseUser], Slow]]:
    with ExitStack() as clients:

        def begin(user: AbstractBaseUser) -> Slow:
            client = Slow(web, user)
            clients.callback(client.close)
            return client

        yield begin


def test_25_mb_arrive_whole(user: AbstractBaseUser, http: httpx.Client) -> None:
    content = (bytes(range(256)) * (MAX_FILE_BYTES // 256 + 1))[:MAX_FILE_BYTES]
    response = post(http, content, user)
    assert response.status_code == 201
    upload = Upload.objects.get(pk=response.json()["id"])
    assert upload.size == MAX_FILE_BYTES
    assert bytes_of(upload) == content


@pytest.mark.parametrize("more", [1, MEGABYTE])
def test_more_is_refused(user: AbstractBaseUser, http: httpx.Client, more: int) -> None:
    response = post(http, bytes(MAX_FILE_BYTES + more), user, Origin=WEB_APP)
    assert response.status_code == 413
    assert response.json() == {
        "detail": "A file has at most 25 MB, which are 25,000,000 bytes.",
        "code": "payload_too_large",
    }
    assert response.headers["access-control-allow-origin"] == WEB_APP
    assert not Upload.objects.filter(account_id=user.pk).exists()


def test_a_stranger_is_refused(committed: None, http: httpx.Client) -> None:
    """Before the body is read: tests/drill_bodies_that_never_end.py."""
    response = post(http, bytes(3 * MEGABYTE), None)
    assert response.status_code == 401
    assert response.json()["code"] == "not_authenticated"
    assert response.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("authorization", ["Bearer x", "Bearer é".encode(), "Basic YTpi", "Bearer"])
def test_credentials_that_are_none_are_refused(
    committed: None, http: httpx.Client, authorization: str | bytes
) -> None:
    headers = {"Authorization": authorization, "Content-Type": MULTIPART}
    response = http.post(URL, content=HEAD + TAIL, headers=headers)  # type: ignore[arg-type]
    assert response.status_code == 401


def test_a_revoked_token_and_a_closed_account_are_refused(
    user: AbstractBaseUser, http: httpx.Client
) -> None:
    headers = authorization(user)
    get_user_model().objects.filter(pk=user.pk).update(token_version=2)
    assert http.post(URL, files={"file": b"x"}, headers=headers).status_code == 401
    get_user_model().objects.filter(pk=user.pk).update(token_version=1, status="suspended")
    response = http.post(URL, files={"file": b"x"}, headers=headers)
    assert (response.status_code, response.json()["code"]) == (403, "account_disabled")


def test_only_a_file_that_is_sent_may_be_long(user: AbstractBaseUser, http: httpx.Client) -> None:
    long = bytes(2 * MEGABYTE + 1)
    for method, path in (("PUT", URL), ("POST", f"{URL}/x"), ("POST", "/api/spaces")):
        response = http.request(method, path, content=long, headers=authorization(user))
        assert response.status_code == 413
        assert response.json()["detail"] == "The body is larger than 2 MB."


def test_a_body_of_unknown_length_is_refused(user: AbstractBaseUser, http: httpx.Client) -> None:
    headers = authorization(user) | {"Content-Type": MULTIPART}
    response = http.post(URL, content=iter([HEAD, b"x", TAIL]), headers=headers)
    assert response.status_code == 411


def test_one_user_sends_so_many_at_a_time(
    user: AbstractBaseUser, http: httpx.Client, slow: Callable[[AbstractBaseUser], Slow]
) -> None:
    clients = [slow(user) for _ in range(MAX_AT_ONCE)]
    response = wait_for(429, lambda: post(http, b"x", user))
    assert response.headers["retry-after"] == "1"
    assert post(http, b"x", new_user("bob")).status_code == 201
    assert [client.go_on() for client in clients] == [201] * MAX_AT_ONCE
    assert wait_for(201, lambda: post(http, b"x", user))


def test_who_hangs_up_leaves_nothing_and_gives_the_place_back(
    user: AbstractBaseUser, http: httpx.Client, slow: Callable[[AbstractBaseUser], Slow]
) -> None:
    clients = [slow(user) for _ in range(MAX_AT_ONCE)]
    wait_for(429, lambda: post(http, b"x", user))
    for client in clients:
        client.close()
    wait_for(201, lambda: post(http, b"x", user))
    assert not Upload.objects.filter(account_id=user.pk, size__gt=1).exists()


def test_slow_senders_keep_nobody_from_the_database(
    user: AbstractBaseUser, http: httpx.Client, slow: Callable[[AbstractBaseUser], Slow]
) -> None:
    """More of them than the pool has connections."""
    size = settings.DATABASES["default"]["OPTIONS"]["pool"]["max_size"] + 4
    people = [user, *(new_user("bob") for _ in range(size // MAX_AT_ONCE))]
    clients = [slow(people[number // MAX_AT_ONCE]) for number in range(size)]
    time.sleep(0.5)
    answer = http.get(URL, headers=authorization(user), timeout=5)
    assert answer.status_code == 200
    assert {client.go_on() for client in clients} == {201}


def wait_for(status: int, ask: Callable[[], httpx.Response]) -> httpx.Response:
    """The first answer with that status: what goes on in the service is seen a little later."""
    for _ in range(100):
        response = ask()
        if response.status_code == status:
            return response
        time.sleep(0.05)
    raise AssertionError(f"{response.status_code} instead of {status}")
