"""Settings of a process with keys of OpenAI from its environment, at the simulator."""

from ai.providers.config import from_environ
from config.settings.test import *  # noqa: F403
from config.settings.test import PROVIDERS, SIMULATOR_URL, env

_OPENAI = {
    "OPENAI_API_KEY": env.str("OPENAI_API_KEY"),
    "OPENAI_BASE_URL": f"{SIMULATOR_URL}/openai/v1",
}
PROVIDERS = {**PROVIDERS, **from_environ(_OPENAI, simulated=frozenset(), simulator_url="")}
