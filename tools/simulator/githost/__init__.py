"""Two Git hosts over real bare repositories: one speaks the used parts of GitHub's REST interface,
the other those of GitLab's, and `git clone` works with both.

`/github/api/v3` and `/gitlab/api/v4` are the interfaces, `/github/alice/site.git` is a repository
for Git, and `/_githost` makes repositories, tokens and faults (control.py).
"""
