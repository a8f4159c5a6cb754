"""What the shipped proxy notes of requests: the time, but no token, no signature, no code of a
consent."""

from datetime import UTC, datetime, timedelta
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
        "/api/teams/invites/",
        "/api/conversations/shared/",
        "/shared/",
    ],
)
def test_a_request_that_no_process_takes_is_noted_with_its_time_and_without_its_secret(
    tmp_path: Path, path: str
) -> None:
    first = free_port()
    with running_nginx(tmp_path, [first, free_port(but={first})]) as proxy:
        answer = httpx.get(f"{proxy.url}{path}{SECRET}", verify=proxy.tls)
    assert answer.status_code == 502
    log = (tmp_path / "nginx.log").read_text()
    noted, is_query, _ = path.partition("?")
    noted = noted if is_query else f"{noted}-"
    assert f"{noted} 502" in log
    assert SECRET not in log
    [line] = [line for line in log.splitlines() if noted in line]
    assert abs(datetime.now(UTC) - datetime.fromisoformat(line.split()[0])) < timedelta(minutes=1)
