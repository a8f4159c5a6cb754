"""LangChain's own tests of every chat model, for one that is here. Run by pytest.

What is said of the model below is what OpenAI's own class says, but for these: no PDF and no audio
come in, and pictures come as data, since the tests' own address of a picture needs the internet.
"""

import base64
import os

import httpx
import pytest
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAA"
    "AABJRU5ErkJggg=="
)
ADDRESS = "http://platform.example/v1"
DETAILS = ["reasoning_output", "cache_read_input"]


@pytest.fixture(autouse=True)
def no_internet(monkeypatch):
    """The tests show a picture that they get from the internet; another one stands in for it."""
    monkeypatch.setattr(httpx, "get", lambda *_, **__: httpx.Response(200, content=PICTURE))


class Here:
    chat_model_class = ChatOpenAI

    @property
    def chat_model_params(self):
        return {
            "model": os.environ["MODEL"],
            "base_url": os.environ["BASE_URL"],
            "use_responses_api": False,
        }


class TestUnit(Here, ChatModelUnitTests):
    @property
    def init_from_env_params(self):
        variables = {"OPENAI_API_KEY": "mk_alice", "OPENAI_API_BASE": ADDRESS}
        taken = {"openai_api_key": "mk_alice", "openai_api_base": ADDRESS}
        return variables, {"model": os.environ["MODEL"]}, taken


class TestIntegration(Here, ChatModelIntegrationTests):
    supports_image_inputs = True
    supports_image_tool_message = True
    supports_json_mode = True
    supports_anthropic_inputs = True
    supports_model_override = True
    model_override_value = "grok-4.7"
    supported_usage_metadata_details = {"invoke": DETAILS, "stream": DETAILS}

    def invoke_with_reasoning_output(self, *, stream=False):
        return self._asked('{"reasoning_tokens": 5}', stream=stream)

    def invoke_with_cache_read_input(self, *, stream=False):
        return self._asked('{"cached_tokens": 3}', stream=stream)

    def _asked(self, steering, *, stream):
        model = ChatOpenAI(**self.chat_model_params)
        question = f"How are you?\n@sim {steering}"
        if not stream:
            return model.invoke(question)
        whole, *rest = model.stream(question)
        for chunk in rest:
            whole += chunk
        return whole
