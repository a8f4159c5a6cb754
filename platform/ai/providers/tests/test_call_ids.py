"""The ids of tool calls."""

import zlib
from base64 import urlsafe_b64encode

from hypothesis import given
from hypothesis import strategies as st

from ai.providers.call_ids import MAX_STATE, CallId, StateForm, own_id, read_call_id, with_state

forms: st.SearchStrategy[StateForm] = st.sampled_from(["a", "g", "r", "d"])
own_ids = st.from_regex(r"[A-Za-z0-9_-]{0,40}", fullmatch=True)


@given(own=own_ids, form=forms, state=st.text(min_size=1))
def test_state_comes_back_with_the_id(own: str, form: StateForm, state: str) -> None:
    marked = with_state(own, form, state)
    assert read_call_id(marked, form) == read_call_id(marked) == CallId(own, state)


@given(text=st.text())
def test_any_text_is_an_id(text: str) -> None:
    assert text.startswith(read_call_id(text).own)
    assert own_id(text) == read_call_id(text).own


def test_an_id_without_state_is_the_provider_s_own() -> None:
    assert with_state("call_1", "a", "") == "call_1"
    assert read_call_id("call_1", "a") == CallId("call_1", "")


def test_state_of_another_provider_is_left_out() -> None:
    assert read_call_id(with_state("call_1", "g", "signed"), "a") == CallId("call_1", "")


def test_state_that_is_too_long_is_left_out() -> None:
    assert with_state("call_1", "r", "a" * (MAX_STATE + 1)) == "call_1"


def test_state_inflates_to_no_more_than_may_be_sent() -> None:
    assert read_call_id(bomb(b"a" * 50_000_000)) == CallId("call_1", "")


def bomb(state: bytes) -> str:
    return "call_1__a_" + urlsafe_b64encode(zlib.compress(state)).rstrip(b"=").decode()


def test_state_is_not_many_times_as_long_as_its_id() -> None:
    assert read_call_id(bomb(b"a" * 100_000)).state == ""
    assert len(read_call_id(with_state("call_1", "a", "a" * 20_000)).state) == 20_000


def test_half_of_a_character_is_no_state() -> None:
    assert read_call_id(bomb("\ud800".encode("utf-8", "surrogatepass"))).state == ""
    assert read_call_id(with_state("call_1", "a", "b\ud800")).state == "b?"


def test_what_cannot_be_decoded_is_no_state() -> None:
    halved = with_state("call_1", "a", "What the model thought.")[:-4]
    assert read_call_id(halved) == CallId("call_1", "")
