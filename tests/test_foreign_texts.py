"""Texts that hosts and users write are bounded where they enter, whatever they are."""

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ai.providers.error_answers import presentable
from integrations.connectors import drive
from integrations.githosts import github, gitlab
from integrations.safe_http.client import Answer, read_url
from integrations.safe_http.errors import AddressRefused, HostFailed
from integrations.safe_http.rest import (
    MAX_ADDRESS,
    address_of,
    error_of,
    name_of,
    readable,
    text_of,
    texts_in,
    whole_number,
)

# With halves of surrogate pairs, which JSON can write.
ANY_TEXT = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cc", "Cf", "Cs"]),
        st.sampled_from("\0\x1b\u202e\ud83d\u2028"),
    )
)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), ANY_TEXT),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(ANY_TEXT, inner)),
    max_leaves=10,
)
FIELDS = (
    *("full_name", "html_url", "default_branch", "permissions", "path_with_namespace", "web_url"),
    *("id", "name", "mimeType", "size", "modifiedTime"),
)
ROWS = st.one_of(ANYTHING, st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, ANYTHING)))
REPOSITORY = {
    "full_name": "alice/site",
    "html_url": "https://github.com/alice/site",
    "path_with_namespace": "alice/site",
    "web_url": "https://gitlab.com/alice/site",
}


def texts_of(value: Any) -> list[str]:
    return [
        text for name in value.__struct_fields__ if isinstance(text := getattr(value, name), str)
    ]


@pytest.mark.parametrize("read", [github._repository, gitlab._repository, drive._file])
@given(row=ROWS)
def test_what_a_host_says_is_unusable_or_can_be_stored_and_shown(read: Any, row: Any) -> None:
    try:
        found = read(row)
    except HostFailed:
        return
    for text in texts_of(found):
        assert len(text) <= MAX_ADDRESS
        assert not {unicodedata.category(each) for each in text} & {"Cs"}
        assert "\0" not in text


@given(value=ANYTHING)
@example(value="40")
@example(value=True)
@example(value=1e300)
@example(value=2**70)
def test_what_is_no_number_or_no_list_counts_as_none(value: Any) -> None:
    access = {"project_access": {"access_level": value}, "group_access": value}
    assert gitlab._repository(REPOSITORY | {"permissions": access}).can_write in (True, False)
    number = whole_number(value)
    assert number is None or 0 <= number < 2**63
    assert all(isinstance(each, str) for each in texts_in(value))


def test_one_odd_row_does_not_hide_the_others() -> None:
    odd = REPOSITORY | {"default_branch": "ma\u00adin"}
    assert len(readable(github._repository, [odd, REPOSITORY, None])) == 1


@pytest.mark.parametrize("read", [github._repository, gitlab._repository])
@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "//evil.example.com/x",
        "https://github.com/\x1b[2J",
        "https://github.com/\u202egnp.exe",
        f"https://github.com/{'x' * MAX_ADDRESS}",
        None,
        7,
    ],
)
def test_a_page_of_a_repository_is_one_that_a_browser_may_open(read: Any, address: Any) -> None:
    assert read(REPOSITORY).url.startswith("https://")
    with pytest.raises(HostFailed):
        read(REPOSITORY | {"html_url": address, "web_url": address})


@pytest.mark.parametrize(
    "login", ["x" * 256, "alice\x1b[31m", "alice\0", "al\u202eice", "\ud83d", 1]
)
def test_a_login_that_cannot_be_shown_is_unusable(login: Any) -> None:
    with pytest.raises(HostFailed):
        name_of({"login": login}, "login")


def test_names_of_people_in_any_script_are_usable() -> None:
    for name in ("alice", "Ἀλίκη", "爱丽丝", "أليس", "x" * 255, "👩\u200d💻"):
        assert name_of({"login": name}, "login") == name


@given(body=ANYTHING, status=st.integers(300, 599))
@example(body={"message": "No\0\x1b[2J\ud83d\u202ethanks"}, status=422)
def test_a_hosts_own_words_are_one_short_line(body: Any, status: int) -> None:
    words = str(error_of(Answer(status, {}, json.dumps(body).encode())))
    assert len(words) < 400
    assert not {unicodedata.category(each) for each in words} & {"Cc", "Cs", "Zl", "Zp"}
    assert "\u202e" not in words


@given(message=ANY_TEXT)
def test_a_providers_own_words_are_one_line(message: str) -> None:
    found = {unicodedata.category(each) for each in presentable(message)}
    assert not found & {"Cc", "Cs", "Zl", "Zp"}


@given(text=ANY_TEXT)
@example(text="http://xn--")
@example(text="https://xn--a/")
@example(text="https://\ud83d/")
@example(text="https://[::1")
@example(text="https://example.com:99999999999999999999/")
def test_an_address_of_a_user_can_be_called_or_is_refused(text: str) -> None:
    for address in (text, f"https://{text}", f"https://xn--{text}.example.com/{text}"):
        try:
            url = read_url(address)
        except AddressRefused:
            continue
        assert url.scheme in ("http", "https")
        assert address_of({"url": str(url)}, "url")


def test_a_longer_text_than_expected_is_unusable() -> None:
    assert text_of({"message": "two\nlines"}, "message", most=9) == "two\nlines"
    with pytest.raises(HostFailed):
        text_of({"message": "two\nlines"}, "message", most=8)
