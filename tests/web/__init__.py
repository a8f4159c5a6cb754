"""The web app in a browser, against the real service."""
