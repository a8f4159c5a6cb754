"""Google Drive's REST interface, version 3: files are listed, described, downloaded and exported.

Its tokens are those of Google's authorization server (`simulator.oauth`).
"""
