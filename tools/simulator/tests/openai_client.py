"""openai-python, unmodified. Importing it takes long: only drills do."""

from openai import OpenAI

from simulator.tests.conftest import Caller


def client_of(caller: Caller) -> OpenAI:
    """A client on the caller's simulator, closed when the test ends."""
    url = caller.simulator.base_url("openai")
    client = OpenAI(base_url=url, api_key="alice", max_retries=0, timeout=10)
    return caller.opened.enter_context(client)
