"""Marketing content of the demo: a banner, news and pages, some of them in three languages."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone
from msgspec import Struct

from content.models import Entry
from content.services import entries


class _Text(Struct, frozen=True):
    """What an entry says in one language."""

    title: str
    body: str
    link_text: str = ""


class _Seed(Struct, frozen=True):
    """An entry, public since `days` ago; negative: in so many days; None: a draft."""

    kind: Entry.Kind
    slug: str
    days: int | None
    texts: dict[str, _Text]
    severity: str = ""
    link_url: str = ""


SEEDS: Final = (
    _Seed(
        Entry.Kind.BANNER,
        "welcome",
        1,
        {
            "en": _Text("Welcome", "Many models, **one account**.", "See the models"),
            "de": _Text("Willkommen", "Viele Modelle, **ein Konto**.", "Zu den Modellen"),
            "pt": _Text("Boas-vindas", "Muitos modelos, **uma conta**.", "Ver os modelos"),
        },
        severity=Entry.Severity.SUCCESS,
        link_url="/models",
    ),
    _Seed(
        Entry.Kind.BANNER,
        "maintenance",
        -7,
        {"en": _Text("Maintenance", "On Sunday at 06:00 UTC we are away for ten minutes.")},
        severity=Entry.Severity.WARNING,
    ),
    _Seed(
        Entry.Kind.NEWS,
        "studios",
        3,
        {
            "en": _Text(
                "Studios for pictures, clips and 3D assets",
                "Three studios are open:\n\n"
                "- **Pictures** by OpenAI, Google, xAI and Black Forest Labs\n"
                "- **Clips** by Veo, Runway and Luma, which can be *extended*\n"
                "- **3D assets** by Meshy and Tripo, as GLB files\n\n"
                "The cost is held until the provider has finished, and given back if it fails.",
            ),
            "de": _Text(
                "Studios für Bilder, Clips und 3D-Objekte",
                "Drei Studios sind offen:\n\n"
                "- **Bilder** von OpenAI, Google, xAI und Black Forest Labs\n"
                "- **Clips** von Veo, Runway und Luma, die sich *verlängern* lassen\n"
                "- **3D-Objekte** von Meshy und Tripo, als GLB-Dateien",
            ),
        },
    ),
    _Seed(
        Entry.Kind.NEWS,
        "projects",
        9,
        {
            "en": _Text(
                "Projects: a plan, several models, one result",
                "Name a goal. A model plans it, others carry out the parts **side by side** and "
                "review each other.\n\n"
                "1. See the plan, and change it.\n2. Follow the work live.\n3. Take the result, "
                "or let it open a pull request.",
            )
        },
    ),
    _Seed(
        Entry.Kind.PAGE,
        "about",
        30,
        {
            "en": _Text(
                "About us",
                "# Many models, one account\n\n"
                "One place for chat, pictures, clips and 3D assets of many providers, at the "
                "provider's price and a small fee.\n\n"
                "> Your plan's allowance is spent first.\n\n"
                "| What | Where |\n|---|---|\n| Web app | here |\n| API | `/v1` |",
            ),
            "de": _Text(
                "Über uns",
                "# Viele Modelle, ein Konto\n\n"
                "Ein Ort für Chat, Bilder, Clips und 3D-Objekte vieler Anbieter, zum Preis des "
                "Anbieters und einer kleinen Gebühr.",
            ),
            "pt": _Text(
                "Sobre nós",
                "# Muitos modelos, uma conta\n\n"
                "Um lugar para conversas, imagens, vídeos e objetos 3D de muitos fornecedores.",
            ),
        },
    ),
    _Seed(
        Entry.Kind.PAGE,
        "privacy",
        30,
        {
            "en": _Text(
                "Privacy",
                "What you write is sent to the provider of the model that you choose, and to "
                "nobody else. Write to [privacy@example.com](mailto:privacy@example.com).",
            )
        },
    ),
    _Seed(Entry.Kind.PAGE, "imprint", None, {"en": _Text("Imprint", "To be written by a lawyer.")}),
)


@transaction.atomic
def add_entries() -> int:
    """Add the entries, where there are none at all. Returns how many there are then."""
    if Entry.objects.exists():
        return 0
    drafts = [entry for seed in SEEDS for entry in _entries(seed)]
    for entry in drafts:
        entry.full_clean()
        entries.save(entry=entry, author_id=None)
    return len(drafts)


def _entries(seed: _Seed) -> Iterator[Entry]:
    now = timezone.now()
    publish_at = None if seed.days is None else now - timedelta(days=seed.days)
    for locale, text in seed.texts.items():
        yield Entry(
            kind=seed.kind,
            slug=seed.slug,
            locale=locale,
            title=text.title,
            body=text.body,
            severity=seed.severity,
            link_url=seed.link_url,
            link_text=text.link_text,
            publish_at=publish_at,
        )
