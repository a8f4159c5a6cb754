"""What is taken for a credential, and what is not."""

import pytest

from common.redaction import redact

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl"

SHARE = f"{'01ab' * 8}.{'aB-_' * 10}xyz"


@pytest.mark.parametrize(
    ("line", "redacted"),
    [
        ("GET /ws?token=abc.def&after_seq=3", "GET /ws?token=[redacted]&after_seq=3"),
        ("GET /ws?after_seq=3&TOKEN=abc", "GET /ws?after_seq=3&TOKEN=[redacted]"),
        ("Authorization: Bearer abcdefgh12", "Authorization: Bearer [redacted]"),
        ("{'authorization': 'Basic YWxpY2U6'}", "{'authorization': 'Basic [redacted]'}"),
        ("(b'authorization', b'Bearer abcdefgh')", "(b'authorization', b'Bearer [redacted]')"),
        (f"decoding {JWT} failed", "decoding [redacted] failed"),
        ("key mk_abcdefghijk is wrong", "key mk_[redacted] is wrong"),
        ("refresh_token=abc.def&x=1", "refresh_token=[redacted]&x=1"),
        ("/reset?reset_token=abc", "/reset?reset_token=[redacted]"),
        ('{"refresh_token": "abc", "a": 1}', '{"refresh_token": "[redacted]", "a": 1}'),
        (r"{\"refresh_token\":\"abc\",", r"{\"refresh_token\":\"[redacted]\","),
        ("{'access_token': 'abc'}", "{'access_token': '[redacted]'}"),
        ("postgres://user:pw@host:5432/name", "postgres://user:[redacted]@host:5432/name"),
        ("postgres://user:p@w:2@host/name", "postgres://user:[redacted]@host/name"),
        ("redis://:pw@host:6379/0 failed", "redis://:[redacted]@host:6379/0 failed"),
        ("sk-abcdef123456 is wrong", "sk-[redacted] is wrong"),
        ("(sk-ant-api03-abc_DEF-123)", "(sk-[redacted])"),
        ("provided: sk-pr***********wxyz.", "provided: sk-[redacted]"),
        ("gsk_abcdef123456, xai-abcdef123456", "gsk_[redacted], xai-[redacted]"),
        (f"Service Unavailable: /api/x/{SHARE}", "Service Unavailable: /api/x/[redacted]"),
        ("/files/a.txt?expires=1&signature=aB-_9", "/files/a.txt?expires=1&signature=[redacted]"),
        ("of org-abcdefgh and proj_A1b2C3d4", "of org-[redacted] and proj_[redacted]"),
    ],
)
def test_a_secret_is_redacted_and_the_rest_stays(line: str, redacted: str) -> None:
    assert redact(line) == redacted


@pytest.mark.parametrize(
    "line",
    [
        "tokens=12 bearer of news",
        '{"input_tokens": 12, "max_token": 5}',
        "GET http://127.0.0.1:8000/api/shared/alice@example.com",
        "https://example.com/a:b@c",
        "task-scheduler-one risk_of_failure monkey-patched",
        "key_prefix=abc org_members=3",
        f"/api/images/{'01ab' * 8}.png",
    ],
)
def test_an_ordinary_line_stays(line: str) -> None:
    assert redact(line) == line


@pytest.mark.parametrize(
    "part", ["eyJ-", "eyJa.", "key-", "key_a ", "sk_", "token", "://a:", "a.-", "signature", "0"]
)
@pytest.mark.timeout(10)
def test_a_hostile_line_takes_no_longer_than_its_length(part: str) -> None:
    redact(part * 100_000)
