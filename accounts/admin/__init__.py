"""People in the admin: users, keys, operators' roles, and what operators did."""

from accounts.admin import audit, keys, roles, users

__all__ = ["audit", "keys", "roles", "users"]
