"""Codes of an authenticator app, and the encryption of their secrets."""

import time
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts import totp
from common.encryption import Unreadable
from common.ids import uuid7

# RFC 6238, appendix B, of which six digits are used.
RFC_SECRET = b"12345678901234567890"


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
        (20000000000, "353130"),
    ],
)
def test_codes_are_those_of_the_standard(seconds: int, code: str) -> None:
    assert totp.code_at(RFC_SECRET, seconds) == code
    assert list(totp.steps_of(RFC_SECRET, code, seconds)) == [seconds // 30]


@given(st.integers(min_value=100_000, max_value=4_000_000_000), st.integers(-90, 90))
def test_a_clock_may_be_a_step_wrong_and_no_more(now: int, wrong_by: int) -> None:
    secret = totp.new_secret()
    code = totp.code_at(secret, now + wrong_by)
    step = (now + wrong_by) // 30
    is_near = abs(step - now // 30) <= 1
    assert (step in totp.steps_of(secret, code, now)) is is_near


@pytest.mark.parametrize("code", [" 287 082 ", "287-082"])
def test_a_code_may_be_typed_in_groups(code: str) -> None:
    assert list(totp.steps_of(RFC_SECRET, code, 59)) == [1]


@given(st.text(max_size=80))
def test_any_other_text_is_no_code(text: str) -> None:
    assert list(totp.steps_of(RFC_SECRET, text.replace("0", "x"), 1111111109)) == []


def test_the_address_of_the_qr_code_says_all_that_an_app_needs() -> None:
    uri = urlsplit(totp.provisioning_uri(RFC_SECRET, "alice@example.com"))
    assert (uri.scheme, uri.netloc) == ("otpauth", "totp")
    query = parse_qs(uri.query)
    assert query["secret"] == [totp.written(RFC_SECRET).replace("-", "")]
    assert query["period"] == ["30"]


def test_recovery_codes_are_ten_of_eighty_bits() -> None:
    codes = totp.new_recovery_codes()
    assert len(set(codes)) == 10
    assert all(len(code.replace("-", "")) == 16 for code in codes)


def test_a_sealed_secret_is_read_for_its_user_alone() -> None:
    secret, alice, bob = totp.new_secret(), uuid7(), uuid7()
    sealed = totp.seal(secret, alice)
    assert totp.unseal(sealed, alice) == secret
    for other in (sealed[:-4] + "AAAA", "", "é", "gAAAA", sealed * 2):
        with pytest.raises(Unreadable):
            totp.unseal(other, alice)
    with pytest.raises(Unreadable):
        totp.unseal(sealed, bob)


def test_a_sealed_secret_can_have_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    alice = uuid7()
    sealed = totp.seal(totp.new_secret(), alice)
    later = time.time() + 61
    monkeypatch.setattr(time, "time", lambda: later)
    with pytest.raises(Unreadable):
        totp.unseal(sealed, alice, within=timedelta(minutes=1))
