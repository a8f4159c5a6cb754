"""A program that tells the names of its environment variables."""

import os

print(*os.environ)  # noqa: T201
