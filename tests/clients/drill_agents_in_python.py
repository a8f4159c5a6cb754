"""The unmodified smolagents, Strands and AutoGen carry out tools against the running service."""

import pytest

from publicapi.tests.v1.customer import Customer
from tests.clients.conftest import Run
from tests.clients.environments import PROGRAMS, executable, python_client

each_wire = pytest.mark.parametrize("model", ["gpt-6-luna", "claude-haiku-5-5", "gemini-3.8-flash"])
each_mode = pytest.mark.parametrize("mode", ["whole", "stream"])

TEMPERATURES = "What is the temperature in Paris and Berlin?"
STATEMENT = "The weather in Paris: 21 degrees."
WRITTEN_DOWN = "city='Paris' celsius=21"


def asked(run: Run, client: str, *arguments: str) -> list[str]:
    """The lines that the program of a client prints."""
    program = PROGRAMS / client / "agent.py"
    return run(executable(client, "python"), program, *arguments).splitlines()


def usage(agent: Customer, *, calls: int) -> str:
    """The tokens of so many calls as they were billed, the first ones."""
    charges = sorted(agent.charges(), key=lambda charge: charge.admitted_at)[:calls]
    assert len(charges) == calls
    return f"{sum(c.tokens_in for c in charges)} {sum(c.tokens_out for c in charges)}"


@python_client("smolagents", "smolagents")
@each_mode
@each_wire
def test_smolagents_ends_a_task_with_the_answer_that_the_model_calls_it_with(
    run: Run, agent: Customer, model: str, mode: str
) -> None:
    *_, paris, berlin, final, first, second, end = asked(
        run, "smolagents", model, mode, agent.prompt(TEMPERATURES)
    )

    assert paris == "get_temperature {'city': 'Paris'}"
    assert berlin == "get_temperature {'city': 'Berlin'}"
    assert final == r"final_answer {'answer': 'The tool says: 21 degrees\n17 degrees'}"
    assert [first, second] == ["The tool says: 21 degrees", "17 degrees"]
    assert end == f"success {usage(agent, calls=2)}"


@python_client("strands", "Strands")
@each_wire
def test_strands_carries_out_calls_and_writes_down_what_is_said(
    run: Run, agent: Customer, model: str
) -> None:
    seen = asked(run, "strands", model, agent.prompt(TEMPERATURES), agent.prompt(STATEMENT))

    assert [line for line in seen if line] == [
        "get_temperature {'city': 'Paris'}",
        "get_temperature {'city': 'Berlin'}",
        "get_temperature says: 21 degrees",
        "get_temperature says: 17 degrees",
        f"end_turn {usage(agent, calls=2)}",
        WRITTEN_DOWN,
    ]


@python_client("autogen", "AutoGen")
@each_mode
@each_wire
def test_autogen_carries_out_calls_and_writes_down_what_is_said(
    run: Run, agent: Customer, model: str, mode: str
) -> None:
    prompts = agent.prompt(TEMPERATURES), agent.prompt(STATEMENT)
    *seen, written_down = asked(run, "autogen", model, mode, *prompts)

    assert seen == [
        "get_temperature {'city': 'Paris'}",
        "get_temperature {'city': 'Berlin'}",
        "get_temperature says: 21 degrees",
        "get_temperature says: 17 degrees",
        usage(agent, calls=2),
    ]
    assert written_down == WRITTEN_DOWN
