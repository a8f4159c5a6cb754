"""The recipe *Add a feature flag*: new spaces can be switched off."""

from tests.recipes.recipe import Part, Recipe, before, noticed, replace, write

_IN_CODE = "platform/content/tests/test_flags_in_code.py"
_READ = f"{_IN_CODE}::test_every_flag_is_read_by_the_app_that_owns_it"
_LISTED = f"{_IN_CODE}::test_every_flag_is_listed_and_named_as_its_constant"
_PAGE = "tests/test_content_docs.py::test_every_flag_is_explained_with_its_default"
_TEST = "conversations/tests/test_new_spaces_off.py"
_OPENAPI = "tests/test_openapi.py::test_what_is_kept_beside_the_code_is_true"
_SERVICE = "conversations/services/spaces.py"

_FLAG = """\
NEW_SPACES = UserFlag(
    name="new_spaces",
    default=True,
    description="Spaces can be created. Those that exist can be used all the same.",
    owner="conversations",
)
"""
_ROW = "| `new_spaces` | on | Spaces can be created. Those that exist can be used all the same. |\n"
_ERROR = '''\
class NewSpacesOff(Forbidden):
    """Operators have switched new spaces off (`content.flags.NEW_SPACES`)."""

    code = "new_spaces_off"
    message = "Spaces cannot be created at the moment."


'''
_TESTS = '''\
"""New spaces while operators have switched them off."""

from conftest import Persona
from content.flags import NEW_SPACES
from tests.flags import switched


def test_no_space_is_created(alice: Persona) -> None:
    with switched(NEW_SPACES, on=False):
        answer = alice.client.post("/api/spaces", {"name": "Sea"}, format="json")
        assert (answer.status_code, answer.json()["code"]) == (403, "new_spaces_off")
    assert alice.client.post("/api/spaces", {"name": "Sea"}, format="json").status_code == 201
'''

RECIPE = Recipe(
    name="flag",
    title="Add a feature flag",
    app="conversations",
    tests=(
        *("make missing-migrations", "make lint"),
        *(_IN_CODE, "tests/test_content_docs.py", _TEST, _OPENAPI),
    ),
    parts=(
        Part(
            1,
            "the constant",
            (before("platform/content/flags.py", "_ALL = (", _FLAG + "\n"),),
            noticed("make missing-migrations", says="name 'NEW_SPACES' is not defined"),
        ),
        Part(
            1,
            "the constant in the list",
            (
                replace(
                    "platform/content/flags.py",
                    "_ALL = (SIGN_UP, PUBLIC_SHARING)\n",
                    "_ALL = (SIGN_UP, PUBLIC_SHARING, NEW_SPACES)\n",
                ),
            ),
            noticed(_LISTED, says="new_spaces"),
        ),
        Part(
            2,
            "the refusal",
            (
                before(
                    _SERVICE,
                    "    # Creations of one account take turns here,",
                    "    if not flags.NEW_SPACES.is_on(user):\n        raise NewSpacesOff\n",
                ),
                before(
                    _SERVICE,
                    "from conversations import user_events\n",
                    "from content import flags\n",
                ),
                replace(
                    _SERVICE,
                    "import NothingToShareWith, TooManySpaces\n",
                    "import NewSpacesOff, NothingToShareWith, TooManySpaces\n",
                ),
            ),
            noticed(_READ, says="NEW_SPACES"),
        ),
        Part(
            2,
            "the error",
            (before("conversations/errors.py", "class NothingToShare(Conflict):\n", _ERROR),),
            noticed(_OPENAPI, says="cannot import name 'NewSpacesOff'"),
        ),
        Part(
            2,
            "the error among those of the endpoint",
            (
                replace(
                    "conversations/viewsets/spaces.py",
                    "import NothingToShareWith, OwnerOnly, TooManySpaces\n",
                    "import NewSpacesOff, NothingToShareWith, OwnerOnly, TooManySpaces\n",
                ),
                replace(
                    "conversations/viewsets/spaces.py",
                    "**error_responses(TooManySpaces)}",
                    "**error_responses(TooManySpaces, NewSpacesOff)}",
                ),
            ),
            None,
        ),
        Part(3, "its test", (write(_TEST, _TESTS),), None),
        Part(
            4,
            "the documents of the interfaces",
            (),
            noticed(_OPENAPI, says="run `make openapi`"),
            command="make openapi",
        ),
        Part(
            4,
            "its row",
            (before("docs/api/content.md", "\nAsk when the web app starts,", _ROW),),
            noticed(_PAGE, says="docs/api/content.md, Feature flags: add [('new_spaces'"),
        ),
        Part(
            4,
            "the changelog",
            (
                before(
                    "CHANGELOG.md",
                    "- **API**: With the flag `public_sharing` off,",
                    "- **API**: With the flag `new_spaces` off, no spaces are created"
                    " (403 `new_spaces_off`).\n",
                ),
            ),
            None,
        ),
    ),
)
