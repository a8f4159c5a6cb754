"""The demo accounts of the local default, with 30 days of history."""
