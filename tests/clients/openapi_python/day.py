"""A day of two people, with the typed client that openapi-python-client makes of `/openapi.json`.

Usage: BASE_URL=... PASSWORD=... python day.py ALICE BOB

ALICE and BOB are two addresses without an account. The program asks for the tokens in their mails,
and prints what happens. The service has to run with SELF_SERVICE_TOPUP, as `make run` does.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

import httpx
from platform_client import AuthenticatedClient, Client
from platform_client.api.account import get_data_export, list_usage_records, request_data_export
from platform_client.api.api_keys import create_api_key
from platform_client.api.authentication import (
    get_current_user,
    sign_out_everywhere,
    sign_up,
    verify_email,
)
from platform_client.api.billing import change_plan, get_wallet, list_plans, top_up
from platform_client.api.content import list_content_entries
from platform_client.api.conversations import (
    create_conversation,
    get_shared_conversation,
    regenerate_reply,
    share_conversation,
)
from platform_client.api.council import get_council, list_council_events, merge_cards, start_council
from platform_client.api.feature_flags import get_flags
from platform_client.api.generation_jobs import get_job
from platform_client.api.image_studio import order_images
from platform_client.api.models import list_offered_models
from platform_client.api.projects import download_deliverable, get_run, start_run
from platform_client.api.public_interface import create_chat_completion
from platform_client.api.teams import (
    accept_invitation,
    change_member_role,
    create_team,
    invite_member,
    transfer_ownership,
)
from platform_client.models import (
    ApiKeyInput,
    ChatBody,
    ChatMessage,
    ChatMessageRole,
    ConversationInput,
    CouncilSession,
    CouncilSessionInput,
    DataExportStatus,
    ErrorAnswer,
    GivenTeamRole,
    ImageOrder,
    Job,
    MessageInput,
    Modality,
    PaymentRequired,
    PlanChange,
    PlanRequired,
    ProjectSession,
    ProjectSessionInput,
    ProjectStatus,
    Refusal,
    ReplyInput,
    ReplyUsage,
    SignUp,
    TaskStatus,
    TeamInput,
    TeamInviteInput,
    TeamMemberChanges,
    TeamRole,
    TeamTransferInput,
    TopUp,
    UsageRecord,
    UsageRecordSource,
    ValidationFailed,
    VerifyEmail,
)

BASE_URL = os.environ["BASE_URL"]
PASSWORD = os.environ["PASSWORD"]
QUESTION = "Why is the sea blue?"
MODEL = "gpt-6-luna"
OTHER_MODEL = "claude-haiku-5-5"
TOPUP_USD = 10
PATIENCE = 60  # seconds for which work in the background is waited for

Refused = Refusal | ValidationFailed | PaymentRequired | ErrorAnswer
Answer = TypeVar("Answer")
Seen = TypeVar("Seen")


class Person(NamedTuple):
    """Somebody who is signed in."""

    address: str
    client: AuthenticatedClient


def done(answer: Answer | Refused | None) -> Answer:
    """What an operation answers where nothing is refused."""
    if answer is None or isinstance(answer, Refused):
        raise RuntimeError(answer)  # None: a status that the document does not have
    return answer


def waited_for(look: Callable[[], Seen], has_ended: Callable[[Seen], bool]) -> Seen:
    """What is seen when it has ended."""
    deadline = time.monotonic() + PATIENCE
    while not has_ended(seen := look()):
        assert time.monotonic() < deadline, seen
        time.sleep(0.25)
    return seen


# --- Accounts and money --------------------------------------------------------------------------


def mailed_token(address: str, page: str) -> str:
    """Ask for the token in the link of the mail that leads to this page."""
    print(f"The token of the mail to {address} that leads to {page}:", flush=True)
    return sys.stdin.readline().strip()


def signed_up(address: str, name: str) -> Person:
    visitor = Client(base_url=BASE_URL)
    body = SignUp(email=address, password=PASSWORD, name=name)
    tokens = done(sign_up.sync(client=visitor, body=body))
    client = AuthenticatedClient(base_url=BASE_URL, token=tokens.access_token)
    mailed = VerifyEmail(token=mailed_token(address, "/verify-email"))
    done(verify_email.sync(client=client, body=mailed))
    assert done(get_current_user.sync(client=client)).email_verified
    return Person(address, client)


def meet_refusals(alice: Person) -> None:
    """What is refused is answered by a type that says why, not by an exception."""
    order = CouncilSessionInput(prompt=QUESTION, models=[MODEL, OTHER_MODEL])
    unpaid = start_council.sync(client=alice.client, body=order)
    assert isinstance(unpaid, PaymentRequired)
    assert isinstance(unpaid.detail, PlanRequired)
    print(f"402 {unpaid.detail.code}: {unpaid.detail.feature}")

    invalid = top_up.sync(client=alice.client, body=TopUp(amount_usd=0.5))
    assert isinstance(invalid, ValidationFailed)
    print(f"422 {invalid.code}: {invalid.errors[0].loc}")


def pay(alice: Person) -> None:
    paid = done(top_up.sync(client=alice.client, body=TopUp(amount_usd=TOPUP_USD)))
    plan = next(each for each in done(list_plans.sync(client=alice.client)) if each.api_access)
    chosen = done(change_plan.sync(client=alice.client, body=PlanChange(plan=plan.key)))
    print(f"{paid.kind}: {paid.amount_usd} USD, plan: {chosen.plan}")


def exact(amount: float) -> Decimal:
    """US dollars as the service has written them, to the nano-dollar, without the float's error."""
    return Decimal(str(amount))


def paid_for(call: UsageRecord | ReplyUsage) -> Decimal:
    assert call.paid_by_plan_usd is not None  # null while the payment is not known
    assert call.paid_by_balance_usd is not None
    return exact(call.paid_by_plan_usd) + exact(call.paid_by_balance_usd)


def read_the_bill(alice: Person, parts: dict[str, Decimal]) -> None:
    """What the parts of the day have cost is what is listed, and what the wallet has given."""
    records = done(list_usage_records.sync(client=alice.client, limit=100))
    wallet = done(get_wallet.sync(client=alice.client))
    listed = sum(map(paid_for, records), Decimal())
    from_plan = sum((exact(each.used_usd) for each in wallet.allowances), Decimal())
    assert listed == from_plan + TOPUP_USD - exact(wallet.balance_usd)
    assert listed == sum(parts.values()), (listed, parts)
    print(json.dumps({name: str(cost) for name, cost in parts.items()} | {"billed": str(listed)}))


# --- Talking -------------------------------------------------------------------------------------


def picture_model(alice: Person) -> str:
    """The models are listed with all that it takes to pick one."""
    models = done(list_offered_models.sync(client=alice.client))
    offered = {each.id: each for each in models if each.callable_}
    assert {MODEL, OTHER_MODEL} <= offered.keys()
    print(f"{len(models)} models, of which {len(offered)} can be called")
    return next(each.id for each in offered.values() if each.modality == Modality.IMAGE)


def call_with_a_key(alice: Person) -> Decimal:
    """A program of alice's calls `/v1`. Returns what it was billed."""
    key = done(create_api_key.sync(client=alice.client, body=ApiKeyInput(name="laptop")))
    program = AuthenticatedClient(base_url=BASE_URL, token=key.key)
    said = ChatMessage(role=ChatMessageRole.USER, content=QUESTION)
    body = ChatBody(model=MODEL, messages=[said])
    completion = done(create_chat_completion.sync(client=program, body=body))
    print(f"/v1: {completion.choices[0].message.content!r:.60}")
    records = done(list_usage_records.sync(client=alice.client))
    [billed] = [each for each in records if each.source == UsageRecordSource.API]
    return paid_for(billed)


def talk(alice: Person) -> Decimal:
    """A message, whose reply is read as it is written; another reply; and the whole is shared."""
    begun = ConversationInput(model=MODEL)
    conversation = done(create_conversation.sync(client=alice.client, body=begun))
    first = say(alice, conversation.id, QUESTION)
    again = done(
        regenerate_reply.sync(
            conversation.id, first.message_id, client=alice.client, body=ReplyInput(stream=False)
        )
    )
    share = done(share_conversation.sync(conversation.id, client=alice.client))
    shared = done(get_shared_conversation.sync(share.share_token, client=Client(base_url=BASE_URL)))
    assert [each.content for each in shared.messages] == [QUESTION, again.message.content]
    print(f"conversation: {first.text!r:.60}, shared as {share.url}")
    assert again.usage
    return first.cost + paid_for(again.usage)


class Reply(NamedTuple):
    """A reply that was read as a stream."""

    message_id: str
    text: str
    cost: Decimal


def say(alice: Person, conversation_id: UUID, content: str) -> Reply:
    """Send a message. Streams are read by the HTTP client that the generated one stands on."""
    path = f"/api/conversations/{conversation_id}/messages"
    body = MessageInput(content=content).to_dict()
    start: dict[str, Any] = {}
    finish: dict[str, Any] = {}
    text = ""
    with alice.client.get_httpx_client().stream("POST", path, json=body) as answer:
        answer.raise_for_status()
        for line in answer.iter_lines():
            if not line.startswith("data: {"):
                continue
            part = json.loads(line.removeprefix("data: "))
            match part["type"]:
                case "start":
                    start = part
                case "text-delta":
                    text += part["delta"]
                case "finish":
                    finish = part
    return Reply(start["messageId"], text, paid_for(ReplyUsage.from_dict(finish["usage"])))


# --- What workers do -----------------------------------------------------------------------------


def follow_council(alice: Person, council_id: UUID, last_type: str, after: int = 0) -> int:
    """Read the events after this one until one of the last type. Returns its number."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        page = done(list_council_events.sync(council_id, client=alice.client, after_seq=after))
        for event in page:
            after = event.seq
            if event.type_ == last_type:
                return after
        time.sleep(0.25)
    raise TimeoutError(last_type)


def merge(alice: Person, council: CouncilSession) -> Decimal:
    """The answers of a council become one. Returns what all of it has cost."""
    seen = follow_council(alice, council.id, "session.completed")
    card = done(merge_cards.sync(council.id, client=alice.client))
    follow_council(alice, council.id, "merge.completed", seen)
    ended = waited_for(
        lambda: done(get_council.sync(council.id, client=alice.client)),
        lambda seen: seen.activity is None,
    )
    [merged] = [each for each in ended.cards if each.id == card.id]
    assert merged.status == TaskStatus.COMPLETED
    print(f"council: {merged.content!r:.60}")
    return exact(ended.cost_usd)


def take_the_result(alice: Person, run: ProjectSession) -> Decimal:
    """A run goes on to its end, and its final text is downloaded. Returns what the run has cost."""
    active = {ProjectStatus.QUEUED, ProjectStatus.RUNNING}
    ended = waited_for(
        lambda: done(get_run.sync(run.id, client=alice.client)),
        lambda seen: seen.status not in active,
    )
    assert ended.status == ProjectStatus.COMPLETED
    [final] = [each for each in ended.deliverables if each.subtask_id is None]
    text = done(download_deliverable.sync(final.id, client=alice.client))
    assert len(text.encode()) == final.size
    print(f"run: {text!r:.60}")
    return exact(ended.cost_usd)


def take_the_pictures(alice: Person, order: Job) -> Decimal:
    """A job is polled until it has ended. Whoever has the links of its pictures gets them."""
    active = {TaskStatus.QUEUED, TaskStatus.RUNNING}
    ended = waited_for(
        lambda: done(get_job.sync(order.id, client=alice.client)),
        lambda seen: seen.status not in active,
    )
    assert ended.status == TaskStatus.COMPLETED
    assert ended.cost_usd is not None
    for output in ended.outputs:
        assert output.url
        picture = httpx.get(output.url)
        assert len(picture.content) == output.size
        print(f"picture: {picture.headers['content-type']}, {output.width} x {output.height}")
    return exact(ended.cost_usd)


def export_the_data(alice: Person) -> None:
    done(request_data_export.sync(client=alice.client))
    active = {DataExportStatus.QUEUED, DataExportStatus.RUNNING}
    ended = waited_for(
        lambda: done(get_data_export.sync(client=alice.client)),
        lambda seen: seen.status not in active,
    )
    assert ended.url
    assert len(httpx.get(ended.url).content) == ended.size
    print(f"export: {ended.size} bytes")


# --- Others --------------------------------------------------------------------------------------


def share_a_team(alice: Person, bob: Person) -> None:
    """Alice creates a team, and bob owns it in the end."""
    done(create_team.sync(client=alice.client, body=TeamInput(name="Sea")))
    done(invite_member.sync(client=alice.client, body=TeamInviteInput(email=bob.address)))
    token = mailed_token(bob.address, "/invitations")
    joined = done(accept_invitation.sync(token, client=bob.client))
    [member_id] = [each.id for each in joined.members if each.email == bob.address]
    admin = TeamMemberChanges(role=GivenTeamRole.ADMIN)
    changed = done(change_member_role.sync(member_id, client=alice.client, body=admin))
    assert changed.role == TeamRole.ADMIN
    successor = TeamTransferInput(member_id=member_id)
    team = done(transfer_ownership.sync(client=alice.client, body=successor))
    print(f"team: {[f'{each.name}: {each.role}' for each in team.members]}")


def look_around(alice: Person) -> None:
    flags = done(get_flags.sync(client=alice.client)).flags
    entries = done(list_content_entries.sync(client=Client(base_url=BASE_URL), locale="en"))
    print(f"{len(flags.additional_properties)} flags, {[each.slug for each in entries]}")


def sign_out(alice: Person) -> None:
    """All tokens are void from the next request on."""
    assert sign_out_everywhere.sync_detailed(client=alice.client).status_code == 204
    stale = get_current_user.sync(client=alice.client)
    assert isinstance(stale, Refusal)
    print(f"401 {stale.code}")


def main(alices: str, bobs: str) -> None:
    alice, bob = signed_up(alices, "Alice"), signed_up(bobs, "Bob")
    meet_refusals(alice)
    pay(alice)

    question = CouncilSessionInput(prompt=QUESTION, models=[MODEL, OTHER_MODEL])
    council = done(start_council.sync(client=alice.client, body=question))
    goal = ProjectSessionInput(prompt="Plan a small web shop for tea.", budget_usd=5)
    run = done(start_run.sync(client=alice.client, body=goal))
    wish = ImageOrder(model=picture_model(alice), prompt="A lighthouse at dusk.", n=2)
    order = done(order_images.sync(client=alice.client, body=wish))

    look_around(alice)
    share_a_team(alice, bob)
    costs = {
        "key": call_with_a_key(alice),
        "conversation": talk(alice),
        "council": merge(alice, council),
        "pictures": take_the_pictures(alice, order),
        "run": take_the_result(alice, run),
    }
    read_the_bill(alice, costs)
    export_the_data(alice)
    sign_out(alice)


if __name__ == "__main__":
    main(*sys.argv[1:])
