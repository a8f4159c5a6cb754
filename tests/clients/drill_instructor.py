"""The unmodified Instructor against the running service."""

import pytest

from publicapi.tests.v1.customer import IN_PLAN, Customer
from tests.clients.conftest import Run
from tests.clients.environments import PROGRAMS, executable, python_client

pytestmark = python_client("instructor", "Instructor")


@pytest.mark.parametrize("model", [IN_PLAN, "claude-haiku-5-5", "gemini-3.8-flash"])
def test_objects_are_extracted_in_each_way(run: Run, agent: Customer, model: str) -> None:
    seen = run(
        executable("instructor", "python"),
        PROGRAMS / "instructor" / "extract.py",
        model,
        agent.prompt("The persons Alice and Bob are 30 years old."),
    ).splitlines()

    by_a_tool, by_a_schema, as_a_stream, *in_parallel = seen
    assert by_a_tool == by_a_schema == as_a_stream == "name='Alice' age=30"
    assert in_parallel == ["name='Alice' age=30", "name='Bob' age=30"]
