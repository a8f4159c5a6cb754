"""What operators can do to an account, a session or a key."""

from accounts.models import ApiKey, OutgoingEmail, User, UserSession
from accounts.services import api_keys, emails, second_factor, sessions, users
from admin_ui.acts import Act


class Suspend(Act):
    title = "Suspend this account"
    explanation = (
        "Its web app, its API keys and its visits to this admin are refused from now on, until it "
        "is reactivated. Calls that are running end as usual."
    )
    dangerous = True
    record: User

    def carry_out(self) -> str:
        before = self.record.status
        users.suspend(user=self.record)
        return "" if before == User.Status.SUSPENDED else "Suspended."


class Reactivate(Act):
    title = "Reactivate this account"
    explanation = "Its user has to sign in again. API keys that were revoked stay so."
    record: User

    def carry_out(self) -> str:
        before = self.record.status
        users.reactivate(user=self.record)
        return "" if before == User.Status.ACTIVE else f"Reactivated; it was {before}."


class RevokeSessions(Act):
    title = "Revoke all sessions"
    explanation = (
        "The user is signed out everywhere, at once, and has to sign in again. API keys go on."
    )
    dangerous = True
    record: User

    def carry_out(self) -> str:
        users.revoke_sessions(user=self.record)
        return "Sessions revoked."


class ResetSecondFactor(Act):
    title = "Reset the second factor"
    explanation = (
        "The operator is signed out everywhere and signs in with the password alone, until they "
        "have set up another app. Make sure that it is really they who ask for it."
    )
    dangerous = True
    record: User

    def carry_out(self) -> str:
        was_there = second_factor.reset(operator=self.record)
        return "Second factor reset." if was_there else ""


class EndSession(Act):
    title = "End this session"
    explanation = (
        "Its tokens are refused from now on, and its sockets and streams are closed. The user can "
        "sign in again; other sessions go on."
    )
    dangerous = True
    record: UserSession

    def carry_out(self) -> str:
        sessions.end_session(user=self.record.account, session_id=self.record.pk)
        return "Ended."


class RevokeKey(Act):
    title = "Revoke this key"
    explanation = "It is refused from now on, for good. Its account may create another one."
    dangerous = True
    record: ApiKey

    def carry_out(self) -> str:
        if self.record.revoked_at is not None:
            return ""
        api_keys.revoke_key(user=self.record.account, key_id=self.record.pk)
        return f"Revoked; it was a key of {self.record.account}."


class SendAgain(Act):
    title = "Send this mail again"
    explanation = (
        "It goes out within seconds, with a link of its own where it has one. Links of earlier "
        "mails stay good for as long as they were; of an invitation only the newest link works."
    )
    record: OutgoingEmail

    def carry_out(self) -> str:
        return "Sent again." if emails.send_again(email=self.record) else ""


class CancelMail(Act):
    title = "Cancel this mail"
    explanation = (
        "It is not sent, unless that is being done at this moment. It can be sent again later."
    )
    dangerous = True
    record: OutgoingEmail

    def carry_out(self) -> str:
        return "Cancelled." if emails.cancel(email=self.record) else ""
