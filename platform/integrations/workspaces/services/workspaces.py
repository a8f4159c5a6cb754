"""Connects, changes and disconnects workspaces."""

from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from accounts.models import User
from accounts.services.users import lock_user
from billing.selectors.features import require_feature
from common.encryption import encrypt
from common.errors import NotFound, ValidationFailed
from common.threads import release_connection
from events.services import append_to_user
from integrations.connectors.errors import ConnectorNeedsReauth
from integrations.connectors.models import Connector
from integrations.connectors.types import ConnectorStatus
from integrations.githosts.registry import connect as connect_host
from integrations.githosts.types import HostKind, TokenInfo
from integrations.safe_http.errors import HostError, TokenRefused
from integrations.workspaces import user_events
from integrations.workspaces.errors import TooManyWorkspaces, domain_error
from integrations.workspaces.models import TOKEN_PURPOSE, Workspace
from integrations.workspaces.scopes import missing_scope
from integrations.workspaces.selectors.workspaces import get_workspace
from integrations.workspaces.types import FEATURE, MAX_NAME, MAX_WORKSPACES


def connect(
    *, user: User, provider: str, token: str, base_url: str = "", name: str = ""
) -> Workspace:
    """Connect the user's account at a host. The token is tried first, outside of any transaction.

    Raises FeatureRequired, TooManyWorkspaces, ValidationFailed for a token or an address that will
    not do, HostBusy, HostUnavailable.
    """
    require_feature(user, FEATURE)
    _check_number(user)
    info = _check_token(HostKind(provider), base_url, token)
    with transaction.atomic():
        # Of two at once, the second one sees the first.
        lock_user(user)
        _check_number(user)
        workspace = Workspace(
            account=user, provider=provider, base_url=base_url, name=name or info.login[:MAX_NAME]
        )
        _set_token(workspace, token, info)
        workspace.save(force_insert=True)
        workspace.refresh_from_db()
        append_to_user(user_id=user.pk, events=[user_events.created(workspace)])
    return workspace


def connect_by(*, user: User, connector_id: UUID, name: str = "") -> Workspace:
    """Connect the user's account at a host by a connector of theirs.

    Raises FeatureRequired, TooManyWorkspaces, ValidationFailed for a connector that is not the
    user's or leads to no repositories, ConnectorNeedsReauth.
    """
    require_feature(user, FEATURE)
    with transaction.atomic():
        lock_user(user)
        _check_number(user)
        connector = _lock_connector(user, connector_id)
        workspace = Workspace.objects.create(
            account=user,
            provider=connector.provider,
            base_url=connector.base_url,
            connector=connector,
            name=name or connector.login[:MAX_NAME],
            login=connector.login,
            scopes=connector.scopes,
            expires_at=connector.ends_at,
        )
        workspace.refresh_from_db()
        append_to_user(user_id=user.pk, events=[user_events.created(workspace)])
    return workspace


def update(
    *, user: User, workspace_id: UUID, name: str | None = None, token: str | None = None
) -> Workspace:
    """Rename a workspace, or give it a new token, which is tried first.

    Raises NotFound, ValidationFailed for a token that will not do or that is somebody else's at the
    host, HostBusy, HostUnavailable.
    """
    workspace = get_workspace(user, workspace_id)
    info = None
    if token is not None:
        if workspace.connector_id is not None:
            problem = "This workspace stands on a connector: connect the account again."
            raise ValidationFailed.of("token", problem)
        info = _check_token(HostKind(workspace.provider), workspace.base_url, token)
        if info.login != workspace.login:
            problem = f"This is a token of {info.login}, and the workspace is {workspace.login}'s."
            raise ValidationFailed.of("token", problem)
    with transaction.atomic():
        workspace = _lock(user, workspace_id)
        if token is not None and info is not None:
            _set_token(workspace, token, info)
        workspace.name = name or workspace.name
        workspace.save()
        workspace.refresh_from_db()
        append_to_user(user_id=user.pk, events=[user_events.updated(workspace)])
    return workspace


@transaction.atomic
def disconnect(*, user: User, workspace_id: UUID) -> None:
    """Forget a workspace and its token. Runs on its repositories keep what they have made. Raises
    NotFound."""
    _lock(user, workspace_id).delete()
    append_to_user(user_id=user.pk, events=[user_events.deleted(workspace_id)])


def _check_number(user: User) -> None:
    if Workspace.objects.filter(account=user).count() >= MAX_WORKSPACES:
        raise TooManyWorkspaces


def _check_token(kind: HostKind, base_url: str, token: str) -> TokenInfo:
    # Back to the pool: the host may take a while.
    release_connection()
    try:
        with connect_host(kind, base_url, token) as host:
            info = host.token_info()
    except TokenRefused:
        raise ValidationFailed.of("token", "The host does not accept this token.") from None
    except HostError as error:
        raise domain_error(error) from None
    missing = missing_scope(kind, info.scopes)
    if missing is not None:
        raise ValidationFailed.of(
            "token", f"The token lacks the scope {missing}. Create one that has it."
        )
    return info


def _set_token(workspace: Workspace, token: str, info: TokenInfo) -> None:
    workspace.token = encrypt(token.encode(), purpose=TOKEN_PURPOSE, owner=workspace.account_id)
    workspace.login = info.login
    workspace.scopes = None if info.scopes is None else [*info.scopes]
    workspace.expires_at, workspace.refused_at = info.expires_at, None
    workspace.checked_at = Now()


def _lock_connector(user: User, connector_id: UUID) -> Connector:
    """Nobody disconnects it before the transaction ends."""
    rows = Connector.objects.select_for_update(no_key=True)
    connector = rows.filter(account=user, pk=connector_id).first()
    if connector is None:
        raise ValidationFailed.of("connector_id", "You have no connector with this id.")
    if connector.provider not in set(HostKind):
        raise ValidationFailed.of("connector_id", "This connector leads to no repositories.")
    if connector.status == ConnectorStatus.NEEDS_REAUTH:
        raise ConnectorNeedsReauth
    return connector


def _lock(user: User, workspace_id: UUID) -> Workspace:
    rows = Workspace.objects.select_for_update(no_key=True)
    workspace = rows.filter(account=user, pk=workspace_id).first()
    if workspace is None:
        raise NotFound("You have no workspace with this id.")
    return workspace
