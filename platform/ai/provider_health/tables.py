"""What operators see of a provider, as tables of the admin's theme."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ai.provider_health.selectors import PERIODS, KeyView, ModelView, ProviderView, time_of
from ai.provider_health.statistics import Statistics

Table = Mapping[str, Any]

_FAULTS = {"key": "the provider refuses it", "quota": "its quota is exhausted"}
_NOTHING = "-"


def tables_of(view: ProviderView) -> list[tuple[str, Table]]:
    """The tables with their titles."""
    return [
        ("Circuits", _circuits(view)),
        *(
            (f"Calls of the last {length} min", _calls(view, index))
            for index, length in enumerate(PERIODS)
        ),
        ("Keys", {"headers": ["Key", "State"], "rows": [_key(key) for key in view.keys]}),
        ("Last failures", _failures(view)),
    ]


def _circuits(view: ProviderView) -> Table:
    return {
        "headers": ["Model", "Circuit", "Last probe"],
        "rows": [[each.model, _circuit(each), _probe(each)] for each in view.models],
    }


def _circuit(view: ModelView) -> str:
    if view.state == "closed":
        return "closed"
    return f"open: {view.cause}; the next probe tells in {view.wait:.0f} s"


def _probe(view: ModelView) -> str:
    return _NOTHING if view.since_probe is None else f"{view.since_probe:.0f} s ago"


def _calls(view: ProviderView, index: int) -> Table:
    return {
        "headers": [
            *("Model", "Calls", "Failed", "Outcomes"),
            *("First output, median / p95", "Total, median / p95"),
        ],
        "rows": [
            [each.model, *_row(each.periods[index])]
            for each in view.models
            if each.periods[index].calls
        ],
    }


def _row(statistics: Statistics) -> list[str]:
    counts = ", ".join(f"{code}: {count}" for code, count in statistics.counts.items())
    share = f"{statistics.failed_share:.0%}"
    times = [_seconds(statistics.first), _seconds(statistics.total)]
    return [str(statistics.calls), share, counts, *times]


def _seconds(percentiles: tuple[float, float] | None) -> str:
    return " / ".join(f"{each:g} s" for each in percentiles) if percentiles else _NOTHING


def _key(view: KeyView) -> list[str]:
    """A key by its place in the setting, from 1 on."""
    if view.rest is None:
        return [str(view.key.index + 1), "in use"]
    until = datetime.fromtimestamp(view.rest.until, UTC)
    return [str(view.key.index + 1), f"rests until {until:%H:%M:%S}: {_FAULTS[view.rest.fault]}"]


def _failures(view: ProviderView) -> Table:
    return {
        "headers": ["Time (UTC)", "Model", "Failure", "Request id"],
        "rows": [
            [f"{time_of(note):%Y-%m-%d %H:%M:%S}", note.model, note.code, note.request_id]
            for note in view.failures
        ],
    }
