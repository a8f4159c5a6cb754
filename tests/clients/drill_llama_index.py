"""The unmodified LlamaIndex against the running service."""

from publicapi.tests.v1.customer import Customer
from tests.clients.conftest import Finish, Run
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


def test_its_default_of_asking_for_a_completion_is_refused_with_the_setting_that_helps(
    finish: Finish, alice: Customer
) -> None:
    done = finish(PYTHON, FOLDER / "chat_by_default.py", alice.prompt())

    assert done.returncode != 0
    assert "Error code: 404" in done.stderr
    assert "OpenAILike(is_chat_model=True)" in done.stderr


def test_texts_are_embedded(run: Run, alice: Customer) -> None:
    # It makes one line of each text, and only a line of its own is a steering line.
    seen = run(PYTHON, FOLDER / "embeddings.py", *[alice.prompt("")] * 2)

    assert seen.splitlines() == ["1536 numbers"] * 2
