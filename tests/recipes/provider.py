"""The recipe *Add a provider and a model*: Lighthouse, with OpenAI's interface, and its Beam."""

from devserver.paths import ROOT
from tests.recipes.recipe import Part, Recipe, after, before, noticed, replace, write

_DECISION = "docs/decisions/0011-allowances-stay-below-the-price.md"
_STREAMS = "platform/ai/providers/tests/test_vendor_streams.py"
_FIXTURES = "platform/ai/providers/tests/fixtures"
_HAS_FIXTURE = f"{_STREAMS}::test_every_vendor_with_a_chat_interface_has_a_fixture"
_CACHED = (
    "platform/ai/catalog/tests/test_seed_catalog.py"
    "::test_cached_input_costs_what_its_provider_lists"
)
_PROMISES = "tests/contract/01_service.toml"
_CONTRACT = "tests/test_contract.py::test_the_page_is_what_the_files_say"
_DOCS = "tests/test_docs.py"
_SUMS = f"{_DECISION}: add [('Advanced'"
_FIGURES = f"{_DOCS}::test_the_figures_of_the_plans_are_those_of_the_plan_table"
_ADDRESSES = f"{_DOCS}::test_the_address_of_each_provider_is_documented_as_it_is"
_VARIABLES = f"{_DOCS}::test_every_variable_that_is_read_is_documented_and_no_other"
_EXAMPLE = f"{_DOCS}::test_the_example_environment_names_every_variable"
_COUNTS = f"{_DOCS}::test_a_count_is_that_of_the_code"

_PROVIDER = """\
    "lighthouse": Provider(
        "https://api.lighthouse.example/v1",
        Flags(max_field="max_completion_tokens", effort_map=SAME_WORD),
    ),
"""
_MODEL = """\
    ModelSeed(
        id="beam-1",
        display_name="Beam 1",
        provider="lighthouse",
        released_on=date(2026, 11, 2),
        context_window=131_072,
        max_output_tokens=65_536,
        prices=(per_million("0.20", "0.80", cached_usd="0.02"),),
        reasoning=True,
    ),
"""

RECIPE = Recipe(
    name="provider",
    title="Add a provider and a model",
    tests=(
        *("make lint", _STREAMS, _CONTRACT),
        "tests/test_openapi.py::test_what_is_kept_beside_the_code_is_true",
        *(_FIGURES, _ADDRESSES, _EXAMPLE, _COUNTS),
        _VARIABLES,
        *(_CACHED, "billing/tests/test_plans.py"),
    ),
    otherwise=frozenset(
        {
            "platform/ai/catalog/tests/test_seed_catalog.py",
            "platform/ai/catalog/studio_seeds.py",
        }
    ),
    parts=(
        Part(
            1,
            "the provider",
            (before("platform/ai/providers/config.py", '    "together": Provider(', _PROVIDER),),
            noticed(_HAS_FIXTURE, says="USAGE in this file: add [], remove ['lighthouse']"),
        ),
        Part(
            2,
            "the model",
            (
                before(
                    "platform/ai/catalog/seeds.py",
                    '    ModelSeed(\n        id="gpt-oss-120b",\n',
                    _MODEL,
                ),
            ),
            noticed(_COUNTS, says="CHANGELOG.md shall say '13 chat models'"),
        ),
        Part(
            3,
            "what plans grant of it",
            (
                after(
                    "billing/seeds.py",
                    '    "gpt-oss-120b": (60, 80, 100, 150),\n',
                    '    "beam-1": (2, 5, 5, 5),\n',
                ),
            ),
            noticed(_FIGURES, says=_SUMS),
        ),
        Part(
            3,
            "the sums of the plans",
            (
                replace(
                    _DECISION,
                    "| Starter | 12.00 | 10 | 5.90 | 49.2 % | 4.06 |\n",
                    "| Starter | 12.00 | 11 | 5.92 | 49.3 % | 4.07 |\n",
                ),
                replace(
                    _DECISION,
                    "| Pro | 25.00 | 14 | 14.90 | 59.6 % | 11.45 |\n",
                    "| Pro | 25.00 | 15 | 14.95 | 59.8 % | 11.47 |\n",
                ),
                replace(
                    _DECISION,
                    "| Max | 42.00 | 16 | 25.10 | 59.8 % | 19.76 |\n",
                    "| Max | 42.00 | 17 | 25.15 | 59.9 % | 19.78 |\n",
                ),
                replace(
                    _DECISION,
                    "| Advanced | 72.00 | 16 | 41.20 | 57.2 % | 33.28 |\n",
                    "| Advanced | 72.00 | 17 | 41.25 | 57.3 % | 33.31 |\n",
                ),
            ),
            noticed(_FIGURES, says=_SUMS),
        ),
        Part(
            4,
            "a stream of it",
            (
                write(
                    f"{_FIXTURES}/lighthouse.sse",
                    (ROOT / _FIXTURES / "groq.sse").read_text(),
                ),
            ),
            noticed(_HAS_FIXTURE, says="one .sse of each provider: add ['lighthouse']"),
        ),
        Part(
            4,
            "the counts of that stream",
            (after(_STREAMS, '    "groq": FULL,\n', '    "lighthouse": FULL,\n'),),
            noticed(_HAS_FIXTURE, says="USAGE in this file: add ['lighthouse']"),
        ),
        Part(
            5,
            "the number that a key reaches",
            (replace(_PROMISES, "One key reaches 13 chat", "One key reaches 14 chat"),),
            noticed(_COUNTS, says="tests/contract/01_service.toml shall say"),
        ),
        Part(
            5,
            "its name in the changelog",
            (
                replace(
                    "CHANGELOG.md",
                    "DeepSeek, Mistral, Moonshot and Groq ([providers]",
                    "DeepSeek, Mistral, Moonshot, Groq and Lighthouse ([providers]",
                ),
            ),
            None,
        ),
        Part(
            5,
            "the page of the contract",
            (),
            noticed(_CONTRACT, says="run `make contract`"),
            command="make contract",
        ),
        Part(
            5,
            "its key and address",
            (
                after(
                    "docs/configuration.md",
                    "| `GROQ_BASE_URL` | `https://api.groq.com/openai/v1` | its address |\n",
                    "| `LIGHTHOUSE_API_KEY` | | key for Lighthouse |\n"
                    "| `LIGHTHOUSE_BASE_URL` | `https://api.lighthouse.example/v1` |"
                    " its address |\n",
                ),
            ),
            noticed(_VARIABLES, says="docs/configuration.md: add ['LIGHTHOUSE_API_KEY'"),
        ),
        Part(
            5,
            "its key and address in the example",
            (
                after(
                    ".env.example",
                    "#GROQ_BASE_URL=https://api.groq.com/openai/v1\n",
                    "#LIGHTHOUSE_API_KEY=\n"
                    "#LIGHTHOUSE_BASE_URL=https://api.lighthouse.example/v1\n",
                ),
            ),
            noticed(_EXAMPLE, says="LIGHTHOUSE_API_KEY"),
        ),
        Part(
            5,
            "the count in the changelog",
            (replace("CHANGELOG.md", "has 13 chat models,", "has 14 chat models,"),),
            noticed(_COUNTS, says="CHANGELOG.md shall say '14 chat models'"),
        ),
    ),
)
