"""The REST interfaces of Git hosts: GitHub and GitLab, their clouds and self-hosted ones.

`registry.connect` gives a `types.GitHost`. What is not supported by both is not in there.
"""
