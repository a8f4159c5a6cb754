"""The metrics of a process, as Prometheus reads them."""

from dataclasses import dataclass

import httpx
from prometheus_client.parser import text_string_to_metric_families

from devserver.ports import LOOPBACK

Series = tuple[str, frozenset[tuple[str, str]]]


@dataclass(frozen=True)
class Scraped:
    """One scrape."""

    samples: dict[Series, float]

    def value(self, name: str, /, **labels: str) -> float:
        """The value of one series; 0 for one that does not exist yet."""
        return self.samples.get((name, frozenset(labels.items())), 0.0)

    def total(self, name: str, /, **labels: str) -> float:
        """The sum of the series with these labels, whatever others they have."""
        wanted = labels.items()
        return sum(
            value
            for (its, has), value in self.samples.items()
            if its == name and wanted <= set(has)
        )

    @property
    def series(self) -> set[Series]:
        return set(self.samples)


def scrape(port: int) -> Scraped:
    """Raises httpx.HTTPError where nobody answers within two seconds."""
    answer = httpx.get(f"http://{LOOPBACK}:{port}/metrics", timeout=2)
    answer.raise_for_status()
    return Scraped(
        {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }
    )
