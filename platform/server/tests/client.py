"""A client with an address of its own, whom the running service limits."""

import re
from itertools import count

import httpx

from server.client_limit import AUTHENTICATION_LIMIT, GENERAL_LIMIT
from server.tests.windows import use_up

LOGIN = "/api/auth/login"
_hosts = count(1)


def new_address() -> str:
    """An address of this machine that nobody has sent from."""
    host = next(_hosts)
    return f"127.0.{1 + host // 250}.{1 + host % 250}"


class Client(httpx.Client):
    """Somebody with an address of their own."""

    def __init__(self, url: str) -> None:
        self.address = new_address()
        transport = httpx.HTTPTransport(local_address=self.address)
        super().__init__(base_url=url, transport=transport, timeout=20)

    def try_to_sign_in(self, **headers: str) -> httpx.Response:
        """A login that fails as cheaply as one can: nothing in it is right."""
        return self.post(LOGIN, json={}, headers=headers)

    def use_up_sign_ins(self, *, but: int = 0) -> None:
        use_up(self.sign_ins, AUTHENTICATION_LIMIT, but=but)

    def use_up_requests(self, *, but: int = 0) -> None:
        use_up(f"general:{self.address}", GENERAL_LIMIT, but=but)

    @property
    def sign_ins(self) -> str:
        return f"authentication:{self.address}"


def assert_refused(response: httpx.Response) -> None:
    assert response.status_code == 429
    assert 1 <= int(response.headers["retry-after"]) <= 60
    if response.request.url.path.startswith("/admin/"):
        assert_for_people(response)
    else:
        assert response.headers["content-type"] == "application/json"
        assert response.json().keys() == {"detail", "code"}
        assert "Retry-After" in response.json()["detail"]
    assert re.fullmatch(r"req_[0-9a-f]{32}", response.headers["x-request-id"])


def assert_for_people(response: httpx.Response) -> None:
    """A sentence with the seconds in it, as a browser shows no headers."""
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.text == (
        "Too many requests came from your address. "
        f"Wait for {response.headers['retry-after']} seconds."
    )
