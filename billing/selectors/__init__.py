"""What billing tells others. Money is read from the primary database only."""
