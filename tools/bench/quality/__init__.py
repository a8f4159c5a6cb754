"""How many of twelve small tasks project runs solve, whoever works on them: obedient models, clumsy
ones, and some that fail. A program judges each outcome (`judges/`).
"""
