"""The plans on offer. Allowances are US cents at cost, per model and month; no allowance means that
the balance alone pays.

The allowances of a plan add up to less than 60 % of its price, so that the plan pays for itself
even where everybody uses all of it; and a bigger plan never grants less (docs/decisions/0011).
Embeddings belong to no plan.
"""

from dataclasses import dataclass

ALLOWANCE_SHARE_OF_PRICE = 0.6


@dataclass(frozen=True, slots=True)
class PlanSeed:
    """`price_usd` per month, None where it is agreed by contract."""

    key: str
    name: str
    price_usd: int | None
    api_access: bool
    features: frozenset[str]


_PAID = frozenset({"council", "projects"})
_PRO = _PAID | {"videos", "assets_3d", "workspaces"}

PLANS = (
    PlanSeed("free", "Free", 0, False, frozenset()),
    PlanSeed("starter", "Starter", 12, False, _PAID),
    PlanSeed("pro", "Pro", 25, False, _PRO),
    PlanSeed("max", "Max", 42, True, _PRO),
    PlanSeed("advanced", "Advanced", 72, True, _PRO),
    PlanSeed("enterprise", "Enterprise", None, True, _PRO),
)
FEATURES = tuple(sorted(_PRO))

# model: (starter, pro, max, advanced)
ALLOWANCES: dict[str, tuple[int, int, int, int]] = {
    "gpt-6.1-sol": (0, 150, 250, 450),
    "gpt-6.1-terra": (80, 150, 200, 350),
    "gpt-6-luna": (60, 100, 150, 200),
    "claude-opus-5-5": (0, 0, 300, 510),
    "claude-sonnet-5-5": (80, 200, 300, 500),
    "claude-haiku-5-5": (60, 100, 150, 200),
    "gemini-3.1-pro-preview": (0, 150, 200, 400),
    "gemini-3.8-flash": (60, 100, 150, 250),
    "grok-4.7": (0, 100, 200, 350),
    "deepseek-v4-pro": (60, 100, 100, 200),
    "mistral-medium-3.5": (60, 70, 100, 150),
    "gpt-oss-120b": (60, 80, 100, 150),
    "gpt-image-2.5-flare": (60, 100, 120, 150),
    "gemini-nano-banana-2.1": (0, 80, 100, 120),
    "grok-imagine-image-2.0": (0, 0, 50, 100),
    "smollm2-135m": (10, 10, 40, 40),
}
ALLOWANCE_PLANS = ("starter", "pro", "max", "advanced")
