"""A variable of another form than the settings need is named, and its value is not repeated."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import Environment, require

DATABASE = "postgres://postgres@127.0.0.1:5432/platform"


@pytest.mark.parametrize(
    ("read", "value", "sentence"),
    [
        (lambda env: env.int("A", 1), "secret", "A must be a whole number."),
        (lambda env: env.int("A", 1), "1.5", "A must be a whole number."),
        (lambda env: env.float("A", 1), "secret", "A must be a number."),
        (
            lambda env: env.db("A", DATABASE),
            "mysql://me:secret@host/db",
            "A must be of the form po",
        ),
        (
            lambda env: env.db("A", DATABASE),
            "postgres://me:secret@host:port/db",
            "A must be of the",
        ),
        (lambda env: env.db("A", DATABASE), "secret", "A must be of the form postgres://user:"),
        (
            lambda env: env.email_url("A", ""),
            "pigeon://me:secret@roof",
            "A must be of the form smtp",
        ),
        (lambda env: env.email_url("A", ""), "smtp://me:secret@host:port", "A must be of the form"),
    ],
)
def test_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
    read: Callable[[Environment], Any],
    value: str,
    sentence: str,
) -> None:
    monkeypatch.setenv("A", value)
    with pytest.raises(ImproperlyConfigured) as refusal:
        read(Environment())
    assert str(refusal.value).startswith(sentence)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("value", ["", DATABASE])
def test_an_empty_address_of_the_database_is_none(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", value)
    found = Environment().db("DATABASE_URL", DATABASE)
    assert (found["HOST"], found["PORT"], found["NAME"]) == ("127.0.0.1", 5432, "platform")


def test_all_that_are_missing_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THERE", "")
    with pytest.raises(ImproperlyConfigured, match="Production needs GONE, LOST: set each in"):
        require(Environment(), "GONE", "THERE", "LOST")
