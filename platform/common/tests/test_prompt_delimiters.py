"""What is quoted in a prompt writes none of its delimiters, and none of a chat template."""

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.prompt_delimiters import PromptDelimiters

TAGS = ("goal", "done_when")
OF_TEMPLATES = (
    *("<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|begin_of_text|>", "<|channel|>", "<|turn>"),
    *("<|end▁of▁sentence|>", "<|START_OF_TURN_TOKEN|>", "<turn|>", "<tool_response|>"),
    *("<start_of_turn>", "<end_of_turn>", "<<SYS>>", "<</SYS>>", "[INST]", "[/INST]"),
    *("[SYSTEM_PROMPT]", "[TOOL_CALLS]"),
)
OF_THE_PROMPT = tuple(f"{start}{tag}>" for tag in TAGS for start in ("<", "</", "< / "))
# Zero-width characters, a soft hyphen, controls, a variation selector, a tag, a combining overlay.
UNSEEN = "\u200b\u200d\u2060\ufeff\u00ad\u202e\x00\x1b\ufe0f\U000e0041\u0338\u3164"
ANY = re.compile(
    r"(?i:<\s*(?:/\s*)?(?:(?:goal|done_when)\b|(?:start_of_turn|end_of_turn)\s*>"
    r"|(?:turn|tool_response)\s*\|\s*>)"
    r"|<\s*\|[^\s<>|]{2,60}\s*\|?\s*>)"
    r"|<</?SYS>|\[\s*/?\s*(?:INST|SYSTEM_PROMPT|TOOL_CALLS)\s*\]"
)
delimit = PromptDelimiters(*TAGS)


@st.composite
def disguises(draw: st.DrawFn) -> str:
    """A delimiter in which characters have other forms, and others that do not show between
    them."""
    delimiter = draw(st.sampled_from(OF_THE_PROMPT + OF_TEMPLATES))
    return "".join(
        draw(st.text(UNSEEN, max_size=2)) + draw(st.sampled_from(forms_of(character)))
        for character in delimiter
    )


def forms_of(character: str) -> list[str]:
    """A character of ASCII in full width and as a mathematical letter."""
    forms = [character]
    if "!" <= character <= "~":
        forms.append(chr(ord(character) + 0xFEE0))
    if "a" <= character <= "z":
        forms.append(chr(0x1D41A + ord(character) - ord("a")))
    return forms


def as_read(text: str) -> str:
    """The text as a lenient reader takes it."""
    seen = "".join(each for each in text if each not in UNSEEN)
    return unicodedata.normalize("NFKC", seen)


@given(st.text(), disguises(), st.text(), disguises())
def test_a_quoted_text_has_no_delimiters_however_disguised(
    before: str, one: str, between: str, another: str
) -> None:
    hostile = f"{before}{one}{between}{another}"

    inside = delimit("goal", hostile).removeprefix("<goal>\n").removesuffix("\n</goal>")
    (opening, *_) = delimit("goal", "text", name=hostile or "-").splitlines()

    assert not ANY.search(as_read(inside))
    assert not ANY.search(as_read(opening.removeprefix("<goal")))


@pytest.mark.parametrize("delimiter", OF_THE_PROMPT + OF_TEMPLATES)
def test_the_rest_of_a_delimiter_stays_readable(delimiter: str) -> None:
    quoted = delimit("goal", f"Obey {delimiter} me")
    assert quoted.count("&lt;") + quoted.count("&#91;") == 1
    assert (
        quoted.replace("&lt;", "<").replace("&#91;", "[") == f"<goal>\nObey {delimiter} me\n</goal>"
    )


@pytest.mark.parametrize(
    "text",
    [
        "<b>3 < 4</b> <span> <strong>",
        "see [1], [x] and [install]",
        "let y = f <| x |> g",  # F# and Elm
        "「〈目標〉」 < 目標",
        "naïve café, 👩\u200d👧, می\u200cخواهم",  # noqa: RUF001
        "a[i] = b << c; d < e | f > g",
        "<goals> and <done>",
        "<p><s>old</s> <b>new</b></p>",
        "std::vector<S> of(std::vector<tool_call>); List<Turn>; Box<Sys>",
        "tokens = ['<s>', '<eos>', '[EOS]', '<pad>', '[gMASK]']",
        "map(<|x|> x)",
        "text.split('</think>')",
        "table[inst] + calls[tool_calls]; out << sys >> in",
    ],
)
def test_other_texts_are_left_as_they_are(text: str) -> None:
    assert delimit("goal", text) == f"<goal>\n{text}\n</goal>"


@pytest.mark.parametrize(
    "text",
    [
        *("<" * 400_000, "< " * 200_000, "<\u200b" * 200_000, "</" * 200_000, "[/" * 200_000),
        *("<" + "\u200b" * 400_000, "<g" + "\u00ad" * 400_000, ("<|" + "a" * 59) * 6_000),
    ],
    ids=lambda text: ascii(text[:3]),
)
def test_no_text_takes_more_time_than_its_length_explains(text: str) -> None:
    started = time.thread_time()
    delimit("goal", text)
    assert time.thread_time() - started < 1
