"""What must be true of a life when all is healed: each function returns what is not.

They read the database, the simulator's journal, the files, and what clients have noted.
"""
