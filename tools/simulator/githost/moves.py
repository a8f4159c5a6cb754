"""Repositories and branches that were renamed: the hosts lead from their old names to the new ones.

GitHub redirects reads and writes to the number of the repository, whose address it answers too, and
a branch to its new name. GitLab redirects reads, and refuses writes.
"""

import re
from urllib.parse import quote, urlencode

from simulator.githost.exchange import Refusal, Request
from simulator.githost.hosts import Host
from simulator.githost.repositories import Repository

_BY_NAME = {"github": re.compile(r"/repos/[^/]+/[^/]+"), "gitlab": re.compile(r"/projects/[^/]+")}
_BY_NUMBER = re.compile(r"/repositories/(\d+)")


def with_name(host: Host, address: str) -> str:
    """An address below GitHub's interface that has the number of a repository, with its name."""
    numbered = _BY_NUMBER.match(address) if host.name == "github" else None
    found = host.repositories.find(numbered[1]) if numbered is not None else None
    if numbered is None or found is None:
        return address
    return f"/repos/{quote(found.path)}{address[numbered.end() :]}"


def check_moved(request: Request, repository: Repository, address: str) -> None:
    """Raises Refusal where a repository is called by a name that it had before."""
    name = request.path.get("project") or f"{request.path['owner']}/{request.path['repo']}"
    is_current = repository.has_path(name) or name == str(repository.id)
    if is_current or not request.host.reaches(request.token, repository):
        return
    is_read = request.method == "GET"
    if request.host.name == "gitlab" and not is_read:
        raise Refusal(405, "Non GET methods are not allowed for moved projects")
    named = _BY_NAME[request.host.name].match(address)
    rest = address[named.end() :] if named is not None else ""
    query = f"?{urlencode(request.query)}" if request.query else ""
    url = f"{request.origin}{number_path(repository, request.host)}{rest}{query}"
    raise moved(url, 301 if is_read else 307)


def number_path(repository: Repository, host: Host) -> str:
    """The path of a repository by its number."""
    if host.name == "gitlab":
        return f"/gitlab/api/v4/projects/{repository.id}"
    return f"/github/api/v3/repositories/{repository.id}"


def moved(url: str, status: int = 301) -> Refusal:
    words = "Moved Permanently" if status == 301 else "Temporary Redirect"
    return Refusal(status, words, url=url, headers={"location": url})
