"""What the shipped proxy notes of requests: no token, no signature, no code of a consent."""

from pathlib import Path

import httpx
import pytest

from devserver.ports import free_port
from tests.nginx import needs_nginx, running_nginx

SECRET = "only-for-the-service"

pytestmark = needs_nginx


@pytest.mark.parametrize(
    "path",
    [
        "/api/ws?token=",
        "/api/council/ws/1?token=",
        "/api/project/ws/1?token=",
        "/api/files/1?signature=",
        "/api/connectors/github/callback?code=",
    ],
)
def test_a_request_that_no_process_takes_is_noted_without_its_query(
    tmp_path: Path, path: str
) -> None:
    first = free_port()
    with running_nginx(tmp_path, [first, free_port(but={first})]) as proxy:
        answer = httpx.get(f"{proxy.url}{path}{SECRET}", verify=proxy.tls)
    assert answer.status_code == 502
    log = (tmp_path / "nginx.log").read_text()
    noted, _, _ = path.partition("?")
    assert f"{noted} 502" in log
    assert SECRET not in log
