"""What is counted of accounts."""

from observability.metrics.instruments import counter

guessing_clients = counter(
    "platform_guessing_clients_total",
    "Network addresses that have failed to sign in so often, over all accounts, that they wait.",
)
