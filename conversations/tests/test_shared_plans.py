"""Shared spaces are read by indexes, in as many queries for a team of 100 as for one of two."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from conftest import Persona
from conversations.models import Conversation, Space
from conversations.selectors.access import spaces_open_to
from conversations.tests.rows import add, talk
from conversations.tests.sharers import SPACES
from teams.models import Member, Team
from teams.tests.people import add_owner

LIST = "/api/conversations"
MATES = 98
FILLED = {"conversations_conversation", "conversations_space"}
BY_ID = [
    f"{SPACES}/{{space}}",
    f"{LIST}?space_id={{space}}",
    f"{LIST}/{{conversation}}",
    f"{LIST}/{{conversation}}/messages",
    f"{LIST}/{{conversation}}/messages/{{message}}",
    f"{LIST}/{{conversation}}/export",
    "/api/files/{message}",
]


@pytest.fixture
def space(alice: Persona, bob: Persona) -> Space:
    """Alice's, with a conversation in it; bob is in her team."""
    team = add_owner(alice.user)
    Member.objects.create(account=bob.user, team=team, role="member")
    space = Space.objects.create(account=alice.user, name="Sea", shared="write")
    talk(alice.user, "How deep?", "Very.", space=space)
    return space


def fill(team: Team) -> None:
    """To 100 members, each with two shared spaces, one that is not, and a conversation in each; and
    far more of somebody else, as the planner is told."""
    emails = [f"mate-{number}@example.com" for number in range(MATES)]
    mates = User.objects.bulk_create([User(email=email) for email in emails])
    Member.objects.bulk_create([Member(account=mate, team=team, role="member") for mate in mates])
    for shared in ("read", "write", None):
        for mate in mates:
            space = Space.objects.create(account=mate, name="Lake", shared=shared)
            Conversation.objects.create(account=mate, space=space)
    stranger = User.objects.create(email="stranger@example.com")
    spaces = Space.objects.bulk_create(Space(account=stranger, name="Pond") for _ in range(5_000))
    Conversation.objects.bulk_create(Conversation(account=stranger, space=each) for each in spaces)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE " + ", ".join(sorted(FILLED)))


def queries_of(ask: Callable[[], Any]) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        assert ask().status_code == 200
    return [each["sql"] for each in queries]


def whole_tables_of(statement: str) -> set[str]:
    """The tables that the plan of a statement reads whole, because no index helps it: of tables as
    small as here the planner would read all at once."""
    with transaction.atomic(), connection.cursor() as cursor:
        for way in ("seqscan", "hashjoin", "mergejoin"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
        cursor.execute("EXPLAIN (FORMAT JSON) " + statement.replace("%", "%%"))
        [[plan]] = cursor.fetchall()
        transaction.set_rollback(True)
    return scanned(plan[0]["Plan"])


def scanned(plan: dict[str, Any]) -> set[str]:
    """An index without a condition is read whole, too."""
    kind = plan["Node Type"]
    is_whole = kind == "Seq Scan" or (kind.startswith("Index") and "Index Cond" not in plan)
    own: set[str] = {plan["Relation Name"]} if is_whole and "Relation Name" in plan else set()
    return own.union(*map(scanned, plan.get("Plans", [])))


def test_in_a_team_of_100_as_many_queries_find_what_is_shared(bob: Persona, space: Space) -> None:
    paths = [SPACES, LIST, f"{LIST}?space_id={{space}}&q=deep", *BY_ID]
    asks = {path: asking(bob, space, path) for path in paths}
    few = {path: len(queries_of(ask)) for path, ask in asks.items()}
    fill(Team.objects.get(members__account=bob.user))
    for number in range(20):
        mate = space.account_id if number % 2 else None
        add(space.conversations.get(), f"Sounding {number}", author_id=mate)
    for path, ask in asks.items():
        many = queries_of(ask)
        assert len(many) == few[path], path
        if path in BY_ID:
            for statement in many:
                if statement.startswith(("SELECT", "WITH")):
                    assert not whole_tables_of(statement) & FILLED, (path, statement)
    # The spaces of a team are found by their owners.
    with CaptureQueriesContext(connection) as queries:
        assert len(spaces_open_to(bob.user).order_by()) == 1 + 2 * MATES
    assert not whole_tables_of(queries[0]["sql"]) & FILLED


def asking(person: Persona, space: Space, path: str) -> Callable[[], Any]:
    conversation = space.conversations.get()
    message = conversation.leaf_id
    path = path.format(space=space.pk, conversation=conversation.pk, message=message)
    return lambda: person.client.get(path)
