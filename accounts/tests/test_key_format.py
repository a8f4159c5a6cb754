"""What an API key looks like."""

import re

import pytest
from pytest_django import Settings

from accounts import keys


def test_a_key_is_mk_38_random_characters_and_6_of_checksum() -> None:
    assert re.fullmatch(r"mk_[0-9A-Za-z]{44}", keys.generate())


def test_no_two_keys_are_alike() -> None:
    assert len({keys.generate() for _ in range(100)}) == 100


def test_a_generated_key_is_well_formed() -> None:
    assert all(keys.well_formed(keys.generate()) for _ in range(100))


def test_one_changed_character_is_noticed() -> None:
    key = keys.generate()
    for position in range(3, len(key)):
        other = "b" if key[position] == "a" else "a"
        assert not keys.well_formed(key[:position] + other + key[position + 1 :])


@pytest.mark.parametrize("text", ["", "mk_", "sk_" + "a" * 44, "mk_" + "a" * 43, "mk_" + "é" * 44])
def test_other_text_is_not_a_key(text: str) -> None:
    assert not keys.well_formed(text)


def test_a_key_with_a_line_break_after_it_is_not_well_formed() -> None:
    assert not keys.well_formed(keys.generate() + "\n")


def test_the_checksum_is_the_crc32_of_what_precedes_it_in_base62() -> None:
    body = "mk_" + "0" * 38
    assert keys.well_formed(body + "2Q4xTB")


def test_the_digest_depends_on_the_pepper(settings: Settings) -> None:
    key = keys.generate()
    before = keys.digest(key)
    settings.API_KEY_PEPPER = "another pepper"
    assert len(before) == 32
    assert keys.digest(key) != before


def test_the_hint_is_the_last_four_characters() -> None:
    assert keys.hint("mk_abcdefgh") == "efgh"
