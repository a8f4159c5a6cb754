"""The public endpoints of `/v1`: their parameters, answers and errors.

The document of `publicapi.v1.openapi` is built from this table and from its types.
"""

from typing import Any

from msgspec import Struct

from ai.inference.errors import ContentBlocked, UnsupportedParameter, UpstreamFailed
from ai.provider_health.errors import ProviderNotAvailable
from billing.errors import (
    AccountDisabled,
    AnswerLost,
    ApiAccessRequired,
    IdempotencyInProgress,
    IdempotencyMismatch,
    InsufficientBalance,
    InsufficientForRequest,
    InvalidApiKey,
    ModelNotAllowed,
    SpendCapReached,
)
from common.errors import DomainError, ServiceUnavailable, UnknownHost
from common.idempotency import KEY
from publicapi.v1 import errors, usage_schema
from publicapi.v1.chat_answers import Completion, CompletionChunk
from publicapi.v1.chat_body import ChatBody
from publicapi.v1.chat_output import ResponseFormat
from publicapi.v1.chat_pictures import ImageUrl
from publicapi.v1.chat_tools import SentTool, SentToolCall, SentToolChoice
from publicapi.v1.embeddings_schema import EmbeddingList, EmbeddingsBody
from publicapi.v1.images_schema import ImageList, ImagesBody
from publicapi.v1.models_schema import ModelList, ModelRow
from publicapi.v1.usage_schema import UsageAnswer

Refusals = tuple[type[DomainError], ...]

# Errors before authentication, of any request.
BEFORE_THE_KEY: Refusals = (
    UnknownHost,
    errors.MissingApiKey,
    InvalidApiKey,
    ServiceUnavailable,
    errors.InternalError,
)
_AFTER_THE_KEY: Refusals = (errors.RateLimitExceeded, AccountDisabled, ApiAccessRequired)
_OF_A_CALL: Refusals = (
    errors.InvalidBody,
    errors.InputTooLong,
    ContentBlocked,
    errors.ModelNotFound,
    ModelNotAllowed,
    InsufficientBalance,
    InsufficientForRequest,
    SpendCapReached,
    IdempotencyInProgress,
    IdempotencyMismatch,
    AnswerLost,
    UpstreamFailed,
    ProviderNotAvailable,
)


class Parameter(Struct, frozen=True, kw_only=True):
    """A parameter outside the body. `where` is `path`, `query` or `header`."""

    name: str
    where: str
    description: str
    schema: dict[str, Any]


class Operation(Struct, frozen=True, kw_only=True):
    """An endpoint. `events` is the type of a stream's events, where it can answer with a stream;
    `csv`: it can answer with a table. `fields` are the types of the fields of the body that are
    decoded later than the body."""

    method: str
    path: str
    name: str
    summary: str
    answer: type
    body: type | None = None
    fields: tuple[type, ...] = ()
    events: type | None = None
    csv: bool = False
    parameters: tuple[Parameter, ...] = ()
    needs_key: bool = True
    own_refusals: Refusals = ()

    @property
    def refusals(self) -> Refusals:
        """Every error that the endpoint may answer."""
        shared = BEFORE_THE_KEY if self.needs_key else _without_key(BEFORE_THE_KEY)
        return (*shared, *_AFTER_THE_KEY, *self.own_refusals)


def _without_key(refusals: Refusals) -> Refusals:
    return tuple(refusal for refusal in refusals if refusal is not errors.MissingApiKey)


_IDEMPOTENCY_KEY = Parameter(
    name="Idempotency-Key",
    where="header",
    description="Send the same key with a repeated request, and it is carried out and billed once.",
    schema={"type": "string", "pattern": f"^{KEY.pattern}$"},
)

_RETRY_OF = Parameter(
    name="x-retry-of",
    where="header",
    description="The id of an earlier request with the same body whose answer was lost: it is "
    "delivered again, and not billed. With the id of no lost answer the request is a new one.",
    schema={"type": "string"},
)


def _day(name: str, default: str) -> Parameter:
    return Parameter(
        name=name,
        where="query",
        description=f"A UTC day, included. Default: {default}. The range is at most "
        f"{usage_schema.MAX_DAYS} days.",
        schema={"type": "string", "format": "date"},
    )


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/models",
        name="listModels",
        summary="The models, with live prices. With a key also what it may call.",
        answer=ModelList,
        needs_key=False,
    ),
    Operation(
        method="GET",
        path="/v1/models/{model}",
        name="retrieveModel",
        summary="One model.",
        answer=ModelRow,
        parameters=(
            Parameter(
                name="model",
                where="path",
                description="An id or a legacy alias.",
                schema={"type": "string", "minLength": 1},
            ),
        ),
        needs_key=False,
        own_refusals=(errors.ModelNotFound,),
    ),
    Operation(
        method="POST",
        path="/v1/chat/completions",
        name="createChatCompletion",
        summary="A chat completion, whole or as a stream.",
        body=ChatBody,
        fields=(SentTool, SentToolChoice, SentToolCall, ResponseFormat, ImageUrl),
        answer=Completion,
        events=CompletionChunk,
        parameters=(_IDEMPOTENCY_KEY, _RETRY_OF),
        own_refusals=(*_OF_A_CALL, errors.InvalidMessages, UnsupportedParameter),
    ),
    Operation(
        method="POST",
        path="/v1/embeddings",
        name="createEmbedding",
        summary="Vectors of texts.",
        body=EmbeddingsBody,
        answer=EmbeddingList,
        parameters=(_IDEMPOTENCY_KEY, _RETRY_OF),
        own_refusals=(*_OF_A_CALL, errors.InvalidInput, errors.UnsupportedEncoding),
    ),
    Operation(
        method="POST",
        path="/v1/images/generations",
        name="createImage",
        summary="Pictures of what is described, for 24 hours at a URL.",
        body=ImagesBody,
        answer=ImageList,
        parameters=(_IDEMPOTENCY_KEY, _RETRY_OF),
        own_refusals=_OF_A_CALL,
    ),
    Operation(
        method="GET",
        path="/v1/usage",
        name="getUsage",
        summary="What the account's keys used and were billed.",
        answer=UsageAnswer,
        csv=True,
        parameters=(
            _day("from", "the first of this month"),
            _day("to", "today"),
            Parameter(
                name="key",
                where="query",
                description="The id of a key: the usage of that one alone.",
                schema={"type": "string", "format": "uuid"},
            ),
            Parameter(
                name="format",
                where="query",
                description="`csv` for a row for each day, key and model. Default: `json`.",
                schema={"enum": ["json", "csv"]},
            ),
        ),
        own_refusals=(errors.InvalidRange, errors.InvalidBody, errors.KeyNotFound),
    ),
)
