"""Django's backend for PostgreSQL, which waits no longer for connections than an outage allows."""
