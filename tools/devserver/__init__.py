"""The local default: real stores, a real model and a supervisor, from wheels alone."""
