"""The unmodified aider (over LiteLLM) against the running service."""

import sys
from pathlib import Path

import pytest
from PIL import Image

from publicapi.tests.v1.customer import Customer
from tests.clients.conftest import Run
from tests.clients.environments import PROGRAMS, executable, python_client

pytestmark = [
    python_client("aider", "aider"),
    pytest.mark.skipif(sys.version_info >= (3, 13), reason="aider needs Python 3.12 or earlier."),
]

EDIT = """\
poem.txt
```
<<<<<<< SEARCH
Roses are red.
=======
Violets are blue.
>>>>>>> REPLACE
```
"""
# It asks nobody else for anything: no price list, no newer version, no statistics.
ALONE = {
    "AIDER_ANALYTICS_DISABLE": "true",
    "AIDER_CHECK_UPDATE": "false",
    "AIDER_MODEL_METADATA_FILE": str(PROGRAMS / "aider" / "model-metadata.json"),
    "AIDER_SHOW_RELEASE_NOTES": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "true",
}


@pytest.mark.parametrize("option", ["--stream", "--no-stream"])
def test_it_changes_a_file_as_the_model_says(
    run: Run, alice: Customer, tmp_path: Path, option: str
) -> None:
    poem = tmp_path / "poem.txt"
    poem.write_text("Roses are red.\n")

    seen = run(
        executable("aider", "aider"),
        *("--model", "openai/gpt-6-luna", "--edit-format", "diff", option, "--yes-always"),
        *("--no-git", "--message", alice.prompt("Violets, please.", text=EDIT), poem),
        OPENAI_API_BASE=f"{alice.web.url}/v1",
        OPENAI_API_KEY=alice.raw_key,
        **ALONE,
    )

    assert "Applied edit to poem.txt" in seen
    assert poem.read_text() == "Violets are blue.\n"
    assert alice.charge().tokens_in > 1_000


def test_it_shows_a_picture_to_the_model(run: Run, agent: Customer, tmp_path: Path) -> None:
    boat = tmp_path / "boat.png"
    Image.new("RGB", (64, 48), "blue").save(boat)

    seen = run(
        executable("aider", "aider"),
        *("--model", "openai/gpt-6-luna", "--edit-format", "ask", "--yes-always", "--no-git"),
        *("--message", agent.prompt("What is in the picture?"), boat),
        OPENAI_API_BASE=f"{agent.web.url}/v1",
        OPENAI_API_KEY=agent.raw_key,
        **ALONE,
    )

    assert "The picture is 64 x 48 pixels and mostly blue." in seen
