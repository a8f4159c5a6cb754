"""People in the admin: users, sessions, keys, mails, operators' roles, and the audit log."""

from accounts.admin import audit, emails, keys, roles, sessions, users

__all__ = ["audit", "emails", "keys", "roles", "sessions", "users"]
