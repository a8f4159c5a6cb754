"""Seeded lives of the whole service: processes, mixed traffic, a nemesis, and an oracle at the end
of each (docs/operations/campaign.md)."""
