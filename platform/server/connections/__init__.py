"""One connection of a client: the protocols of uvicorn, with bounds."""
