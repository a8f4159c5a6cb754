"""The documents say what is so: examples run, numbers are computed, names and links exist."""

import ast
import functools
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import cast, get_args

import httpx
import pytest

from ai.catalog import seeds, studio_seeds
from ai.catalog.listing import ModelSeed
from ai.catalog.pricing import token_cost
from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model, TokenPrice
from ai.generations.types import Status as EndStatus
from ai.providers.config import PROVIDERS, SIMULATED_BY_DEFAULT, from_environ
from ai.providers.tokens import input_upper_bound
from ai.providers.types import Message
from billing.models import PlanAllowance
from billing.seeds import ALLOWANCE_PLANS, ALLOWANCES, PLANS
from billing.tests import bank
from billing.types import FREE_MESSAGES, FREE_WINDOW_HOURS
from common.money import NUSD_PER_USD
from conversations import types as conversations
from council import types as council
from devserver import configuration
from devserver.paths import ROOT
from events.declarations import declared_types
from events.types import USER_STREAM
from integrations.connectors import providers as connectors
from projects import types as projects
from tests.documents import assert_same, examples, rows, section
from tests.personas import new_key, new_user
from tests.service import Web

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
DECISIONS = [path for path in DOCUMENTS if path.parent.name == "decisions"]
COUNCIL_SERVICES, PROJECT_SERVICES = (
    [str(path.relative_to(ROOT)) for path in (ROOT / app / "services").glob("*.py")]
    for app in ("council", "projects")
)
_APPS = (
    *("conversations", "council", "projects", "studios", "teams"),
    *("platform/integrations/workspaces", "platform/integrations/connectors", "platform/privacy"),
)
USER_EVENTS = [f"{app}/user_events.py" for app in _APPS]
SETTINGS = ROOT / "platform" / "config" / "settings"

# Variables that neither the settings nor the local default read through a mapping.
# Names of others' that documents mention.
THEIRS = {
    *("example.py", "asyncio.shield", "AddIndexConcurrently", "SharedWorker"),
    *("log_format", "pg_partman", "proxy_read_timeout", "proxy_set_header"),
    *("synchronous_standby_names", "last_failed_time", "max_wal_size", "LimitNOFILE"),
    *("OTEL_TRACES_EXPORTER", "OTEL_PROPAGATORS"),
    *("HttpOnly", "SameSite", "changeOrigin"),
    *("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"),
}
NOT_OURS = {"var", "node_modules", "__pycache__", "recordings"}
SOURCE_ENDINGS = (
    ".py",
    ".sql",
    ".toml",
    ".yaml",
    ".ini",
    ".conf",
    ".js",
    ".jsx",
    ".mjs",
    ".ts",
    ".tsx",
)
OF_COMMANDS = {"OPERATOR_EMAIL", "OPERATOR_PASSWORD"}
READ_ELSEWHERE = {"DJANGO_SETTINGS_MODULE", "NO_COLOR", "POSTGRES_PASSWORD"} | OF_COMMANDS


def text_of(name: str) -> str:
    return (ROOT / name).read_text()


def table_rows(text: str) -> list[list[str]]:
    """The cells of all table rows in a document, without headings and code marks."""
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in row] for row in rows]


# --- README -------------------------------------------------------------------------------------


def test_the_example_of_the_readme_streams_from_both_models(
    web: Web, committed: None, tmp_path: Path
) -> None:
    _, key = new_key(new_user("alice", plan="max", balance_usd=1))
    (tmp_path / "var").mkdir()
    demo = {"base_url": web.url, "api_key": key}
    (tmp_path / "var" / "demo.json").write_text(json.dumps(demo))
    [example] = re.findall(r"```python\n(.*?)```", text_of("README.md"), re.DOTALL)
    assert "smollm2-135m" in example
    # The local model is not served in tests; another one of the simulator's stands in.
    example = example.replace("smollm2-135m", "grok-4.7")
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("What is the capital of France?") == 2
    assert len(done.stdout.splitlines()) == 2


# --- docs/architecture.md -----------------------------------------------------------------------


def enforced_layers() -> list[str]:
    [layers, *_] = tomllib.loads(text_of("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    return cast(list[str], layers["layers"])


def test_the_layers_are_those_that_are_enforced() -> None:
    _, section = text_of("docs/architecture.md").split("## Layers")
    stated = section.split("```")[1].split("\n")
    assert [line.strip() for line in stated if line.strip()] == enforced_layers()


def test_the_picture_of_the_tour_shows_these_layers() -> None:
    layers = enforced_layers()
    boxes = [f'  L{n}["{layer.replace(" | ", " · ")}"]' for n, layer in enumerate(layers)]
    arrows = "  " + " --> ".join(f"L{n}" for n in range(len(layers)))
    picture = "\n".join(["flowchart TB", *boxes, arrows, ""])
    assert examples(text_of("docs/tour.md"), "mermaid") == [picture]


def test_the_tour_changes_the_sentence_of_an_answer(web: Web) -> None:
    tour = text_of("docs/tour.md")
    [change] = examples(tour, "diff")
    before = [line[1:] for line in change.splitlines() if not line.startswith("+")]
    assert "\n".join(before) in text_of("publicapi/v1/errors.py")
    [path] = re.findall(r"^curl -s http://127.0.0.1:8000(\S+)$", tour, re.MULTILINE)
    assert httpx.get(web.url + path).json()["error"]["message"] in change


@pytest.mark.parametrize("walk", ["a `/v1` call", "a message", "a card"])
def test_a_walk_has_at_most_ten_files(walk: str) -> None:
    files = [row[1] for row in rows(section(ROOT / "docs" / "architecture.md", f"Walk: {walk}"))]
    assert len(set(files)) == len(files) <= 10
    assert files
    assert [name for name in files if not (ROOT / name).is_file()] == []


# --- docs/charging.md ---------------------------------------------------------------------------


def test_the_cost_of_cached_input_is_what_the_functions_make_of_it(db: None) -> None:
    price = cast(TokenPrice, cast(Model, get_catalog().find("gpt-6-luna")).price)
    _, rest = text_of("docs/charging.md").split("## Cached input")
    stated, _, _ = rest.partition("\n## ")
    assert "8,009 tokens, 7,000 of them from the cache, and has written 100" in stated
    lines = {name: numbers for name, *numbers in table_rows(stated) if numbers[-1][0].isdecimal()}
    costs = {
        "input, not cached": token_cost(price, 1_009, 0),
        "input from the provider's cache": token_cost(price, 7_000, 0, 7_000),
        "output": token_cost(price, 0, 100),
        "cost": token_cost(price, 8_009, 100, 7_000),
        "without a cache": token_cost(price, 8_009, 100),
    }
    assert {name: int(numbers[-1].replace(",", "")) for name, numbers in lines.items()} == costs
    for tokens, rate, cost in list(lines.values())[:3]:
        assert int(tokens.replace(",", "")) * round(float(rate) * 1_000) == int(
            cost.replace(",", "")
        )


def test_the_worked_example_is_what_the_functions_do(committed: None) -> None:
    model = cast(Model, get_catalog().find("gpt-6-luna"))
    price = cast(TokenPrice, model.price)
    allowance_before, balance_before = 2_000_000, 10 * NUSD_PER_USD
    account = bank.new_account(plan="max", balance=balance_before)
    owner = bank.live_owner()
    granted = PlanAllowance.objects.get(plan_id="max", model_id=model.id).granted
    _, earlier = bank.hold(account, granted - allowance_before, owner=owner, model=model.id)
    bank.settle(earlier, granted - allowance_before)

    prompt = (Message("user", "x" * 400),)
    bound = input_upper_bound(prompt, model.prompt_overhead_tokens)
    worst, cost = token_cost(price, bound, 2_000), token_cost(price, 90, 1_500)
    _, charge_id = bank.hold(account, worst, owner=owner, model=model.id)
    bank.settle(charge_id, cost)

    charge = bank.charge_of(charge_id)
    _, section = text_of("docs/charging.md").split("## A worked example")
    stated, _, _ = section.partition("\n## ")
    assert "400 + 16 + 64 = 480 tokens" in stated
    assert bound == 480
    assert {
        label: int(amount.replace(",", ""))
        for label, amount in table_rows(stated)
        if amount[0].isdecimal()
    } == {
        "allowance before": allowance_before,
        "balance before": balance_before,
        "worst case": worst,
        "held from the plan": charge.hold_plan,
        "held from the balance": charge.hold_balance,
        "cost": cost,
        "paid by the plan": charge.charge_plan,
        "paid by the balance": charge.charge_balance,
        "billed": charge.charge_plan + charge.charge_balance,
        "balance after": bank.wallet_of(account).balance,
    }


# --- docs/decisions/0011: what the plans grant ---------------------------------------------------

LISTED = [*seeds.CHAT_MODELS, *seeds.IMAGE_MODELS, *seeds.LOCAL_MODELS]


def share_of_provider(model: ModelSeed) -> float:
    """Of what the model is billed at cost, the most that its provider may get."""
    shares: list[float] = []
    for price in model.prices:
        [fee] = [rate for name, rate in price.rates.items() if name.endswith("_fee")]
        # Cached input is never the dearest.
        rates = [
            rate
            for name, rate in price.rates.items()
            if not name.endswith("_fee") and name != "cached_input"
        ]
        shares.append(max(rates) / (max(rates) + fee))
    return max(shares)


def test_the_figures_of_the_plans_are_those_of_the_plan_table() -> None:
    [decision] = [path for path in DECISIONS if path.name.startswith("0011")]
    shares = {model.id: share_of_provider(model) for model in LISTED}
    expected = []
    for column, plan in enumerate(ALLOWANCE_PLANS):
        [seed] = [seed for seed in PLANS if seed.key == plan]
        granted = {model: row[column] / 100 for model, row in ALLOWANCES.items() if row[column]}
        sum_, price = sum(granted.values()), seed.price_usd or 0
        most = sum(usd * shares[model] for model, usd in granted.items())
        row = [seed.name, f"{price:.2f}", str(len(granted)), f"{sum_:.2f}"]
        expected.append([*row, f"{100 * sum_ / price:.1f} %", f"{most:.2f}"])
    names = {seed.name for seed in PLANS}
    stated = [tuple(row) for row in table_rows(decision.read_text()) if row[0] in names]
    assert_same(stated, map(tuple, expected), str(decision.relative_to(ROOT)))


def test_the_cost_of_a_free_account_is_that_of_the_price_list() -> None:
    [decision] = [path for path in DECISIONS if path.name.startswith("0011")]
    stated = [row for row in table_rows(decision.read_text()) if len(row) == 3][2:]
    expected = []
    for prompt, _, _ in stated:
        tokens = int(prompt.replace(",", "")) if prompt[0].isdecimal() else 10**9
        costs = [cost_of_a_day(model, tokens) for model in LISTED if model.free]
        at_cost, to_providers = map(sum, zip(*costs, strict=True))
        expected.append([prompt, f"{at_cost:.2f}", f"{to_providers:.2f}"])
    assert len(stated) == 4
    assert stated == expected


def cost_of_a_day(model: ModelSeed, prompt: int) -> tuple[float, float]:
    """USD at cost, and to the provider, of a free account's messages to a model; each has a prompt
    of that length, as far as the model takes it, and brings 1,024 tokens."""
    rates, messages = model.prices[0].rates, FREE_MESSAGES * 24 // FREE_WINDOW_HOURS
    prompt = min(prompt, model.context_window)
    to_provider = messages * (prompt * rates["input"] + 1_024 * rates["output"]) / 10**12
    fee = messages * (prompt + 1_024) * rates["token_fee"] / 10**12
    return to_provider + fee, 0 if model.provider == "local" else to_provider


# --- docs/configuration.md ----------------------------------------------------------------------


class Recorder(dict[str, str]):
    """An empty environment that notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def get(self, name: str, default: object = None) -> object:  # type: ignore[override]
        self.asked.add(name)
        return default


def documented() -> dict[str, str]:
    """The default of each documented variable, as written there."""
    rows = table_rows(text_of("docs/configuration.md"))
    return {row[0]: row[1] for row in rows if re.fullmatch(r"[A-Z_]+", row[0])}


def settings_reads(name: str) -> Iterator[tuple[str, ast.expr | None]]:
    """Each variable that a settings file reads, and the expression of its default, if any."""
    for node in ast.walk(ast.parse((SETTINGS / name).read_text())):
        if isinstance(node, ast.Call) and re.fullmatch(r"env\.\w+", ast.unparse(node.func)):
            variable, *rest = [*node.args, *(keyword.value for keyword in node.keywords)]
            yield ast.literal_eval(variable), (rest[0] if rest else None)


def test_every_variable_that_is_read_is_documented_and_no_other(tmp_path: Path) -> None:
    asked = Recorder()
    from_environ(asked, simulated=frozenset(), simulator_url="")
    connectors.from_environ(asked)
    configuration.var_folder({"VAR_DIR": str(tmp_path)})
    configuration.resolve(asked, tmp_path)
    read = {name for file in SETTINGS.glob("*.py") for name, _ in settings_reads(file.name)}
    assert_same(documented(), read | asked.asked | READ_ELSEWHERE, "docs/configuration.md")


def test_the_example_environment_names_every_variable() -> None:
    named = set(re.findall(r"^#?([A-Z_]+)=", text_of(".env.example"), re.MULTILINE))
    assert_same(named, documented().keys() - {"NO_COLOR"}, ".env.example")


def test_defaults_are_documented_as_they_are() -> None:
    stated = documented()
    required = {name for name, default in settings_reads("prod.py") if default is None}
    assert {name for name, default in stated.items() if default == "required"} == required
    for name, default in settings_reads("base.py"):
        if name not in required and isinstance(default, ast.Constant):
            value = default.value
            assert stated[name] == str(int(value) if isinstance(value, bool) else value), name


def test_the_address_of_each_provider_is_documented_as_it_is() -> None:
    stated = documented()
    keys = {name: "a key" for name in stated if name.endswith("_API_KEY")}
    providers = from_environ(keys, simulated=frozenset(), simulator_url="")
    assert len(providers) > 10
    for name, config in providers.items():
        assert stated[f"{name.upper()}_BASE_URL"] == config.base_url


def test_the_address_of_each_connector_is_documented_as_it_is() -> None:
    stated = documented()
    services = {str(name): each for name, each in connectors.from_environ({}).items()}
    for name in ("github", "gitlab"):
        assert services[name].authorize_url.startswith(f"{stated[f'{name.upper()}_URL']}/")
    google = services["google_drive"]
    assert google.authorize_url.startswith(f"{stated['GOOGLE_ACCOUNTS_URL']}/")
    assert google.token_url.startswith(f"{stated['GOOGLE_OAUTH_URL']}/")
    assert google.base_url == stated["GOOGLE_DRIVE_URL"]


def test_whom_make_run_simulates_is_documented_as_it_is() -> None:
    hosted = {name for name, known in PROVIDERS.items() if known.is_hosted}
    assert hosted - SIMULATED_BY_DEFAULT == {"mistral"}
    [stated] = [
        row
        for row in table_rows(text_of("docs/configuration.md"))
        if row[0] == "SIMULATED_PROVIDERS"
    ]
    assert "except Mistral" in stated[2]


# --- Events -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        (council.STREAM, ["council/events.py", *COUNCIL_SERVICES]),
        (conversations.STREAM, ["conversations/events.py"]),
        (projects.STREAM, ["projects/events.py", *PROJECT_SERVICES]),
        (USER_STREAM, USER_EVENTS),
    ],
)
def test_every_event_is_declared_and_no_other(kind: str, files: list[str]) -> None:
    """What is declared is compared with docs/api/ in tests/test_asyncapi.py."""
    source = "\n".join(map(text_of, files))
    types = set(re.findall(r'(?:NewEvent|Change)\(\s*"([\w.]+)"', source))
    for family in ("card", "merge", "run", "plan", "subtask", "deliverable", "final"):
        verbs = re.findall(rf'\b{family}_event\(\s*"(\w+)"', source)
        types |= {f"{family}.{verb}" for verb in verbs}
        if verbs and family in ("card", "merge"):  # how its call has ended
            types |= {f"{family}.{verb}" for verb in get_args(EndStatus)}
    types.discard("merge.cancelled")  # it has failed
    declared = [each.name for each in declared_types()[kind]]
    assert_same(declared, types, f"the event types of streams of kind {kind}")


# --- Counts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("CHANGELOG.md", f"{len(seeds.CHAT_MODELS)} chat models"),
        ("CHANGELOG.md", f"{len(seeds.IMAGE_MODELS)} image models"),
        ("CHANGELOG.md", f"{len(seeds.EMBEDDING_MODELS)} embeddings model and"),
        ("CHANGELOG.md", f"{len(studio_seeds.VIDEO_MODELS)} video models"),
        ("CHANGELOG.md", f"{len(studio_seeds.ASSET_MODELS)} models of 3D assets"),
        ("tests/contract/01_service.toml", f"reaches {len(seeds.CHAT_MODELS)} chat models"),
        ("tests/contract/01_service.toml", f"{len(seeds.IMAGE_MODELS)} image models and"),
        ("tests/contract/01_service.toml", f"{len(seeds.EMBEDDING_MODELS)} embeddings model"),
        ("CHANGELOG.md", f"{len(PLANS)} plans"),
        ("CHANGELOG.md", f"{FREE_MESSAGES} messages per model and {FREE_WINDOW_HOURS} hours"),
    ],
)
def test_a_count_is_that_of_the_code(name: str, words: str) -> None:
    assert words in " ".join(text_of(name).split()), f"{name} shall say {words!r}"


# --- All documents ------------------------------------------------------------------------------


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)", document.read_text())
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_files_that_are_named_exist(document: Path) -> None:
    named = re.findall(r"`([\w.-]+/[\w./-]*)`", document.read_text())
    ours = [path for path in named if (ROOT / path.split("/")[0]).is_dir() and path[:4] != "var/"]
    assert [path for path in ours if not (ROOT / path).exists()] == []


@functools.cache
def sources() -> tuple[set[str], set[str]]:
    """The names of all our files, and all words of those that are no documents."""
    names, words = set(), set()
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [each for each in folders if each not in NOT_OURS and each[0] != "."]
        for name in files:
            names.add(name)
            if name.endswith(SOURCE_ENDINGS) or "." not in name or name == ".env.example":
                words.update(re.findall(r"\w+", (Path(folder) / name).read_text(errors="replace")))
    return names, words


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_functions_settings_tables_and_files_that_are_named_exist(document: Path) -> None:
    """What stands between code marks and is a name of ours, by its form: of a file, with an
    underscore, in capitals inside, or with dots. A table may name figures for its document."""
    files, words = sources()
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL)
    figures = set(re.findall(r"^\| `(\w+)` \| [\d.]+ \|", text, re.MULTILINE))
    named = set(re.findall(r"`([\w.]+)(?:\(\))?`", text)) - THEIRS - figures
    lost = {name for name in named if re.search(r"\.(py|sql|md|ts)$", name) and name not in files}
    for name in named:
        if re.fullmatch(r"\w+(\.\w+)*", name) and re.search(r"_|[a-z][A-Z]|\w\.[a-z]", name):
            lost |= {name} if name not in files and set(name.split(".")) - words else set()
    assert lost == set(), f"{document.relative_to(ROOT)} names what is not there"


@pytest.mark.parametrize("document", DECISIONS, ids=lambda path: path.name)
def test_a_decision_has_its_three_parts_and_fits_a_page(document: Path) -> None:
    lines = document.read_text().splitlines()
    headings = [line for line in lines if line.startswith("#")]
    assert headings[0].startswith(f"# {int(document.name[:4])}. ")
    assert headings[1:] == ["## Context", "## Decision", "## Consequences"]
    assert len(lines) < 60
