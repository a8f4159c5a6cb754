"""An identity provider in the place of Google."""

import uuid

import pytest
from pytest_django import Settings

from simulator.identity import CLIENT_ID, ISSUER
from simulator.process import RunningSimulator


@pytest.fixture
def google(simulator: RunningSimulator, settings: Settings) -> RunningSimulator:
    """The simulator's, whose tokens are taken. Its keys are fetched for each test."""
    settings.GOOGLE_CLIENT_IDS = [CLIENT_ID, "mobile"]
    settings.GOOGLE_ISSUERS = [ISSUER, "https://accounts.google.com", "accounts.google.com"]
    settings.GOOGLE_JWKS_URL = f"{simulator.jwks_url}?{uuid.uuid4()}"
    return simulator
