"""Users, their sign-ins and their API keys."""

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Value
from django.db.models.functions import Lower, Now
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.functional import cached_property

from accounts import keys
from accounts.addresses import mailbox_of, validate_address
from accounts.totp import PURPOSE
from common.encryption import EncryptedField
from common.ids import uuid7


class UserManager(BaseUserManager["User"]):
    """Creates users by e-mail address, kept in lower case."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser, PermissionsMixin):
    """A person's account, which also pays. The database creates its wallet and subscription
    together with the row (billing/sql/10_accounts.sql).

    Every token carries `token_version`; raising it revokes all earlier tokens. `email_verified`:
    somebody who reads the address's mail confirmed it; `verified_by_holder`: that person could also
    use the account, by its session, by setting its password, or by a linked identity. `mailbox`
    receives the mail of the address; `signup_network` is the network of the sign-up, where it is
    known. A `deleted` account has its data deleted, now or soon, and never opens again. `locale` is
    a BCP 47 language tag, `timezone` a name of the IANA database.
    """

    class Status(models.TextChoices):
        ACTIVE = "active"
        SUSPENDED = "suspended"
        DEACTIVATED = "deactivated"
        DELETED = "deleted"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    email = models.EmailField(unique=True, validators=[validate_address])
    mailbox = models.CharField(max_length=254, db_default="", editable=False)
    signup_network = models.CharField(max_length=50, db_default="", blank=True, editable=False)
    name = models.CharField(max_length=200, blank=True)
    avatar_url = models.URLField(max_length=500, blank=True)
    email_verified = models.BooleanField(default=False)
    verified_by_holder = models.BooleanField(default=False, db_default=False, editable=False)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.ACTIVE)
    token_version = models.PositiveIntegerField(default=1)
    is_staff = models.BooleanField(default=False)
    locale = models.CharField(max_length=35, blank=True, db_default="")
    timezone = models.CharField(max_length=64, default="UTC", db_default="UTC")
    created_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"

    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="email_is_lower"),
        ]
        indexes = [
            models.Index(fields=["mailbox", "created_at"], name="user_by_mailbox"),
            models.Index(fields=["signup_network", "created_at"], name="user_by_network"),
            models.Index(
                fields=["email"], condition=models.Q(is_staff=True), name="user_operators"
            ),
        ]

    def __str__(self) -> str:
        return self.email

    def save(self, **options: Any) -> None:
        """Save, with the mailbox of the address."""
        self.mailbox = mailbox_of(self.email)
        if (fields := options.get("update_fields")) is not None and "email" in fields:
            options["update_fields"] = [*fields, "mailbox"]
        super().save(**options)

    @property
    def is_active(self) -> bool:  # type: ignore[override]
        """Django's own switch for sessions and the admin."""
        return self.status == self.Status.ACTIVE

    @property
    def is_closed(self) -> bool:
        """Is it nobody's way in, as if there were no account?"""
        return self.status in (self.Status.DEACTIVATED, self.Status.DELETED)

    @property
    def is_of_its_address(self) -> bool:
        """Is it known that only the owner of the address can use the account?"""
        return self.email_verified and self.verified_by_holder

    @cached_property
    def plan(self) -> str:
        """The key of the plan; `get_live_user` reads it with the user."""
        key: str = self.subscription.plan_id
        return key

    def check_password(self, raw_password: str) -> bool:
        """Is this the password? A hash with older parameters is renewed, unless the password was
        changed meanwhile: Django's own renewal would restore the old one."""

        def hash_anew(password: str) -> None:
            encoded = make_password(password)
            if User.objects.filter(pk=self.pk, password=self.password).update(password=encoded):
                self.password = encoded

        return check_password(raw_password, self.password, hash_anew)

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Raising `token_version` also ends visits to the admin, under fallback secrets as well."""
        salt = "accounts.models.User.session"
        value = f"{self.token_version}:{self.password}"
        return salted_hmac(salt, value, secret=secret, algorithm="sha256").hexdigest()


class UserSession(models.Model):
    """A session of the web app: a sign-in, and all tokens that descend from it. Deleting the row
    revokes them all, access tokens too.

    `current` is the id of the only valid refresh token, `previous` that of the one before, replaced
    at `rotated_at`. The tokens themselves are not stored. `client` is a readable name of the
    program, and `client_ip` the address or IPv6 network, of the last sign-in or refresh; each is
    empty where it is not known.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sessions")
    current = models.UUIDField(default=uuid.uuid4)
    previous = models.UUIDField(null=True)
    created_at = models.DateTimeField(default=timezone.now, db_default=Now())
    rotated_at = models.DateTimeField(default=timezone.now, db_index=True)
    client = models.CharField(max_length=100, blank=True, db_default="")
    client_ip = models.CharField(max_length=64, blank=True, db_default="")

    def __str__(self) -> str:
        return f"{self.account}: {self.client or 'an unknown client'}"


class LinkedIdentity(models.Model):
    """An account at an identity provider that signs in as `user` (OpenID Connect)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "linked identities"
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="one_user_per_identity"),
            models.UniqueConstraint(fields=["user", "issuer"], name="one_identity_per_issuer"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"


class UsedIdToken(models.Model):
    """An ID token that has signed in, kept until it expires. Only its digest is stored."""

    digest = models.BinaryField(primary_key=True, max_length=32)
    expires_at = models.DateTimeField(db_index=True)


class EmailedTokenQuerySet(models.QuerySet["EmailedToken"]):
    def usable(self) -> "EmailedTokenQuerySet":
        """Tokens that are neither used nor expired, of active accounts that still have the
        address."""
        return self.filter(
            used_at=None,
            expires_at__gt=timezone.now(),
            user__status=User.Status.ACTIVE,
            user__email=models.F("email"),
        )


class EmailedToken(models.Model):
    """A secret that was sent to an address, to be used once. Only its digest is stored."""

    class Purpose(models.TextChoices):
        VERIFY_EMAIL = "verify_email"
        RESET_PASSWORD = "reset_password"  # noqa: S105

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="emailed_tokens")
    purpose = models.CharField(max_length=16, choices=Purpose.choices)
    email = models.EmailField()
    digest = models.BinaryField(max_length=32, unique=True)
    expires_at = models.DateTimeField(db_index=True)
    used_at = models.DateTimeField(null=True)

    objects = EmailedTokenQuerySet.as_manager()


class OutgoingEmail(models.Model):
    """A mail that was requested for an address. The account is looked up when the mail is sent, so
    that the request does not reveal it. Rows are kept for a day, to bound the number of mails per
    address, per mailbox, and per `network` of strangers who request them.

    `kind` is registered by the app that writes such mails (accounts/services/email_kinds.py);
    `about` is the id of that app's row that the mail is about, if there is one.

    `outcome` is empty while the mail waits; `error` says why the last attempt failed.
    """

    class Outcome(models.TextChoices):
        SENT = "sent"
        FAILED = "failed"
        # The mail has no recipient any more, or its mailbox has received enough.
        DROPPED = "dropped"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=24)
    about = models.UUIDField(null=True)
    address = models.EmailField(db_index=True)
    mailbox = models.CharField(max_length=254, db_default="", db_index=True)
    network = models.CharField(max_length=50, db_default="", db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)
    due_at = models.DateTimeField(db_default=Now())
    attempts = models.PositiveSmallIntegerField(default=0)
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=8, choices=Outcome.choices, blank=True, db_default="")
    error = models.CharField(max_length=300, blank=True, db_default="")

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], condition=models.Q(ended_at=None), name="email_due"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class SecondFactor(models.Model):
    """The authenticator app of an operator; the admin asks for its codes beside the password.

    `last_step` is the time step of the last accepted
    code; `recovery_codes` are hashes of the unused ones.
    """

    operator = models.OneToOneField(
        User, on_delete=models.CASCADE, primary_key=True, related_name="second_factor"
    )
    secret = EncryptedField(purpose=PURPOSE)
    last_step = models.BigIntegerField()
    recovery_codes = ArrayField(models.CharField(max_length=64))
    created_at = models.DateTimeField(auto_now_add=True)


class SignInFailures(models.Model):
    """Wrong passwords or codes, the latest at `last_at`. The name is an address and the client that
    tried (accounts/services/lockout.py)."""

    name = models.CharField(primary_key=True, max_length=400)
    count = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name_plural = "sign-in failures"

    def __str__(self) -> str:
        return self.name


class KnownClient(models.Model):
    """A client that has signed in to `account`, the last time at `seen_at`: a digest of its network
    address or of its device id (accounts/services/known_clients.py)."""

    digest = models.BinaryField(primary_key=True, max_length=32)
    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="known_clients")
    seen_at = models.DateTimeField(db_index=True)


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def owned_by(self, user: User) -> "ApiKeyQuerySet":
        return self.filter(account=user)

    def active(self) -> "ApiKeyQuerySet":
        return self.filter(revoked_at=None)


class ApiKey(models.Model):
    """A key for `/v1`. Only an HMAC of it is stored, and its last four characters as a hint.
    `pepper` is the fingerprint of the pepper of that HMAC.

    `monthly_spend_cap` is in nano-USD, None for no cap; an empty `allowed_models` allows all.
    `features` are those of `accounts.features.KEY_FEATURES` that it has, in their order.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=100)
    digest = models.BinaryField(max_length=32, unique=True)
    pepper = models.CharField(max_length=8)
    hint = models.CharField(max_length=4, db_index=True)
    monthly_spend_cap = models.BigIntegerField(null=True, blank=True)
    allowed_models = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    features = ArrayField(
        models.CharField(max_length=32), default=list, db_default=Value([]), blank=True
    )
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(monthly_spend_cap=None) | models.Q(monthly_spend_cap__gte=0),
                name="monthly_spend_cap_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} (...{self.hint})"

    def set_key(self, raw: str) -> None:
        """Make it the row of that key."""
        self.digest, self.hint = keys.digest(raw), keys.hint(raw)
        self.pepper = keys.fingerprint(settings.API_KEY_PEPPER)


class ModelPreference(models.Model):
    """A user's preferences for a model: offered at all (`enabled`), among the first (`favourite`),
    its `instructions` in every conversation, and the default `reasoning_effort`.

    `model` is a key of the catalog. No row means the defaults.
    """

    id = models.BigAutoField(primary_key=True)
    account = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="+")
    model = models.CharField(max_length=100)
    enabled = models.BooleanField(default=True)
    favourite = models.BooleanField(default=False)
    instructions = models.TextField(blank=True)
    reasoning_effort = models.CharField(max_length=8, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "model"], name="one_preference_per_model")
        ]

    def __str__(self) -> str:
        return f"{self.account_id} {self.model}"
