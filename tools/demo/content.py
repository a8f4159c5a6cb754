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
            "en": _Text("Welcome", "Many models, **one account**.", "What this is"),
            "de": _Text("Willkommen", "Viele Modelle, **ein Konto**.", "Was das ist"),
            "pt": _Text("Boas-vindas", "Muitos modelos, **uma conta**.", "O que é isto"),
        },
        severity=Entry.Severity.SUCCESS,
        link_url="/pages/about",
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
        "sharing",
        3,
        {
            "en": _Text(
                "Share a conversation, and keep a copy",
                "**Share** above a conversation makes a link with which anyone can read it as it "
                "is now. Your name, files and instructions are not shown.\n\n"
                "- **Update** has the link show what was said since\n"
                "- A link that is *removed* opens nothing any more\n"
                "- The menu beside it saves the conversation as Markdown or JSON",
            ),
            "de": _Text(
                "Unterhaltungen teilen und behalten",
                "**Teilen** über einer Unterhaltung macht einen Link, mit dem alle sie lesen "
                "können, wie sie jetzt ist. Dein Name, Dateien und Anweisungen sind nicht zu "
                "sehen.\n\n"
                "- **Aktualisieren** zeigt, was seither gesagt wurde\n"
                "- Ein Link, der *entfernt* ist, öffnet nichts mehr\n"
                "- Das Menü daneben speichert die Unterhaltung als Markdown oder JSON",
            ),
        },
    ),
    _Seed(
        Entry.Kind.NEWS,
        "spaces",
        9,
        {
            "en": _Text(
                "Spaces: conversations about one thing, together",
                "A space has **instructions** with which each of its conversations begins.\n\n"
                "1. Make one in the sidebar.\n2. Open it, and begin a new chat.\n3. Move what you "
                "have begun elsewhere into it, by the menu of its row.",
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
                "Chat with models of many makers in one place. The API has pictures, clips and 3D "
                "assets, too.\n\n"
                "> It begins free, without a card: a number of messages to each of the smaller "
                "models every few hours. A plan has an allowance for each model, which is spent "
                "before your balance.\n\n"
                "| What | Where |\n|---|---|\n| Web app | here |\n| API | `/v1` |",
            ),
            "de": _Text(
                "Über uns",
                "# Viele Modelle, ein Konto\n\n"
                "Unterhalte dich mit Modellen vieler Hersteller an einem Ort. Die API hat auch "
                "Bilder, Clips und 3D-Objekte.\n\n"
                "> Der Anfang ist kostenlos, ohne Karte: alle paar Stunden einige Nachrichten an "
                "jedes der kleineren Modelle.",
            ),
            "pt": _Text(
                "Sobre nós",
                "# Muitos modelos, uma conta\n\n"
                "Converse com modelos de muitos fornecedores num só lugar. A API também tem "
                "imagens, vídeos e objetos 3D.",
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
