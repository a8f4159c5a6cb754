"""The unmodified LangChain and LangGraph as agents, and LangChain's own tests of a model."""

import re
import shutil
from pathlib import Path

import pytest

from publicapi.tests.v1.customer import IN_PLAN, Customer
from tests.clients.conftest import Run
from tests.clients.environments import (
    PROGRAMS,
    environment,
    executable,
    finished,
    python_client,
)

pytestmark = python_client("langchain", "LangChain")

PYTHON = executable("langchain", "python")
FOLDER = PROGRAMS / "langchain"
EACH_WIRE = pytest.mark.parametrize("model", [IN_PLAN, "claude-haiku-5-5", "gemini-3.8-flash"])
TOLD = ["get_weather says: 18 degrees in Paris", "get_weather says: 18 degrees in Rome"]


@EACH_WIRE
def test_agents_call_a_tool_and_answer_in_words_and_in_objects(
    run: Run, agent: Customer, model: str
) -> None:
    question = agent.prompt("What is the weather in Paris and Rome?")
    seen = run(
        PYTHON, "-W", "ignore", FOLDER / "agent.py", model, question, agent.prompt("Alice is 30.")
    ).splitlines()

    assert seen[:2] == TOLD
    # The stream has what Claude says before its call, too.
    assert seen[2].removeprefix("I will call get_weather.") == TOLD[0]
    assert seen[3] == TOLD[1]
    assert seen[4:6] == TOLD
    assert seen[6] == rf"Report(city='Paris', summary='{TOLD[0]}\n{TOLD[1]}')"
    calls, tokens = re.fullmatch(r"(.*) (\d+) tokens", seen[7]).groups()  # type: ignore[union-attr]
    assert calls == "[{'city': 'Paris'}, {'city': 'Rome'}]"
    assert int(tokens) in {charge.tokens_out for charge in agent.charges()}
    assert seen[8:] == ["name='Alice' age=30"] * 2


@EACH_WIRE
def test_the_model_passes_langchains_own_tests(
    unmarked: Customer, tmp_path: Path, model: str
) -> None:
    shutil.copy(FOLDER / "standard.py", tmp_path)  # they write beside it
    done = finished(
        *(PYTHON, "-m", "pytest", "-q", "-rs", "standard.py", "--snapshot-update"),
        *("-o", "asyncio_mode=auto", "-o", "asyncio_default_test_loop_scope=session"),
        folder=tmp_path,
        MODEL=model,
        OPENAI_API_KEY=unmarked.raw_key,
        **environment(unmarked, home=tmp_path),
    )

    assert done.returncode == 0, done.stdout
    assert re.search(r"\n\d\d passed, 4 skipped", done.stdout), done.stdout
    assert set(re.findall(r"^SKIPPED .*?: (.*)$", done.stdout, re.MULTILINE)) == {
        "Model does not support PDF inputs.",
        "Model does not support PDF tool message.",
        "Model does not support audio inputs.",
        "VCR not set up.",  # it is about the time that a recorded stream takes to read
    }
