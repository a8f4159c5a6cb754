"""GET /api/conversations?q=: finding conversations by what was said in them."""

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from billing.tests.web_app import client_of
from conftest import Persona
from conversations.models import Message
from conversations.tests.rows import ASSISTANT, add, talk
from conversations.tests.searching import CONVERSATIONS, found, ids, search
from conversations.types import MAX_QUERY, MAX_WORDS
from tests.personas import new_user
from tests.service import database_url
from tests.stopwatch import Stopwatch


def test_words_are_found_in_what_users_and_models_said(alice: Persona) -> None:
    sea = talk(alice.user, "How deep is the sea?", "Eleven kilometres.")
    talk(alice.user, "How high is the Eiffel tower?", "330 metres.")

    assert found(alice, "sea") == found(alice, "kilometres") == ids(sea)
    assert found(alice, "ocean") == []


def test_words_are_found_in_titles(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", title="The sea")

    [row] = search(alice, "sea")

    assert (row["id"], row["match"]) == (str(sea.pk), None)


def test_a_hit_tells_where_its_words_are(alice: Persona) -> None:
    sea = talk(alice.user, "Tell me of the sea.", f"{'Well. ' * 60}The sea is deep.{' Yes.' * 60}")

    [row] = search(alice, "deep")

    match = row["match"]
    assert match["message_id"] == str(sea.leaf_id)
    assert "The sea is deep." in match["snippet"]
    assert match["snippet"].startswith("…Well.")
    assert match["snippet"].endswith("Yes.…")
    assert len(match["snippet"]) <= 210


def test_of_several_messages_the_newest_is_told(alice: Persona) -> None:
    sea = talk(alice.user, "A deep sea.", "Deep, yes.", "How nice.")

    [row] = search(alice, "deep")

    assert row["match"]["snippet"] == "Deep, yes."
    assert row["id"] == str(sea.pk)


def test_without_a_search_there_is_no_match(alice: Persona) -> None:
    talk(alice.user, "How deep is the sea?")

    [row] = alice.client.get(CONVERSATIONS).json()

    assert row["match"] is None


def test_the_newest_activity_comes_first_and_pages_go_on(alice: Persona) -> None:
    talks = [talk(alice.user, "The sea.", "The sea!") for _ in range(3)]
    talk(alice.user, "The tower.")

    page = alice.client.get(CONVERSATIONS, {"q": "sea", "limit": "2"})
    rest = alice.client.get(page.headers["Link"].partition(">")[0].strip("<"))

    assert [row["id"] for row in page.json()] == ids(*talks[:0:-1])
    assert [row["id"] for row in rest.json()] == ids(talks[0])
    assert "Link" not in rest.headers


def test_all_words_must_be_in_one_message(alice: Persona) -> None:
    both = talk(alice.user, "The sea is deep.")
    talk(alice.user, "The sea.", "How deep?")

    assert found(alice, "deep sea") == ids(both)


def test_the_last_word_may_be_a_beginning_and_the_others_may_not(alice: Persona) -> None:
    sea = talk(alice.user, "Thousands of kilometres of water.")

    assert found(alice, "kilometres wat") == ids(sea)
    assert found(alice, "kilom") == ids(sea)
    assert found(alice, "kilom water") == []


def test_all_branches_are_searched(alice: Persona) -> None:
    sea = talk(alice.user, "How deep is the sea?")
    question = sea.leaf
    add(sea, "Eleven kilometres.", role=ASSISTANT)
    add(sea, "Very.", role=ASSISTANT, parent=question)

    assert found(alice, "eleven") == ids(sea)


def test_instructions_and_reasoning_are_not_searched(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", system="Speak like a pirate.")
    add(sea, "Deep.", role=ASSISTANT, reasoning="The user wants a number.")

    assert found(alice, "pirate") == found(alice, "number") == []


@pytest.mark.parametrize(
    "q",
    [
        "'",
        "sea' | 'tower",
        "sea:B",
        "(((",
        "\\",
        "\\'",
        "%",
        "*",
        "$$",
        "; DROP TABLE conversations_message",
        "\x01\x7f",
        "\u202e",
        "💥" * MAX_QUERY,
        "a" * MAX_QUERY,
        "b " * (MAX_QUERY // 2),
        "-" * MAX_QUERY,
    ],
)
def test_operators_and_noise_find_nothing(alice: Persona, q: str) -> None:
    talk(alice.user, "The tower.")
    talk(alice.user, "The sea:A is deep.")

    assert found(alice, q) == []


@pytest.mark.parametrize(
    "q",
    ["!sea", "sea:*", "sea:A", "sea & !deep", "deep <-> sea", "sea%", "%s", "<b>a</b> sea", "'sea"],
)
def test_operators_are_taken_for_spaces(alice: Persona, q: str) -> None:
    talk(alice.user, "The tower.")
    sea = talk(alice.user, "The sea:A is deep, b.")

    assert found(alice, q) == ids(sea)


def test_what_has_no_word_finds_nothing(alice: Persona) -> None:
    talk(alice.user, "What?!", title="?")

    assert found(alice, "?") == found(alice, "?!") == []


@pytest.mark.parametrize("q", ["", "   "])
def test_nothing_asked_for_is_no_search(alice: Persona, q: str) -> None:
    sea = talk(alice.user, "The sea.")

    assert found(alice, q) == ids(sea)


@pytest.mark.parametrize("q", ["a" * (MAX_QUERY + 1), "a" * 10_000, "sea\0"])
def test_what_cannot_be_searched_for_is_422(alice: Persona, q: str) -> None:
    answer = alice.client.get(CONVERSATIONS, {"q": q})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["q"]


def test_only_so_many_words_are_looked_for(alice: Persona) -> None:
    words = [chr(ord("a") + number % 26) * (1 + number // 26) for number in range(MAX_WORDS + 1)]
    sea = talk(alice.user, " ".join(words))

    assert found(alice, " ".join(words[1:])) == ids(sea)
    answer = alice.client.get(CONVERSATIONS, {"q": " ".join(words)})
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["q"])


@pytest.mark.usefixtures("committed")
def test_a_search_that_takes_too_long_is_given_up() -> None:
    client = client_of(new_user("alice"))
    with psycopg.connect(database_url()) as other:
        other.execute("LOCK TABLE conversations_message")
        answer = client.get(CONVERSATIONS, {"q": "sea"})

    assert (answer.status_code, answer.json()["code"]) == (503, "service_unavailable")
    assert "took too long" in answer.json()["detail"]
    assert client.get(CONVERSATIONS, {"q": "sea"}).json() == []


def test_bob_does_not_find_what_alice_said(alice: Persona, bob: Persona) -> None:
    talk(alice.user, "The sea.", title="Sea")
    mine = talk(bob.user, "My sea.")

    assert found(bob, "sea") == ids(mine)
    assert found(bob, "the") == []


def test_writing_the_id_of_an_account_does_not_lead_there(alice: Persona, bob: Persona) -> None:
    account = str(alice.user.pk)
    talk(bob.user, f"sea {account} x{account[-2:]}sea", title=account)
    Message.objects.update(content=f"sea {account} x{account[-2:]}sea '{account}'")

    assert found(alice, "sea") == found(alice, account) == []


def test_a_space_is_searched_alone(alice: Persona) -> None:
    space = alice.client.post("/api/spaces", {"name": "Sea"}, format="json").json()["id"]
    inside = talk(alice.user, "The sea.", space_id=space)
    outside = talk(alice.user, "The sea.")

    assert found(alice, "sea", space_id=space) == ids(inside)
    assert found(alice, "sea") == ids(outside, inside)


def test_what_changes_is_found_by_what_it_is_now(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", title="Sea")
    alice.client.patch(f"{CONVERSATIONS}/{sea.pk}", {"title": "Ocean"}, format="json")

    assert found(alice, "sea") == []
    assert found(alice, "ocean") == ids(sea)
    alice.client.delete(f"{CONVERSATIONS}/{sea.pk}")
    assert found(alice, "ocean") == []


@pytest.mark.parametrize(
    "content",
    [
        "x" * 300_000,
        "sea " * 75_000,
        " ".join(chr(0x20000 + number % 40_000) for number in range(150_000)),
        " ".join(f"w{number}" for number in range(60_000)),
        "-" * 300_000,
    ],
)
def test_any_long_message_can_be_kept_and_its_beginning_found(alice: Persona, content: str) -> None:
    sea = talk(alice.user, f"Lighthouse {content}")

    assert found(alice, "lighthouse") == ids(sea)


@pytest.mark.parametrize("marks", ["\u0f81" * 20_000, "\u0301" * 10_000 + "\u0316" * 10_000])
def test_marks_without_end_take_no_time(alice: Persona, marks: str) -> None:
    with Stopwatch() as watch:
        talk(alice.user, marks)

    assert watch.seconds < 1  # not 3 and more


def test_a_long_stretch_without_spaces_is_found_by_its_words(alice: Persona) -> None:
    sea = talk(alice.user, f"https://example.com/{'waves/' * 50}lighthouse/{'ы' * 200}")

    assert found(alice, "lighthouse") == found(alice, "ы" * 150) == ids(sea)


def test_more_hits_take_no_more_queries(alice: Persona) -> None:
    talk(alice.user, "The sea.")
    with CaptureQueriesContext(connection) as few:
        search(alice, "sea")
    for _ in range(5):
        talk(alice.user, "The sea.", "The sea!")
    with CaptureQueriesContext(connection) as many:
        search(alice, "sea")

    assert len(many) == len(few)


def test_messages_are_found_by_the_index_even_if_all_have_the_word(alice: Persona) -> None:
    """The planner would rather read all that was ever said, and part it into words."""
    sea = talk(alice.user)
    Message.objects.bulk_create(
        Message(conversation=sea, account_id=alice.user.pk, role="user", content=f"Sea {number}")
        for number in range(2_000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE conversations_message")
    before = scans_of_messages()

    assert found(alice, "sea") == ids(sea)
    # With every word it seems dearer to look into the index.
    assert found(alice, " ".join(f"sea{number}" for number in range(MAX_WORDS - 1))) == []

    assert scans_of_messages() == before


def test_no_statistics_are_made_of_words(alice: Persona) -> None:
    """Each ANALYZE would part thousands of messages into words, for nothing."""
    talk(alice.user, "The sea.", title="Sea")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE conversations_message, conversations_conversation")
        cursor.execute("SELECT DISTINCT tablename FROM pg_stats WHERE schemaname = 'public'")
        tables = {name for (name,) in cursor.fetchall()}

    assert {"conversations_message", "conversations_conversation"} <= tables
    assert not {"message_words", "conversation_words"} & tables


def scans_of_messages() -> int:
    """How often this transaction has read the whole table."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'conversations_message'"
        )
        scans: int = cursor.fetchone()[0]
        return scans


def test_the_first_20_000_characters_are_searched(alice: Persona) -> None:
    talk(alice.user, f"{'Well. ' * 4_000}The sea.")

    assert found(alice, "sea") == []
