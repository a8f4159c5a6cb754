"""The unmodified Pydantic AI against the running service."""

import pytest

from publicapi.tests.v1.customer import IN_PLAN, Customer
from tests.clients.conftest import Run
from tests.clients.environments import PROGRAMS, executable, python_client

pytestmark = python_client("pydantic_ai", "Pydantic AI")

TOLD = ["get_weather says: 18 degrees in Paris", "get_weather says: 18 degrees in Rome"]


@pytest.mark.parametrize("model", [IN_PLAN, "claude-haiku-5-5", "gemini-3.8-flash"])
def test_an_agent_calls_a_tool_and_answers_in_words_and_in_objects(
    run: Run, agent: Customer, model: str
) -> None:
    seen = run(
        executable("pydantic_ai", "python"),
        PROGRAMS / "pydantic_ai" / "agent.py",
        model,
        agent.prompt("What is the weather in Paris and Rome?"),
    ).splitlines()

    first, second = sorted(agent.charges(), key=lambda charge: charge.admitted_at)[:2]
    assert seen[:2] == TOLD
    assert seen[2] == f"2 requests, {first.tokens_out + second.tokens_out} tokens"
    # The stream has what Claude says before its call, too.
    assert seen[3].removeprefix("I will call get_weather.") == TOLD[0]
    assert seen[4] == TOLD[1]
    assert seen[5:] == [rf"Report(city='Paris', summary='{TOLD[0]}\n{TOLD[1]}')"] * 4
