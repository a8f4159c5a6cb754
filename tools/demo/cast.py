"""The demo's cast: a dozen accounts on all plans, and their peculiarities.

Times are days before the history's end; amounts are US dollars.
"""

from typing import Literal

from msgspec import Struct

Rhythm = Literal["office", "evening", "round the clock"]

EMAIL = "demo@example.com"


class Key(Struct, frozen=True):
    """An API key, `created` days ago, and its part of the account's calls through the API."""

    name: str
    created: int
    cap: int | None = None
    models: tuple[str, ...] = ()
    weight: int = 1
    revoked: int = -1


class Credit(Struct, frozen=True):
    """A movement of the balance; None removes the rest of it."""

    day: int
    amount: int | None
    description: str
    by_operator: bool = False


class Person(Struct, frozen=True, kw_only=True):
    """An account: `plans` by the day of their start, the first of them the day of its sign-up;
    `calls` a day at the end, `models` by weight, `length` of its prompts; `through_api` of ten
    calls. From the day `ended` on it makes none, and has `status`."""

    email: str
    name: str
    plans: tuple[tuple[int, str], ...]
    calls: int
    models: dict[str, int]
    credits: tuple[Credit, ...] = ()
    keys: tuple[Key, ...] = ()
    contract: dict[str, int] = {}
    through_api: int = 0
    length: float = 1.0
    rhythm: Rhythm = "office"
    locale: str = "en-US"
    timezone: str = "UTC"
    email_verified: bool = True
    status: Literal["active", "suspended", "deactivated"] = "active"
    ended: int = -1


TOPUP = "Top-up"

CAST = (
    Person(
        email=EMAIL,
        name="Demo",
        plans=((30, "free"), (29, "max")),
        credits=(
            Credit(28, 10, "Trial credit"),
            Credit(1, None, "Trial credit has run out", by_operator=True),
        ),
        keys=(Key("First steps", 29, revoked=2),),
        through_api=4,
        calls=16,
        models={
            "gpt-6.1-sol": 5,
            "claude-sonnet-5-5": 5,
            "gpt-6-luna": 4,
            "smollm2-135m": 3,
            "gemini-3.8-flash": 2,
            "kimi-k3": 2,
            "gpt-image-2.5-flare": 2,
            "flux-2-pro": 1,
        },
    ),
    Person(
        email="platform@meridian.example.com",
        name="Meridian Logistics",
        plans=((212, "max"), (160, "enterprise")),
        contract={
            "claude-sonnet-5-5": 120,
            "gpt-6.1-terra": 60,
            "gemini-3.8-flash": 40,
            "gpt-6-luna": 20,
        },
        credits=(Credit(160, 250, TOPUP), Credit(17, 100, TOPUP)),
        keys=(
            Key("Customs documents", 198, weight=5),
            Key("Driver assistant", 84, weight=3, models=("gpt-6-luna", "gemini-3.8-flash")),
            Key("Search index", 41, cap=25, weight=3, models=("text-embedding-3-small",)),
        ),
        through_api=10,
        calls=72,
        length=14.0,
        models={
            "claude-sonnet-5-5": 6,
            "gpt-6.1-terra": 4,
            "gemini-3.8-flash": 3,
            "gpt-6-luna": 3,
            "text-embedding-3-small": 3,
            "gpt-6.1-sol": 1,
        },
        rhythm="round the clock",
        locale="de-DE",
        timezone="Europe/Berlin",
    ),
    Person(
        email="api@kestrel.example.com",
        name="Kestrel Analytics",
        plans=((95, "starter"), (71, "max"), (12, "advanced")),
        credits=(
            Credit(71, 100, TOPUP),
            Credit(26, 50, TOPUP),
            Credit(8, 5, "Goodwill for the failed calls of last week", by_operator=True),
            Credit(5, 50, TOPUP),
        ),
        keys=(
            Key("Production", 71, weight=4),
            Key("Staging", 69, cap=10),
            Key("Old laptop", 71, revoked=20),
        ),
        through_api=9,
        calls=46,
        length=9.0,
        models={
            "claude-opus-5-5": 4,
            "gpt-6.1-sol": 4,
            "claude-haiku-5-5": 3,
            "deepseek-v4-pro": 3,
            "text-embedding-3-small": 2,
        },
        locale="en-GB",
        timezone="Europe/London",
    ),
    Person(
        email="bruno.ferreira@example.com",
        name="Bruno Ferreira",
        plans=((58, "pro"), (40, "advanced")),
        credits=(Credit(33, 20, TOPUP),),
        keys=(Key("Editor plug-in", 39, cap=40),),
        through_api=6,
        calls=26,
        length=4.0,
        models={"gpt-6.1-sol": 5, "grok-4.7": 4, "kimi-k3": 2, "gpt-6-luna": 2},
        rhythm="evening",
        locale="pt-PT",
        timezone="Europe/Lisbon",
    ),
    Person(
        email="priya.nair@example.com",
        name="Priya Nair",
        plans=((44, "free"), (43, "max")),
        credits=(Credit(36, 25, TOPUP), Credit(11, 25, TOPUP)),
        keys=(Key("Shop assistant", 42, cap=60, weight=3), Key("Notebook", 30)),
        through_api=7,
        calls=30,
        length=4.0,
        models={
            "claude-sonnet-5-5": 5,
            "gemini-3.8-flash": 4,
            "mistral-medium-3.5": 3,
            "flux-2-pro": 1,
            "text-embedding-3-small": 1,
        },
        rhythm="round the clock",
        locale="en-IN",
        timezone="Asia/Kolkata",
    ),
    Person(
        email="lena.vogt@example.com",
        name="Lena Vogt",
        plans=((120, "starter"), (66, "pro")),
        credits=(Credit(24, 10, TOPUP), Credit(6, 10, TOPUP)),
        calls=18,
        models={
            "gpt-image-2.5-flare": 5,
            "gemini-nano-banana-2.1": 4,
            "flux-2-pro": 2,
            "claude-sonnet-5-5": 4,
        },
        locale="de-DE",
        timezone="Europe/Berlin",
    ),
    Person(
        email="tomas.rivera@example.com",
        name="Tomás Rivera",
        plans=((80, "pro"), (52, "max"), (15, "pro")),
        credits=(Credit(50, 20, TOPUP),),
        keys=(Key("Scripts", 51),),
        through_api=4,
        calls=14,
        models={
            "gemini-3.1-pro-preview": 4,
            "deepseek-v4-pro": 3,
            "gpt-oss-120b": 3,
            "claude-opus-5-5": 2,
        },
        locale="es-ES",
        timezone="Europe/Madrid",
    ),
    Person(
        email="hugo.martin@example.com",
        name="Hugo Martin",
        plans=((61, "pro"), (21, "starter")),
        calls=8,
        models={"gpt-6.1-terra": 4, "gpt-6-luna": 3, "mistral-medium-3.5": 2},
        locale="fr-FR",
        timezone="Europe/Paris",
    ),
    Person(
        email="mei.tanaka@example.com",
        name="Mei Tanaka",
        plans=((38, "starter"),),
        # The balance is empty: calls over the plan's allowance are refused.
        credits=(
            Credit(30, 5, "Welcome credit", by_operator=True),
            Credit(10, None, "Welcome credit has run out", by_operator=True),
        ),
        calls=14,
        length=2.0,
        models={"claude-sonnet-5-5": 6, "gpt-6.1-sol": 2, "gpt-image-2.5-flare": 1},
        rhythm="evening",
        locale="ja-JP",
        timezone="Asia/Tokyo",
    ),
    Person(
        email="jonas.weber@example.com",
        name="Jonas Weber",
        plans=((19, "free"), (8, "starter")),
        credits=(Credit(7, 10, TOPUP),),
        calls=16,
        models={"gpt-6-luna": 4, "claude-haiku-5-5": 4, "gemini-3.8-flash": 2, "kimi-k3": 2},
        rhythm="evening",
        locale="de-AT",
        timezone="Europe/Vienna",
    ),
    Person(
        email="amina.yusuf@example.com",
        name="Amina Yusuf",
        plans=((27, "free"),),
        calls=14,
        models={"gpt-6-luna": 5, "claude-haiku-5-5": 3, "gpt-oss-120b": 1},
        rhythm="evening",
        timezone="Africa/Nairobi",
    ),
    Person(
        email="sam.carter@example.com",
        name="Sam Carter",
        plans=((6, "free"),),
        calls=24,
        models={"claude-haiku-5-5": 5, "smollm2-135m": 1},
        rhythm="round the clock",
        timezone="America/Chicago",
        email_verified=False,
    ),
    Person(
        email="bulk@quickdeals.example.com",
        name="Quick Deals",
        plans=((9, "starter"),),
        credits=(Credit(9, 25, TOPUP),),
        calls=90,
        models={"gpt-6-luna": 6, "gpt-oss-120b": 3},
        rhythm="round the clock",
        status="suspended",
        ended=5,
    ),
    Person(
        email="clara.jensen@example.com",
        name="Clara Jensen",
        plans=((74, "pro"),),
        credits=(Credit(60, 15, TOPUP), Credit(11, None, "Paid back on leaving", by_operator=True)),
        calls=12,
        models={"claude-sonnet-5-5": 3, "gemini-3.8-flash": 3, "gemini-nano-banana-2.1": 1},
        locale="da-DK",
        timezone="Europe/Copenhagen",
        status="deactivated",
        ended=11,
    ),
)
