"""What of the marketing content is public."""

from django.db.models import Case, Q, QuerySet, Value, When
from django.db.models.functions import Now

from common.locales import lookup_order
from content.models import Entry
from content.models.entries import DEFAULT_LOCALE


def list_published(
    *, kind: str = "", slug: str = "", locale: str = DEFAULT_LOCALE
) -> QuerySet[Entry]:
    """Each entry that is public now, in one language: the wanted one, a more general one, or the
    default. Entries that are in none of them are left out."""
    order = lookup_order(locale, DEFAULT_LOCALE)
    found = Entry.objects.filter(
        Q(unpublish_at=None) | Q(unpublish_at__gt=Now()), publish_at__lte=Now(), locale__in=order
    )
    if kind:
        found = found.filter(kind=kind)
    if slug:
        found = found.filter(slug=slug)
    nearness = Case(*(When(locale=tag, then=Value(place)) for place, tag in enumerate(order)))
    nearest = found.order_by("kind", "slug", nearness).distinct("kind", "slug")
    return Entry.objects.filter(pk__in=nearest.values("pk"))
