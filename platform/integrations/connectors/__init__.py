"""Connectors: accounts elsewhere that users let the service use, by OAuth 2.0."""
