"""docs/api/v1.md: its examples run, its tables are those of the code, its sums are right."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import httpx
import pytest

from accounts.features import KEY_FEATURES
from accounts.services.api_keys import MAX_ACTIVE_KEYS, MAX_SPEND_CAP_USD
from accounts.types import MAX_ALLOWED_MODELS
from ai.catalog.pricing import token_cost
from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model, TokenPrice
from ai.inference.bounds import DEFAULT_OUTPUT_TOKENS
from ai.providers.call_ids import MAX_ID
from billing.models import PlanAllowance
from billing.tests import bank
from common.money import NUSD_PER_USD
from devserver.paths import ROOT
from media.files.selectors.links import LINK_SECONDS
from publicapi.tests.v1.customer import Customer, new_customer
from publicapi.v1 import (
    chat,
    chat_body,
    chat_tools,
    definitions,
    embeddings,
    embeddings_schema,
    errors,
    images,
    images_schema,
    pictures,
    usage_schema,
)
from publicapi.v1.authentication import KEY_LIMIT
from publicapi.v1.operations import OPERATIONS
from simulator.process import RunningSimulator
from tests import documents
from tests.clients.environments import (
    PROGRAMS,
    environment,
    executable,
    node_client,
    python_client,
)
from tests.documents import assert_same, examples, rows
from tests.service import Web

PAGE = ROOT / "docs" / "api" / "v1.md"
QUESTION = "What is the capital of France?"


@pytest.fixture
def alice(committed: None, web: Web, simulator: RunningSimulator) -> Iterator[Customer]:
    """On Max, with 10 USD."""
    with httpx.Client(base_url=web.url) as http:
        yield new_customer(http, web, simulator)


@pytest.fixture
def agent(committed: None, web: Web, simulator: RunningSimulator) -> Iterator[Customer]:
    """Alice, with a key that has all features."""
    with httpx.Client(base_url=web.url) as http:
        yield new_customer(http, web, simulator, features=KEY_FEATURES)


def section(title: str) -> str:
    return documents.section(PAGE, title)


def run(customer: Customer, folder: Path, *command: str | Path) -> str:
    """What a program writes that this customer runs."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(customer, home=folder),
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- Examples -----------------------------------------------------------------------------------


def test_the_first_example_is_answered(alice: Customer, tmp_path: Path) -> None:
    _, example = examples(section("Quick start"), "sh")
    seen = run(alice, tmp_path, "bash", "-ec", example)
    assert '"object":"chat.completion"' in seen
    assert alice.charge().status == "settled"


def test_the_features_of_a_key_are_those_that_there_are() -> None:
    stated = [row[0] for row in rows(section("Features of a key"))]
    assert_same(stated, KEY_FEATURES, "docs/api/v1.md, Features of a key")


def test_the_examples_of_the_features_are_answered(agent: Customer, tmp_path: Path) -> None:
    tool, schema, shown = (
        json.loads(run(agent, tmp_path, "bash", "-ec", example))["choices"][0]
        for example in examples(section("Features of a key"), "sh")
    )
    assert tool["finish_reason"] == "tool_calls"
    [call] = tool["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"city": "Paris"}
    assert json.loads(schema["message"]["content"]) == {"city": "Paris"}
    assert "blue" in shown["message"]["content"]
    assert [charge.status for charge in agent.charges()] == ["settled"] * 3


def test_the_example_of_tools_runs(agent: Customer, tmp_path: Path) -> None:
    [example] = examples(section("Tools"), "python")
    assert "It is sunny in Paris." in run(agent, tmp_path, sys.executable, "-c", example)
    assert len(agent.charges()) == 2


def test_the_example_of_openai_python_runs(alice: Customer, tmp_path: Path) -> None:
    [example] = examples(section("openai-python"), "python")
    seen = run(alice, tmp_path, sys.executable, "-c", example).splitlines()
    assert "2 vectors of 1536 numbers" in seen
    assert re.fullmatch(r"http://\S+/files/\S+ 0\.023", seen[-1])
    assert len(alice.charges()) == 4


def test_the_address_and_the_key_are_those_of_the_demo_account(
    alice: Customer, tmp_path: Path
) -> None:
    (tmp_path / "var").mkdir()
    demo = {"base_url": "http://127.0.0.1:8000", "api_key": "mk_demo"}
    (tmp_path / "var" / "demo.json").write_text(json.dumps(demo))
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    setup, _ = examples(section("Quick start"), "sh")
    seen = run(alice, tmp_path, "bash", "-ec", setup + 'echo "$BASE_URL $API_KEY"')
    assert seen == "http://127.0.0.1:8000/v1 mk_demo\n"


@node_client("openai_node", "openai-node")
def test_the_example_of_openai_node_runs(alice: Customer, tmp_path: Path) -> None:
    [example] = examples(section("openai-node"), "js")
    (tmp_path / "node_modules").symlink_to(PROGRAMS / "openai_node" / "node_modules")
    (tmp_path / "example.mjs").write_text(example)
    seen = run(alice, tmp_path, "node", "example.mjs")
    assert QUESTION in seen
    assert alice.charge().status == "settled"


@node_client("ai_sdk", "The Vercel AI SDK")
def test_the_examples_of_the_vercel_ai_sdk_run(alice: Customer, tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(PROGRAMS / "ai_sdk" / "node_modules")
    for example in examples(section("Vercel AI SDK"), "js"):
        (tmp_path / "example.mjs").write_text(example)
        assert QUESTION in run(alice, tmp_path, "node", "example.mjs", QUESTION)
    assert len(alice.charges()) == 2


@python_client("langchain", "LangChain")
def test_the_examples_of_langchain_run(alice: Customer, tmp_path: Path) -> None:
    python = executable("langchain", "python")
    chat, embeddings = examples(section("LangChain"), "python")
    assert QUESTION in run(alice, tmp_path, python, "-c", chat, QUESTION)
    vectors = run(alice, tmp_path, python, "-c", embeddings, "cats", "dogs")
    assert vectors.splitlines() == ["1536 numbers"] * 2


@python_client("llama_index", "LlamaIndex")
def test_the_example_of_llama_index_runs(alice: Customer, tmp_path: Path) -> None:
    [example] = examples(section("LlamaIndex"), "python")
    python = executable("llama_index", "python")
    assert QUESTION in run(alice, tmp_path, python, "-c", example, QUESTION)


def test_a_named_request_is_billed_once(alice: Customer, tmp_path: Path) -> None:
    [example] = examples(section("Trying again"), "sh")
    seen = run(alice, tmp_path, "bash", "-ec", example)
    assert seen.count('"object":"chat.completion"') == 2
    assert seen.lower().count("\nidempotency-replayed: true") == 1
    assert len(alice.charges()) == 1


def test_the_example_of_the_usage_report_is_answered(alice: Customer, tmp_path: Path) -> None:
    [example] = examples(section("Usage"), "sh")
    assert '"object":"usage"' in run(alice, tmp_path, "bash", "-ec", example)


@pytest.mark.parametrize("title", ["Vercel AI SDK", "LangChain", "LlamaIndex", "llm", "aider"])
def test_what_is_shown_of_other_clients_is_part_of_programs_that_are_tested(title: str) -> None:
    parts = section(title).split("```")
    assert len(parts) > 1
    for text, example in zip(parts[::2], parts[1::2], strict=False):
        [*_, link] = re.findall(r"\]\(([^)]+)\)", text)
        program = (PAGE.parent / link).read_text()
        _, _, code = example.partition("\n")
        assert [part for part in code.strip().split("\n\n") if part not in program] == [], link


# --- Tables -------------------------------------------------------------------------------------


def test_every_endpoint_is_listed() -> None:
    listed = {(row[0], row[1]) for row in rows(section("The API"))}
    served = {(operation.method, operation.path) for operation in OPERATIONS}
    assert_same(listed, served, "docs/api/v1.md, The API")


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Chat", chat_body.ChatBody),
        ("Embeddings", embeddings_schema.EmbeddingsBody),
        ("Images", images_schema.ImagesBody),
    ],
)
def test_every_field_is_explained(title: str, body: type) -> None:
    explained = [row[0] for row in rows(section(title))]
    assert explained == list(body.__struct_fields__)  # type: ignore[attr-defined]


def test_every_parameter_of_the_usage_report_is_explained() -> None:
    [usage] = [operation for operation in OPERATIONS if operation.path == "/v1/usage"]
    explained = {row[0] for row in rows(section("Usage"))}
    taken = {parameter.name for parameter in usage.parameters}
    assert_same(explained, taken, "docs/api/v1.md, Usage")


def test_every_error_is_explained_and_no_other() -> None:
    explained = [(int(status), code) for status, code, _ in rows(section("Errors"))]
    refusals = [refusal for operation in OPERATIONS for refusal in operation.refusals]
    refusals += [errors.UnknownPath, errors.MethodNotAllowed]
    codes = {(refusal.status, refusal.code) for refusal in refusals}
    assert_same(explained, codes, "docs/api/v1.md, Errors")


@pytest.mark.parametrize(
    ("title", "limit"),
    [
        ("Chat", f"{chat_body.MAX_MESSAGES} messages"),
        ("Chat", f"{chat_body.MAX_CHARACTERS:,} characters"),
        ("Chat", f"it is {DEFAULT_OUTPUT_TOKENS:,} "),
        ("Chat", f"after {chat.KEEP_ALIVE_SECONDS:.0f} to {2 * chat.KEEP_ALIVE_SECONDS:.0f} "),
        ("Tools", f"| tools | {chat_tools.MAX_TOOLS} functions"),
        ("Tools", f"1 to {definitions.MAX_NAME} letters"),
        ("Tools", f"of {definitions.MAX_SCHEMA_BYTES:,} bytes and"),
        ("Tools", f"and {definitions.MAX_SCHEMA_DEPTH} levels"),
        ("Tools", f"| calls of a turn | {chat_tools.MAX_CALLS} |"),
        ("Tools", f"| the id of a call | {MAX_ID:,} characters |"),
        ("Tools", f"the {chat_body.MAX_CHARACTERS:,} characters"),
        ("Pictures", f"{pictures.MAX_PICTURES} pictures of"),
        ("Pictures", f"of {pictures.MAX_BYTES_IN_ALL // 1_000_000} MB and"),
        ("Pictures", f"{pictures.MAX_PIXELS_IN_ALL:,} pixels"),
        ("Pictures", f"a body of {chat.MAX_BODY_WITH_PICTURES // chat.MB} MB"),
        ("Pictures", f"{pictures.MAX_BYTES // 1_000_000} MB, {pictures.MAX_SIDE:,} pixels a side"),
        ("Pictures", f"a side and {pictures.MAX_PIXELS:,} in all"),
        ("Pictures", f"within {pictures.FETCH_SECONDS:.0f} seconds"),
        ("Limits", f"{chat.MAX_BODY_WITH_PICTURES // chat.MB} MB with the feature `vision`"),
        ("Embeddings", f"{embeddings_schema.MAX_INPUTS} texts"),
        ("Embeddings", f"{embeddings_schema.MAX_CHARACTERS:,} characters"),
        ("Embeddings", f"{embeddings_schema.MAX_DIMENSIONS} numbers"),
        ("Images", f"{images_schema.MAX_CHARACTERS:,} characters"),
        ("Images", f"1 to {images_schema.MAX_PICTURES} pictures"),
        ("Images", f"for {LINK_SECONDS // 3600} hours"),
        ("Usage", f"At most {usage_schema.MAX_DAYS} days"),
        ("Limits", f"{KEY_LIMIT.requests} in any {KEY_LIMIT.window} seconds"),
        ("Limits", f"| {chat.MAX_BODY // 1024**2} MB for chat"),
        ("Limits", f", {embeddings.MAX_BODY // 1024**2} MB for embeddings"),
        ("Limits", f", {images.MAX_BODY // 1024} KB for images"),
        ("Limits", f"{MAX_ACTIVE_KEYS} for each account"),
        ("Limits", f"| {MAX_ALLOWED_MODELS} |"),
        ("Limits", f"{MAX_SPEND_CAP_USD:,} USD"),
    ],
)
def test_limits_are_told_as_they_are(title: str, limit: str) -> None:
    assert limit in " ".join(section(title).split())


# --- Sums ---------------------------------------------------------------------------------------


def usd(nano_usd: int) -> str:
    return f"{nano_usd / NUSD_PER_USD:.6f}"


@pytest.mark.parametrize(
    ("model_id", "allowance_left"),
    [
        ("gpt-6-luna", 2_000_000),
        ("kimi-k3", 0),
        ("claude-haiku-5-5", 0),
        ("text-embedding-3-small", 0),
    ],
)
def test_a_worked_example_is_what_the_functions_do(
    committed: None, model_id: str, allowance_left: int
) -> None:
    table = {row[0].split("`")[0]: row[1:] for row in rows(section("What a request costs"))}
    *tokens, cost, plan, balance, billed = table[model_id]
    model = cast(Model, get_catalog().find(model_id))
    tokens_in, cached, tokens_out = (int(number.replace(",", "")) for number in tokens)
    amount = token_cost(cast(TokenPrice, model.price), tokens_in, tokens_out, cached)
    assert [cost, plan, balance, billed] == _billed(model, amount, allowance_left)


def _billed(model: Model, cost: int, allowance_left: int) -> list[str]:
    """What a call of that cost takes from whom, as it is told in the table."""
    account = bank.new_account(plan="max", balance=10 * NUSD_PER_USD)
    owner = bank.live_owner()
    granted = PlanAllowance.objects.filter(plan_id="max", model_id=model.id).first()
    if granted:
        _, earlier = bank.hold(
            account, granted.granted - allowance_left, owner=owner, model=model.id
        )
        bank.settle(earlier, granted.granted - allowance_left)
    _, charge_id = bank.hold(account, cost, owner=owner, model=model.id)
    bank.settle(charge_id, cost)
    charge = bank.charge_of(charge_id)
    parts = (charge.charge_plan, charge.charge_balance)
    return [usd(amount) for amount in (cost, *parts, sum(parts))]
