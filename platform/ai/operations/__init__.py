"""Operations: work that a provider does for minutes, while no process of ours waits for it.

The job of an operation is scheduled again and again. Each time, a worker takes the next step: it
submits, polls, cancels or fetches. `transitions.py` says which step is next and what its outcome
means; the row of an operation says how far it has come, whatever process dies.
"""
