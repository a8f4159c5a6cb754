"""Prompts with all that a chat call may have: tools and calls, results, pictures and state."""

from typing import Any

from hypothesis import strategies as st

from ai.providers.call_ids import with_state
from ai.providers.config import PROVIDERS
from ai.providers.types import InputImage, JsonOutput, Message, Tool, ToolCall, Tools

CHAT = [name for name, known in PROVIDERS.items() if known.wire] + ["local"]

texts = st.text(max_size=60)
names = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)
schemas: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    texts,
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)
pictures = st.builds(
    InputImage,
    st.binary(max_size=20),
    st.just("image/png"),
    st.integers(1, 9_000),
    st.integers(1, 9_000),
    st.sampled_from(["auto", "low", "high"]),
)
functions = st.builds(Tool, names, texts, schemas, st.booleans())
tools = st.builds(
    Tools,
    st.lists(functions, min_size=1, max_size=3).map(tuple),
    st.sampled_from(["auto", "none", "required"]),
    parallel=st.booleans(),
)
outputs = st.builds(JsonOutput, st.none() | schemas, names, texts, st.booleans())
call_ids = st.builds(with_state, names, st.sampled_from(["a", "g", "r", "d"]), texts)
calls = st.builds(ToolCall, call_ids, names, texts)


@st.composite
def _shown(draw: st.DrawFn) -> Message:
    parts = draw(st.lists(texts | pictures, min_size=1, max_size=3))
    said = "\n".join(part for part in parts if isinstance(part, str))
    return Message("user", said, tuple(parts))


_spoken = st.builds(Message, st.sampled_from(["system", "user", "assistant"]), texts)
_asking = st.builds(
    Message,
    st.just("assistant"),
    texts,
    tool_calls=st.lists(calls, min_size=1, max_size=3).map(tuple),
)
_results = st.builds(Message, st.just("tool"), texts, tool_call_id=call_ids)
conversations = st.lists(_spoken | _shown() | _asking | _results, max_size=6)
