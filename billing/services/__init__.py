"""The money verbs. `charges` is for code on an event loop, `balance` and `sweeps` for the rest."""
