"""Workspaces: users' accounts at Git hosts, whose repositories runs work on."""
