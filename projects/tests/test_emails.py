"""The mail that tells the user of a run that it stands, or has ended."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import OutgoingEmail
from accounts.tests.mailbox import delivered
from projects.models import Run
from projects.services import runs
from projects.services.settings import change_settings
from projects.tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("providers")]


@pytest.fixture
def world() -> World:
    """A run that works, whose user wants to be told."""
    world = World(max_parallel=1, budget_usd=None, approve_plan=False)
    change_settings(user=world.alice, run_id=world.run.pk, wants_mail=True)
    world.alice.email_verified = world.alice.verified_by_holder = True
    world.alice.save()
    world.end(0, "good")
    return world


def mails_of(world: World) -> list[str]:
    """The subjects of what is sent within the next minutes, the last one first."""
    OutgoingEmail.objects.filter(about=world.run.pk).update(due_at=timezone.now())
    return [message.subject.partition(" - ")[0] for message in delivered(world.alice.email)]


def go_to_the_end(world: World) -> None:
    while world.active():
        world.end(0, "good")


def test_a_pause_by_itself_is_told_with_what_helps_and_a_link(world: World) -> None:
    world.end(0, "refused")
    assert Run.objects.get(pk=world.run.pk).pause_reason == "insufficient_balance"
    [email] = OutgoingEmail.objects.filter(about=world.run.pk)
    assert email.due_at - email.created_at > timedelta(seconds=50)
    assert mails_of(world) == ["Your project run is paused"]
    [message] = delivered(world.alice.email)
    assert "Add balance, and resume." in str(message.body)
    assert f"/projects/{world.run.pk}\n" in str(message.body)
    assert world.run.title not in str(message.body), "users write it"


def test_an_end_is_told(world: World) -> None:
    go_to_the_end(world)
    assert mails_of(world) == ["Your project run is completed"]


def test_what_its_user_has_done_is_not_told(world: World) -> None:
    world.act("pause", 0)
    world.act("resume", 0)
    world.act("cancel", 0)
    assert mails_of(world) == []


def test_a_pause_that_is_over_is_not_told(world: World) -> None:
    world.end(0, "refused")
    runs.resume(user=world.alice, run_id=world.run.pk)
    assert mails_of(world) == []
    assert OutgoingEmail.objects.get(about=world.run.pk).outcome == "dropped"


def test_quick_successions_are_one_mail_that_tells_how_the_run_stands(world: World) -> None:
    for _ in range(3):
        world.end(0, "refused")
        runs.resume(user=world.alice, run_id=world.run.pk)
    go_to_the_end(world)
    assert mails_of(world) == ["Your project run is completed"]


def test_who_does_not_want_it_any_more_gets_none(world: World) -> None:
    go_to_the_end(world)
    change_settings(user=world.alice, run_id=world.run.pk, wants_mail=False)
    assert mails_of(world) == []


def test_an_address_that_is_not_confirmed_gets_none(world: World) -> None:
    world.alice.email_verified = False
    world.alice.save()
    go_to_the_end(world)
    assert mails_of(world) == []


def test_runs_tell_nothing_unless_it_is_wanted() -> None:
    world = World(max_parallel=1, budget_usd=None, approve_plan=False)
    go_to_the_end(world)
    assert not OutgoingEmail.objects.filter(about=world.run.pk).exists()
