"""The two hosts: their repositories, and who may do what with them."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from simulator.githost.exchange import Refusal
from simulator.githost.faults import Faults
from simulator.githost.repositories import Repositories, Repository
from simulator.githost.tokens import HostName, Token, Tokens
from simulator.oauth.tokens import TokenStore


class Host:
    """GitHub or GitLab."""

    def __init__(self, name: HostName, folder: Path) -> None:
        self.name = name
        self.repositories = Repositories(folder / name)

    def find(self, token: Token, name: str) -> Repository:
        """A repository that a token reaches. Raises Refusal."""
        found = self.repositories.find(name)
        if found is None or not self.reaches(token, found):
            raise self.not_found()
        return found

    def reaches(self, token: Token, repository: Repository) -> bool:
        """May the token read the repository?"""
        if token.repositories is not None and repository.path not in token.repositories:
            return False
        role = repository.role(token.login)
        is_open = not repository.settings.is_private
        return is_open or (role is not None and token.may_read)

    def may_push(self, token: Token, repository: Repository) -> bool:
        """May the owner of the token write?"""
        return repository.role(token.login) in ("write", "admin")

    def check_writable(self, token: Token, repository: Repository) -> None:
        """Raises Refusal."""
        if repository.settings.is_archived:
            raise Refusal(403, "Repository was archived so is read-only.")
        if not self.may_push(token, repository):
            raise Refusal(403, "Must have write access to the repository.")
        if not token.may_write:
            if self.name == "gitlab":
                words = "The request requires higher privileges than provided by the access token."
                raise Refusal(403, words, error="insufficient_scope")
            if token.kind == "fine_grained":
                raise Refusal(403, "Resource not accessible by personal access token")
            raise self.not_found()

    def not_found(self) -> Refusal:
        return Refusal(404, "Not Found" if self.name == "github" else "404 Project Not Found")


# What an app of GitHub may do is a matter of its registration, not of its users' tokens.
_APP_SCOPES = ("repo", "workflow")


class Hosts:
    """Both hosts in one folder; without one it is temporary. `issued` are the tokens of the
    authorization servers, which the hosts accept too."""

    def __init__(self, folder: Path | None = None, *, issued: TokenStore | None = None) -> None:
        self._temporary = TemporaryDirectory(prefix="githost-") if folder is None else None
        root = Path(self._temporary.name) if self._temporary is not None else folder
        assert root is not None  # noqa: S101 - one of the two
        self.by_name: dict[str, Host] = {name: Host(name, root) for name in get_args(HostName)}
        self.tokens = Tokens(root / "tokens.json")
        self.faults = Faults()
        self._issued = issued or TokenStore()

    def find_token(self, host: Host, text: str) -> Token | None:
        """A token that its owner has made or that an app was given; None for one that is dead."""
        issued = self._issued.find(host.name, text)
        if issued is None:
            return self.tokens.find(host.name, text)
        scopes = _APP_SCOPES if host.name == "github" else issued.scopes
        return Token(host=host.name, token=text, login=issued.login, kind="oauth", scopes=scopes)
