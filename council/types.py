"""The bounds of a council."""

# The kind of its event stream, and of its jobs.
STREAM = "council"
JOB = "council.generation"

MAX_PROMPT = 100_000  # characters of a question or a message
MAX_SYSTEM = 20_000
MAX_INSTRUCTIONS = 4_000
MAX_TITLE = 200
MAX_CARDS = 8  # that answer; and as many that merge
MAX_VERSIONS = 100  # of one card
MAX_ROUNDS = 3
# Characters of one `card.delta`, so that an event stays small whatever comes.
MAX_DELTA = 16_000
