"""The unmodified LangChain against the running service."""

from publicapi.tests.v1.customer import Customer
from tests.clients.conftest import Finish, Run
from tests.clients.environments import PROGRAMS, PYTHON_ENVIRONMENTS, executable, python_client

pytestmark = python_client("langchain", "LangChain")

PYTHON = executable("langchain", "python")
FOLDER = PROGRAMS / "langchain"


def test_a_question_is_answered_whole_and_as_a_stream_with_its_usage(
    run: Run, alice: Customer
) -> None:
    seen = run(PYTHON, FOLDER / "chat.py", alice.prompt(text="Paris it is."))

    assert len(alice.charges()) == 2
    [tokens] = {f"{c.tokens_in + c.tokens_out} tokens" for c in alice.charges()}
    assert seen.splitlines() == ["Paris it is.", tokens, "Paris it is.", tokens]


def test_a_question_with_tools_is_answered_in_words(run: Run, alice: Customer) -> None:
    seen = run(PYTHON, FOLDER / "tools.py", alice.prompt(text="Paris it is."))

    assert seen == "Paris it is.\n"


def test_texts_are_embedded_in_as_many_requests_as_it_takes(run: Run, alice: Customer) -> None:
    seen = run(PYTHON, FOLDER / "embeddings.py", *[alice.prompt("cats")] * 257)

    assert seen.splitlines() == ["1536 numbers"] * 257
    assert len(alice.charges()) == 2
    assert {charge.charge_plan for charge in alice.charges()} == {0}


@python_client("llama_index", "LlamaIndex")
def test_its_default_of_sending_token_numbers_is_refused_with_the_setting_that_helps(
    finish: Finish, alice: Customer
) -> None:
    # It would get its tokenizer from the network; LlamaIndex brings the same one.
    [tokenizer] = (PYTHON_ENVIRONMENTS / "llama_index").glob("lib/*/*/llama_index/*/*/tiktoken_*")
    done = finish(
        PYTHON,
        FOLDER / "embeddings_by_default.py",
        alice.prompt("cats"),
        TIKTOKEN_CACHE_DIR=str(tokenizer),
    )

    assert done.returncode != 0
    assert "Error code: 400" in done.stderr
    assert "check_embedding_ctx_length=False" in done.stderr
    assert alice.charges() == []
