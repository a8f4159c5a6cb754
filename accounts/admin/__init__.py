"""People in the admin: users, keys, mails, operators' roles, and what operators did."""

from accounts.admin import audit, emails, keys, roles, users

__all__ = ["audit", "emails", "keys", "roles", "users"]
