"""The money verbs. `charges` is for code on an event loop, the others are for Django's; of these,
`holds` and `endings` are for calls whose rows are written in the same transaction."""
