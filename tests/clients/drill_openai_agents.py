"""The unmodified Agents SDK of OpenAI against the running service."""

import pytest

from publicapi.tests.v1.customer import IN_PLAN, Customer
from tests.clients.conftest import Run
from tests.clients.environments import PROGRAMS, executable, python_client

pytestmark = python_client("openai_agents", "OpenAI's Agents SDK")

TOLD = ["get_weather says: 18 degrees in Paris", "get_weather says: 18 degrees in Rome"]


@pytest.mark.parametrize("model", [IN_PLAN, "claude-haiku-5-5", "gemini-3.8-flash"])
def test_agents_call_a_tool_hand_over_and_answer_in_objects(
    run: Run, agent: Customer, model: str
) -> None:
    seen = run(
        executable("openai_agents", "python"),
        PROGRAMS / "openai_agents" / "agent.py",
        model,
        agent.prompt("What is the weather in Paris and Rome?"),
    ).splitlines()

    assert seen[:2] == TOLD
    # The stream has what Claude says before its call, too.
    assert seen[2].removeprefix("I will call get_weather.") == TOLD[0]
    assert seen[3] == TOLD[1]
    assert seen[4].startswith("Weather says: ")
    assert seen[5:7] == TOLD
    assert seen[7:] == [rf"Report(city='Paris', summary='{TOLD[0]}\n{TOLD[1]}')"]
