"""Services of others that users connect, and HTTP to addresses that users name."""
