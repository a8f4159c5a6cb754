"""The sources of a merge."""

from functools import reduce
from operator import or_

from django.db.models import Q

from common.errors import NotFound
from council.models import Version


def is_merge(version: Version) -> bool:
    """Is the version made of others' answers? A reply on a merge's card is not."""
    return "sources" in version.details


def sources_of(version: Version) -> list[tuple[str, Version]]:
    """The sources of a merge, each with its letter, in their order. Raises NotFound where the
    council has been deleted since `version` was read."""
    sources = version.details["sources"]
    places = [Q(card=source["card_id"], number=source["version"]) for source in sources]
    found = Version.objects.filter(reduce(or_, places))
    by_place = {
        (str(source.card_id), source.number): source
        for source in found.select_related("card__session", "generation", "message")
    }
    if len(by_place) < len(places):
        raise NotFound
    labelled = [(s["label"], by_place[s["card_id"], s["version"]]) for s in sources]
    return sorted(labelled, key=lambda pair: pair[0])
