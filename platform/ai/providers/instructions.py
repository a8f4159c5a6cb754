"""What models are told where their provider has no parameter for it."""

# Models do not always obey: only the first call is passed on.
ONE_CALL = "Call at most one function at a time."
