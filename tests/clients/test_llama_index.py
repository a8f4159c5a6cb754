"""The unmodified LlamaIndex against the running service."""

from publicapi.tests.v1.customer import Customer
from tests.clients.conftest import Run
from tests.clients.environments import PROGRAMS, executable, python_client

pytestmark = python_client("llama_index", "LlamaIndex")

PYTHON = executable("llama_index", "python")
FOLDER = PROGRAMS / "llama_index"


def test_a_question_is_answered_as_completion_as_chat_and_as_a_stream(
    run: Run, alice: Customer
) -> None:
    seen = run(PYTHON, FOLDER / "chat.py", alice.prompt(text="Paris it is."))

    assert len(alice.charges()) == 3
    [tokens] = {f"{c.tokens_in + c.tokens_out} tokens" for c in alice.charges()}
    answer = "Paris it is."
    assert seen.splitlines() == [answer, answer, tokens, answer, tokens]
