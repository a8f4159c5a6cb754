"""What is counted of accounts."""

from observability.metrics.instruments import Counter

guessing_clients = Counter(
    "platform_guessing_clients_total",
    "Network addresses that have failed to sign in so often, over all accounts, that they wait.",
)
