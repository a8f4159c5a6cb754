"""The functions that move money. `charges` is for code on an event loop, the other modules for
Django's code; `holds` and `endings` are for calls whose rows are written in the same
transaction."""
