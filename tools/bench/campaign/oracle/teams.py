"""Shared spaces: who may see them, and who pays."""

from collections.abc import Sequence

from bench.campaign.acts.replies import PATH
from bench.campaign.notes import Note
from bench.campaign.oracle.sessions import Reader
from bench.campaign.people import Person
from bench.campaign.schedule import POOR
from billing.models import Charge
from conversations.models import Message


def check_shared(note: Note, people: Sequence[Person], reader: Reader) -> list[str]:
    """A conversation of a shared space is seen by its owner and by a colleague, who pays for what
    they have asked, and by nobody outside of the team."""
    if "shared" not in note.seen:
        return []
    owner, conversation = people[note.act.person], note.seen["conversation"]
    [colleague] = [each for each in people if each.token == owner.colleague]
    wrong = []
    for who, status in ((owner, 200), (colleague, 200), (people[POOR], 404)):
        answers = reader.get(who, f"{PATH}/{conversation}")
        if {answer.status_code for answer in answers} != {status}:
            wrong.append(f"{who.email} sees {[answer.status_code for answer in answers]}")
    replies = Message.objects.filter(conversation=conversation, role="assistant")
    charges = Charge.objects.filter(pk__in=replies.values("pk"))
    if payers := {*charges.values_list("account", flat=True)} - {colleague.user_id}:
        wrong.append(f"was paid by {payers}, asked by {colleague.user_id}")
    return [f"{note}: {each}" for each in wrong]
