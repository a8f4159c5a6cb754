"""The unmodified LangChain against the running service."""

from publicapi.tests.v1.customer import Customer
from tests.clients.conftest import Run
from tests.clients.environments import PROGRAMS, executable, python_client

pytestmark = python_client("langchain", "LangChain")

PYTHON = executable("langchain", "python")
FOLDER = PROGRAMS / "langchain"


def test_a_question_is_answered_whole_and_as_a_stream_with_its_usage(
    run: Run, alice: Customer
) -> None:
    seen = run(PYTHON, FOLDER / "chat.py", alice.prompt(text="Paris it is."))

    charge, streamed = alice.charges()
    tokens = f"{charge.tokens_in + charge.tokens_out} tokens"
    assert streamed.tokens_in + streamed.tokens_out == charge.tokens_in + charge.tokens_out
    assert seen.splitlines() == ["Paris it is.", tokens, "Paris it is.", tokens]
