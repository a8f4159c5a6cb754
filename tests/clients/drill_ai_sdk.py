"""The unmodified Vercel AI SDK against the running service."""

from pathlib import Path

import pytest

from publicapi.tests.v1.customer import Customer
from tests.clients.conftest import Run
from tests.clients.environments import PROGRAMS, node_client

pytestmark = node_client("ai_sdk", "The Vercel AI SDK")


@pytest.mark.parametrize("program", ["compatible.mjs", "openai.mjs"])
def test_a_question_is_answered_streamed_and_embedded(
    run: Run, alice: Customer, program: str
) -> None:
    seen = run("node", PROGRAMS / "ai_sdk" / program, alice.prompt(text="Paris it is."))

    charges = sorted(alice.charges(), key=lambda charge: charge.admitted_at)
    whole, streamed, embedded = (charge.tokens_in + charge.tokens_out for charge in charges)
    assert whole == streamed
    assert seen.splitlines() == [
        "Paris it is.",
        f"stop {whole} tokens",
        "Paris it is.",
        f"stop {streamed} tokens",
        f"1536 1536 {embedded} tokens",
    ]


def test_a_picture_is_made(run: Run, alice: Customer, tmp_path: Path) -> None:
    seen = run("node", PROGRAMS / "ai_sdk" / "image.mjs", alice.prompt("A red boat."))

    assert seen == "image/png\n"
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert alice.charge().images == 1
