"""An operator has the data of an account deleted."""

from django.db import DatabaseError, connection

from accounts.models import User
from bench.campaign.asking import Asker
from userdata.services import deletions


def departure(asker: Asker) -> None:
    while True:
        try:
            deletions.request(user=User.objects.get(pk=asker.person.user_id))
        except DatabaseError:
            connection.close()
            asker.pause()
            continue
        asker.note.seen["departed"] = True
        return


def look_for_account(asker: Asker) -> None:
    """The account answers nobody. Raises Departed."""
    answer = asker.ask("GET", "/api/users/me")
    asker.note.wrong.append(f"a closed account is answered {answer.status_code}")
