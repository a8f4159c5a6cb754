"""Billing's queries for other apps. Money is read from the primary database only."""
