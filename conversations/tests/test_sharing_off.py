"""Public links while operators have switched them off."""

from conftest import Persona
from content.flags import PUBLIC_SHARING
from content.models import FlagRecord
from content.selectors import flags as selectors
from content.services import flags
from conversations.models import Share
from conversations.tests.rows import talk
from tests.flags import switched

REFUSAL = {
    "detail": "Conversations cannot be shared by a link at the moment.",
    "code": "sharing_off",
}


def test_no_conversation_is_shared(alice: Persona) -> None:
    path = f"/api/conversations/{talk(alice.user, 'Hello').pk}/share"
    with switched(PUBLIC_SHARING, on=False):
        answer = alice.client.post(path)
        assert (answer.status_code, answer.json()) == (403, REFUSAL)
        assert not Share.objects.exists()
    assert alice.client.post(path).status_code == 201


def test_it_may_be_off_for_one_user_alone(alice: Persona, bob: Persona) -> None:
    record = FlagRecord.objects.get(name=PUBLIC_SHARING.name)
    flags.set_for_user(flag=record, user_id=alice.user.pk, is_on=False)
    selectors.reset()
    try:
        for persona, status in ((alice, 403), (bob, 201)):
            path = f"/api/conversations/{talk(persona.user, 'Hello').pk}/share"
            assert persona.client.post(path).status_code == status
    finally:
        selectors.reset()


def test_a_link_of_before_works_and_can_be_revoked(alice: Persona) -> None:
    path = f"/api/conversations/{talk(alice.user, 'Hello').pk}/share"
    token = alice.client.post(path).json()["share_token"]
    with switched(PUBLIC_SHARING, on=False):
        assert alice.client.get(f"/api/conversations/shared/{token}").status_code == 200
        assert alice.client.post(path).status_code == 403
        assert alice.client.get(path).status_code == 200
        assert alice.client.delete(path).status_code == 204
    assert alice.client.get(f"/api/conversations/shared/{token}").status_code == 404
