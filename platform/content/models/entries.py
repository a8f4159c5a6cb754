"""Marketing content: pages, news and banners, each in one or more languages."""

import re

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator, URLValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from common.ids import uuid7
from common.locales import LANGUAGE_TAG, MAX_TAG, canonical_tag

DEFAULT_LOCALE = "en"
MAX_BODY = 20_000  # characters
_PATH = re.compile(r"/(?![/\\])[^\s\"'<>\\]*")
_check_url = URLValidator(schemes=["https", "http"])


def validate_link(url: str) -> None:
    """Raises ValidationError for what is neither a page of the web app nor one elsewhere."""
    if not _PATH.fullmatch(url):
        _check_url(url)


class Text(models.Model):
    """What an entry says. `body` is Markdown; `severity` and the link are those of a banner."""

    class Severity(models.TextChoices):
        INFO = "info"
        SUCCESS = "success"
        WARNING = "warning"
        CRITICAL = "critical"

    title = models.CharField(max_length=200)
    body = models.TextField(max_length=MAX_BODY, blank=True, help_text="Markdown.")
    severity = models.CharField(
        max_length=8, choices=Severity.choices, blank=True, help_text="Of a banner."
    )
    link_url = models.CharField(
        max_length=500,
        blank=True,
        validators=[validate_link],
        help_text="Of a banner: an address, or a path of the web app like /pricing.",
    )
    link_text = models.CharField(max_length=100, blank=True)

    class Meta:
        abstract = True

    def texts(self) -> dict[str, str]:
        """All of it, by the names of the fields."""
        return {field.name: getattr(self, field.name) for field in Text._meta.get_fields()}


class Entry(Text):
    """A page, a piece of news or a banner, in one language.

    It is public from `publish_at` until `unpublish_at`; without a `publish_at` it is a draft. Of
    several entries, those with the highest `priority` come first, and among these the newest.
    """

    class Kind(models.TextChoices):
        PAGE = "page"
        NEWS = "news"
        BANNER = "banner"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    slug = models.SlugField(
        max_length=100, db_index=False, help_text="The same in all languages of one entry."
    )
    locale = models.CharField(
        max_length=MAX_TAG,
        default=DEFAULT_LOCALE,
        validators=[RegexValidator(LANGUAGE_TAG, "Write a language tag like en or pt-BR.")],
        help_text="A language tag like en or pt-BR.",
    )
    priority = models.SmallIntegerField(default=0, help_text="Higher ones come first.")
    publish_at = models.DateTimeField(null=True, blank=True, help_text="UTC. Empty: a draft.")
    unpublish_at = models.DateTimeField(null=True, blank=True, help_text="UTC. Empty: it stays.")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "entries"
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "slug", "locale"],
                name="one_entry_per_slug_and_locale",
                violation_error_message="There is such an entry in this language.",
            ),
            models.CheckConstraint(
                condition=Q(unpublish_at=None)
                | Q(publish_at__isnull=False, unpublish_at__gt=F("publish_at")),
                name="entry_ends_after_it_begins",
                violation_error_message="An entry ends after it begins, and needs a beginning.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.slug} ({self.locale})"

    @property
    def state(self) -> str:
        """`draft`, `scheduled`, `published` or `ended`."""
        now = timezone.now()
        if self.publish_at is None:
            return "draft"
        if self.publish_at > now:
            return "scheduled"
        return "published" if self.unpublish_at is None or self.unpublish_at > now else "ended"

    def clean(self) -> None:
        """Raises ValidationError for a page or news with what only banners have."""
        self.locale = canonical_tag(self.locale)
        is_banner = self.kind == self.Kind.BANNER
        if is_banner:
            self.severity = self.severity or self.Severity.INFO
        elif self.severity or self.link_url or self.link_text:
            raise ValidationError("Only banners have a severity and a link.")
        if bool(self.link_url) != bool(self.link_text):
            raise ValidationError("A link needs an address and a text.")


class Revision(Text):
    """The text that an entry had from `created_at` on. It never changes."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    entry = models.ForeignKey(Entry, on_delete=models.CASCADE, related_name="revisions")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.entry} of {self.created_at:%Y-%m-%d %H:%M:%S}"
