"""How REST framework answers under `/api`, and how drf-spectacular describes it."""

from common.times import ISO_UTC
from conversations.types import MESSAGE_ID_SCHEMA

PRODUCT_NAME = "Multi-model AI platform"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.AccessTokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["common.api.FastJSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["common.api.StrictJSONParser"],
    "EXCEPTION_HANDLER": "common.api.exception_handler",
    "DEFAULT_SCHEMA_CLASS": "common.openapi.ApiSchema",
    # A view's docstring is for developers; DRF would show it to clients.
    "DEFAULT_METADATA_CLASS": None,
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
    "DATETIME_FORMAT": ISO_UTC,
}

# The description of `/api`, a part of the document in apidocs/openapi/.
SPECTACULAR_SETTINGS = {
    "TITLE": PRODUCT_NAME,
    "DESCRIPTION": "Many third-party AI models behind one account. `/v1` is the public interface, "
    "which speaks the OpenAI wire; `/api` is that of the web application.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "PATH_CONVERTER_OVERRIDES": {"message": MESSAGE_ID_SCHEMA},
    "SCHEMA_PATH_PREFIX": "/api",
    # `minLength: 1` of texts that must not be empty.
    "ENFORCE_NON_BLANK_FIELDS": True,
    # A name for choices whose field does not say what they are choices of.
    "ENUM_SUFFIX": "",
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "ApplyTarget": ["default", "branch"],
        "AttemptReason": [
            *("initial", "restart", "revision", "stale", "reassign", "replace"),
            *("redo", "retry", "fallback"),
        ],
        "AttemptSource": ["model", "user"],
        "CardKind": "council.models.Card.Kind",
        "CardSource": "council.models.Version.Source",
        "ConnectionStatus": ["connected", "needs_reauth"],
        "ConnectorProviderName": ["github", "gitlab", "google_drive"],
        "ContentSeverity": "content.models.Entry.Severity",
        "CouncilActivity": ["answering", "chatting", "merging", "debating"],
        "CouncilMergeMode": ["fuse", "guided", "compare", "custom"],
        "DataExportStatus": "privacy.selectors.STATUSES",
        "FileChange": ["create", "update", "delete", "move"],
        "FileOperation": ["create", "update", "delete"],
        "FileFaultCode": [
            *("conflict", "not_found", "too_large", "invalid_path"),
            *("protected", "rejected", "unchanged"),
        ],
        "GitHost": ["github", "gitlab"],
        "GivenTeamRole": "teams.rights.GIVEN_ROLES",
        "KeyFeature": "accounts.features.KEY_FEATURES",
        "MessageRole": "conversations.models.Message.Role",
        "MessageStatus": "conversations.models.Message.Status",
        "ModelInput": ["text", "files", "pictures", "audio"],
        "ProjectAction": ["pause", "resume", "cancel", "finish", "rewrite"],
        "ProjectChangesState": [
            *("empty", "staged", "applying", "applied", "partially_applied", "discarded")
        ],
        "ProjectFileOrigin": ["repository", "upload", "staged"],
        "ProjectPhase": ["planning", "executing", "reviewing", "finalizing"],
        "ProjectStatus": ["queued", "running", "paused", "completed", "failed", "cancelled"],
        "ReasoningEffort": ["low", "medium", "high"],
        "ReplyFinishReason": ["stop", "length", "content-filter", "error", "other"],
        "ReviewVerdict": ["accept", "revise", "unavailable"],
        "SpaceAccess": ["owner", "write", "read"],
        "SpaceSharing": "conversations.models.Space.Shared",
        "SubtaskStatus": ["queued", "running", "completed", "failed", "cancelled", "skipped"],
        "TaskStatus": "council.models.Status",
        "TeamAuditAction": "teams.models.AuditEntry.Action",
        "TeamRole": "teams.models.Role",
    },
}
