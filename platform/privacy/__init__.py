"""The data of an account: its export, and its deletion."""
