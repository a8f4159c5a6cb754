"""A user whose own calls of a model keep failing places no order for it; others do."""

from ai.provider_health.tests.opened import refused_alone
from studios.models import Generation
from studios.tests.conftest import NewArtist
from work.jobs.tests.queueing import wait_until

MODEL, PROVIDER = "meshy-6", "meshy"


def test_who_is_refused_alone_places_no_order(artist: NewArtist) -> None:
    alice, bob = artist(), artist(name="bob")
    with refused_alone(alice.user.pk, PROVIDER, MODEL):
        wait_until(lambda: alice.post(MODEL).status_code == 429, seconds=8)
        orders = Generation.objects.filter(account=alice.user).count()
        answer = alice.post(MODEL)
        assert (answer.status_code, answer.json()["code"]) == (429, "rate_limit_exceeded")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert Generation.objects.filter(account=alice.user).count() == orders
        assert bob.made(MODEL)["status"] == "completed"
    wait_until(lambda: alice.post(MODEL).status_code == 202, seconds=8)
    for placed in Generation.objects.filter(account=alice.user):
        alice.ended({"id": str(placed.pk)})
    alice.check_money()
