"""Models of others: which there are, who serves them, what a call costs, and how it goes."""
