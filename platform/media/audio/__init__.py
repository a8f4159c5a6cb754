"""How long audio is, and its samples, decoded in a process of its own."""
