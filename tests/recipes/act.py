"""The recipe *Add an act with its event*: a council gets the title back that it began with."""

from tests.recipes.recipe import Part, Recipe, after, before, noticed, write

_SERVICE = "council/services/sessions.py"
_TEST = "council/tests/test_reset_title.py"
_ADDITIONS = "tests/contract/additions.toml"
_OPENAPI = "tests/test_openapi.py::test_what_is_kept_beside_the_code_is_true"
_ASYNCAPI = "tests/test_asyncapi.py"
_KEPT = f"{_ASYNCAPI}::test_what_is_kept_beside_the_code_is_true"
_PAGES = f"{_ASYNCAPI}::test_the_pages_have_the_declared_types"
_WRITERS = f"{_ASYNCAPI}::test_each_type_is_written_by_a_test_that_is_there"
_PROMISED = "tests/test_contract.py::test_every_endpoint_is_promised_or_listed_beside_the_promises"
_ON_ITS_PAGE = "tests/test_contract.py::test_what_is_beyond_the_promises_is_described"
_CONTRACT = "tests/test_contract.py::test_the_page_is_what_the_files_say"
_EVERY_ACT = "council/tests/test_every_act.py"
_TRIED = f"{_EVERY_ACT}::test_every_endpoint_that_changes_a_council_is_tried"
_OWNERSHIP = "council/tests/test_ownership.py"
_ROUTES = f"{_OWNERSHIP}::test_every_route_is_here"

_ACT = '''\
@transaction.atomic
def reset_title(*, user: User, session_id: UUID) -> None:
    """Give the council the first line of its question as its title again. Raises NotFound."""
    session = lock_session(user, session_id)
    session.title = first_line(session.prompt, MAX_TITLE)
    session.save(update_fields=["title"])
    append_events(session=session, events=[events.session_retitled(session)])


'''
_WRITER = '''\
def session_retitled(session: Session) -> NewEvent:
    """Its title is the first line of its question again."""
    return NewEvent("session.retitled", {"session": session_in_event(session)}, USER)


'''
_TYPE = """\
    EventType("session.retitled", "its title is the first line of its question again", _SESSION),
"""
_ENDPOINT = '''\
    @extend_schema(operation_id="resetCouncilTitle", request=None, responses=SessionSerializer)
    def reset_title(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Give a council the first line of its question as its title again."""
        sessions.reset_title(user=request.user, session_id=session_id)
        return Response(SessionSerializer(get_session(request.user, session_id)).data)

'''
_ROUTE = """\
    path("sessions/<uuid:session_id>/reset-title", SessionViewSet.as_view({"post": "reset_title"})),
"""
_TESTS = '''\
"""POST /api/council/sessions/{id}/reset-title: the first line of the question is the title."""

import pytest

from council.tests import log
from council.tests.council_client import QUESTION, SESSIONS, new_council_client
from events.tests.streams import user_events

pytestmark = pytest.mark.usefixtures("committed", "providers")


def test_the_title_is_the_first_line_of_the_question_again() -> None:
    alice = new_council_client()
    session, _ = alice.council("Deep.")
    alice.client.patch(f"{SESSIONS}/{session.pk}", {"title": "Sea"}, format="json")

    answer = alice.post(f"{SESSIONS}/{session.pk}/reset-title")

    title = QUESTION.partition("\\n")[0]
    assert (answer.status_code, answer.json()["title"]) == (200, title)
    assert log.types(session.pk)[-1] == "session.retitled"
    assert user_events(alice.user)[-1][1]["council"]["title"] == title
'''

RECIPE = Recipe(
    name="act",
    title="Add an act with its event",
    tests=(
        *("make lint", _TEST, _OPENAPI, _TRIED, _ROUTES, "tests/test_openapi_names.py"),
        *(_KEPT, _PAGES, _WRITERS, _PROMISED, _ON_ITS_PAGE, _CONTRACT),
    ),
    unneeded=frozenset({1}),
    otherwise=frozenset(
        {
            "council/selectors/sessions.py",
            "council/tests/test_start_session.py",
            "tests/test_openapi_names.py",
            "council/request_serializers.py",
            "platform/apidocs/examples/bodies.py",
            "platform/apidocs/examples/streamed.py",
            "council/tests/picture.py",
        }
    ),
    parts=(
        Part(
            2,
            "the service",
            (before(_SERVICE, "@transaction.atomic\ndef delete(", _ACT),),
            noticed(_TEST, says="has no attribute 'reset_title'"),
        ),
        Part(
            2,
            "the type",
            (after("council/event_types.py", 'has changed", _SESSION),\n', _TYPE),),
            noticed(_WRITERS, says="'session.retitled'"),
        ),
        Part(
            2,
            "what writes the type",
            (before("council/events.py", "def card_created(", _WRITER),),
            noticed(_TEST, says="has no attribute 'session_retitled'"),
        ),
        Part(
            3,
            "the endpoint",
            (
                before(
                    "council/viewsets/sessions.py",
                    '    @extend_schema(operation_id="deleteCouncil"',
                    _ENDPOINT,
                ),
            ),
            noticed(_TEST, says="reset_title"),
        ),
        Part(
            3,
            "the route",
            (before("council/urls.py", '    path("sessions/<uuid:session_id>/cards",', _ROUTE),),
            noticed(_TRIED, says="BODIES in council/tests/test_every_act.py: add [], remove"),
        ),
        Part(
            4,
            "the documents of the interfaces",
            (),
            noticed(_OPENAPI, _KEPT, says="run `make openapi`"),
            command="make openapi",
        ),
        Part(
            4,
            "the row of the endpoint",
            (
                before(
                    "docs/api/app.md",
                    "| DELETE | `/api/council/sessions/{session_id}` |",
                    "| POST | `/api/council/sessions/{session_id}/reset-title` |"
                    " the first line of the question is its title again |\n",
                ),
            ),
            noticed(_ON_ITS_PAGE, says="reset-title"),
        ),
        Part(
            4,
            "the row of the type",
            (
                before(
                    "docs/api/events.md",
                    "| `session.completed` |",
                    "| `session.retitled` | `session` |"
                    " its title is the first line of its question again |\n",
                ),
            ),
            noticed(_PAGES, says="session.retitled"),
        ),
        Part(
            4,
            "the changelog",
            (
                before(
                    "CHANGELOG.md",
                    "- **Councils**: Councils can be renamed,",
                    "- **Councils**: A council can get its first title back.\n",
                ),
            ),
            None,
        ),
        Part(
            4,
            "the line beside the promises",
            (
                before(
                    _ADDITIONS,
                    '    "POST /api/council/sessions/{session_id}/stop",\n',
                    '    "POST /api/council/sessions/{session_id}/reset-title",\n',
                ),
            ),
            noticed(_PROMISED, says="reset-title"),
        ),
        Part(
            4,
            "the page of the contract",
            (),
            noticed(_CONTRACT, says="run `make contract`"),
            command="make contract",
        ),
        Part(
            5,
            "the test that writes the type",
            (
                before(
                    "tests/written_events.toml",
                    '"session.completed" = "council/',
                    f'"session.retitled" = "{_TEST}'
                    '::test_the_title_is_the_first_line_of_the_question_again"\n',
                ),
            ),
            noticed(_WRITERS, says="tests/written_events.toml: add"),
        ),
        Part(
            5,
            "the act among all acts",
            (
                after(
                    _EVERY_ACT,
                    '    ("POST", f"{SESSION}/stop"): {},\n',
                    '    ("POST", f"{SESSION}/reset-title"): {},\n',
                ),
            ),
            noticed(_TRIED, says="BODIES in council/tests/test_every_act.py: add"),
        ),
        Part(
            5,
            "the route among those of owners",
            (
                after(
                    _OWNERSHIP,
                    '    ("POST", f"{SESSIONS}/{{session_id}}/stop", {}),\n',
                    '    ("POST", f"{SESSIONS}/{{session_id}}/reset-title", {}),\n',
                ),
            ),
            noticed(_ROUTES, says="ROUTES in council/tests/test_ownership.py: add"),
        ),
        Part(
            5,
            "its test",
            (write(_TEST, _TESTS),),
            noticed(_WRITERS, says="test_reset_title"),
        ),
        Part(
            6,
            "that it changes the row",
            (
                after(
                    "council/services/log.py",
                    '        "session.updated",\n',
                    '        "session.retitled",\n',
                ),
            ),
            noticed(_TEST, says="test_the_title_is_the_first_line_of_the_question_again"),
        ),
    ),
)
