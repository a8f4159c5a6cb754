"""The recipe *Add a field to a resource*: a description of a space."""

from tests.recipes.recipe import Part, Recipe, after, noticed, replace

_SPACES = "conversations/tests/test_spaces.py"
_READ = f"{_SPACES}::test_a_space_is_made_and_read_again"
_EXAMPLES = "tests/test_openapi_examples.py"
_OPENAPI = "tests/test_openapi.py::test_what_is_kept_beside_the_code_is_true"
_CONTRACT = "tests/test_contract.py::test_the_page_is_what_the_files_say"
_PROMISES = "tests/contract/11_other_endpoints.toml"

RECIPE = Recipe(
    name="field",
    title="Add a field to a resource",
    tests=(
        *("make missing-migrations", "make lint"),
        *(_SPACES, _OPENAPI, _CONTRACT),
        "tests/test_openapi_examples.py::test_every_body_and_every_answer_has_an_example_that_is_valid",
        *(
            "tests/test_asyncapi.py::test_what_is_kept_beside_the_code_is_true",
            "tests/test_docs.py::test_links_lead_somewhere",
        ),
        "platform/privacy/tests/test_registry.py",
    ),
    otherwise=frozenset({"docs/asyncapi.json"}),
    parts=(
        Part(
            1,
            "the limit",
            (
                after(
                    "conversations/types.py",
                    "MAX_INSTRUCTIONS = 20_000  # of a space\n",
                    "MAX_DESCRIPTION = 500  # of a space\n",
                ),
            ),
            noticed("make missing-migrations", says="cannot import name 'MAX_DESCRIPTION'"),
        ),
        Part(
            1,
            "the column",
            (
                after(
                    "conversations/models.py",
                    "    instructions = models.TextField(blank=True)\n",
                    "    description = models.CharField("
                    'max_length=MAX_DESCRIPTION, blank=True, db_default="")\n',
                ),
                replace(
                    "conversations/models.py",
                    "from conversations.types import MAX_CLIENT_ID\n",
                    "from conversations.types import MAX_CLIENT_ID, MAX_DESCRIPTION\n",
                ),
            ),
            noticed("make missing-migrations", says="Remove field description from space"),
        ),
        Part(
            1,
            "the migration",
            (),
            noticed("make missing-migrations", says="Add field description to space"),
            command="make migrations --name space_description",
        ),
        Part(
            2,
            "what an export has of it",
            (
                replace(
                    "conversations/data_ownership.py",
                    '"id name instructions shared created_at updated_at"',
                    '"id name instructions description shared created_at updated_at"',
                ),
            ),
            noticed("platform/privacy/tests/test_registry.py", says="description"),
        ),
        Part(
            3,
            "the request",
            (
                after(
                    "conversations/request_serializers/conversations.py",
                    "    instructions = TextField(max_length=MAX_INSTRUCTIONS, required=False,"
                    " allow_blank=True)\n",
                    "    description = TextField("
                    "max_length=MAX_DESCRIPTION, required=False, allow_blank=True)\n",
                ),
                after(
                    "conversations/request_serializers/conversations.py",
                    "    MAX_DELETED,\n",
                    "    MAX_DESCRIPTION,\n",
                ),
            ),
            noticed(_READ, says="description"),
        ),
        Part(
            3,
            "the answer",
            (
                after(
                    "conversations/serializers/conversations.py",
                    "    instructions = serializers.CharField(read_only=True)\n",
                    "    description = serializers.CharField(read_only=True)\n",
                ),
            ),
            noticed(_READ, says="description"),
        ),
        Part(
            4,
            "the service that creates one",
            (
                replace(
                    "conversations/services/spaces.py",
                    'def create(*, user: User, name: str, instructions: str = "") -> Space:\n',
                    "def create("
                    '*, user: User, name: str, instructions: str = "", description: str = "")'
                    " -> Space:\n",
                ),
                replace(
                    "conversations/services/spaces.py",
                    "    return Space.objects.create("
                    "account=user, name=name, instructions=instructions)\n",
                    "    return Space.objects.create(\n        account=user, name=name,"
                    " instructions=instructions, description=description\n    )\n",
                ),
            ),
            noticed(_READ, says="unexpected keyword argument 'description'"),
        ),
        Part(
            4,
            "the dictionary of what changes one",
            (
                after(
                    "conversations/services/spaces.py",
                    "    instructions: str\n",
                    "    description: str\n",
                ),
            ),
            None,
            untried="`make types` notices it, which takes a minute on a tree without a cache",
        ),
        Part(
            5,
            "its example",
            (
                replace(
                    "platform/apidocs/examples/fields.py",
                    '"Space": {"conversations": 3,',
                    '"Space": {"conversations": 3, "description": "About tides.",',
                ),
            ),
            noticed(_EXAMPLES, says="Space.description has no sample"),
        ),
        Part(
            6,
            "the documents of the interfaces",
            (),
            noticed(_OPENAPI, says="run `make openapi`"),
            command="make openapi",
        ),
        Part(
            6,
            "the endpoint's row, the changelog, and what quotes the body",
            (
                replace(
                    "docs/api/app.md",
                    "| POST | `/api/spaces` | `{name, instructions?}` |\n",
                    "| POST | `/api/spaces` | `{name, instructions?, description?}` |\n",
                ),
                after(
                    "CHANGELOG.md",
                    "- **Chat**: Conversations are sorted into [spaces](docs/api/app.md#spaces).\n",
                    "- **Chat**: Spaces have a `description`.\n",
                ),
                replace(
                    _PROMISES,
                    "`{name, instructions?}` (",
                    "`{name, instructions?, description?}` (",
                ),
                replace(
                    _PROMISES,
                    "`{name?, instructions?, shared?}`",
                    "`{name?, instructions?, description?, shared?}`",
                ),
            ),
            None,
        ),
        Part(
            6,
            "the page of the contract",
            (),
            noticed(_CONTRACT, says="run `make contract`"),
            command="make contract",
        ),
        Part(
            7,
            "its tests",
            (
                replace(
                    _SPACES,
                    'answer = make(alice, instructions="Be brief.")\n',
                    'answer = make(alice, instructions="Be brief.", description="About tides.")\n',
                ),
                after(
                    _SPACES,
                    '    assert set(space) == {\n        "id",\n        "name",\n',
                    '        "description",\n',
                ),
                replace(
                    _SPACES,
                    "    assert {key: space[key] for key in (",
                    '    assert space["description"] == "About tides."\n'
                    "    assert {key: space[key] for key in (",
                ),
            ),
            noticed(_READ, says="description"),
        ),
    ),
)
