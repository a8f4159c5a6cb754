"""A model that declines to answer in the form that was asked for says so in a field of its own."""

import pytest

from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.test_chat_stream import chunks

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
FORM = {"name": "answer", "schema": SCHEMA, "strict": True}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_refusal_ends_the_answer_as_usual_so_that_clients_show_it(
    customer: NewCustomer, stream: bool
) -> None:
    alice = customer(features=("structured_outputs",))
    response = alice.chat(
        steer={"refusal": True, "text": "I do not."},
        response_format={"type": "json_schema", "json_schema": FORM},
        stream=stream,
    )
    choices = (
        [chunk["choices"][0] for chunk in chunks(response)]
        if stream
        else [response.json()["choices"][0]]
    )
    parts = [choice.get("delta", choice.get("message")) for choice in choices]
    assert "".join(part.get("refusal") or "" for part in parts) == "I do not."
    assert not any(part.get("content") for part in parts)
    assert choices[-1]["finish_reason"] == "stop"
    assert alice.charge().tokens_out == 3
