"""Streamed chat calls that belong to jobs: replies of conversations, cards of councils.

A call's text goes into an event stream while it comes, and its end is one transaction: text,
status, charge, job and last event. An app brings an `Output` (where the text is written) and a
`StreamedCall` (what of it is shown).
"""
