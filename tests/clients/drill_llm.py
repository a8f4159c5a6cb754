"""The unmodified `llm` command against the running service."""

import json
from pathlib import Path

import pytest

from publicapi.tests.v1.customer import Customer
from tests.clients.conftest import Finish, Run
from tests.clients.environments import PROGRAMS, executable, python_client

pytestmark = python_client("llm", "llm")

LLM = executable("llm", "llm")


@pytest.fixture
def configured(alice: Customer, tmp_path: Path) -> dict[str, str]:
    """Alice's settings folder, with her key and the models' file in it, as `llm` is told of it."""
    models = (PROGRAMS / "llm" / "extra-openai-models.yaml").read_text()
    address = f"api_base: {alice.web.url}/v1"
    (tmp_path / "extra-openai-models.yaml").write_text(
        models.replace("api_base: BASE_URL", address)
    )
    (tmp_path / "keys.json").write_text(json.dumps({"platform": alice.raw_key}))
    return {"LLM_USER_PATH": str(tmp_path)}


@pytest.mark.parametrize("options", [[], ["--no-stream"]], ids=["stream", "whole"])
def test_a_question_is_answered_and_its_usage_is_logged(
    run: Run, alice: Customer, configured: dict[str, str], options: list[str]
) -> None:
    seen = run(LLM, "-m", "luna", *options, alice.prompt(text="Paris it is."), **configured)
    [logged] = json.loads(run(LLM, "logs", "--json", **configured))

    assert seen == "Paris it is.\n"
    assert logged["response"] == "Paris it is."
    charge = alice.charge()
    usage = (logged["input_tokens"], logged["output_tokens"])
    assert usage == (charge.tokens_in, charge.tokens_out)


def test_a_conversation_goes_on(run: Run, alice: Customer, configured: dict[str, str]) -> None:
    run(LLM, "-m", "luna", alice.prompt(text="Paris it is."), **configured)
    seen = run(LLM, "-c", alice.prompt(text="France it is."), **configured)

    assert seen == "France it is.\n"
    first, second = sorted(alice.charges(), key=lambda charge: charge.admitted_at)
    assert second.tokens_in > first.tokens_in


def test_a_refusal_is_told_in_its_own_words(
    finish: Finish, alice: Customer, configured: dict[str, str]
) -> None:
    alice.revoke()
    done = finish(LLM, "-m", "luna", alice.prompt(), **configured)

    assert done.returncode != 0
    assert "Error code: 401 - This API key is unknown or revoked." in done.stderr


def test_a_text_is_embedded(run: Run, alice: Customer, configured: dict[str, str]) -> None:
    seen = run(
        LLM,
        "embed",
        "-m",
        "3-small",
        "-c",
        alice.prompt("cats"),
        OPENAI_BASE_URL=f"{alice.web.url}/v1",
        OPENAI_API_KEY=alice.raw_key,
        **configured,
    )

    assert len(json.loads(seen)) == 1536
    assert alice.charge().charge_plan == 0
