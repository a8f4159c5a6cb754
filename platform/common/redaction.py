"""The patterns of credentials, removed from everything that is logged or passed on."""

import re

_SECRETS = (
    # token=..., refresh_token=..., a link's signature=..., and the same as a quoted JSON or Python
    # field
    (
        re.compile(r"""(?i)(\b\w*(?:token|signature)(?:=|\\?["']:\s?\\?["']))[^&\s"'\\]+"""),
        r"\1[redacted]",
    ),
    (re.compile(r"(?i)(\bauthorization\b\W{1,6}(?:bearer|basic)\s+)[^\s\"',\\]+"), r"\1[redacted]"),
    (re.compile(r"(?i)(\bbearer\s+)[\w.~+/=*-]{8,}"), r"\1[redacted]"),
    # scheme://user:password@host
    (re.compile(r"""(?i)(://[^\s/:@"'\\]*:)[^\s/"'\\]+(?=@)"""), r"\1[redacted]"),
    (re.compile(r"\bmk_[0-9A-Za-z]{8,}"), "mk_[redacted]"),
    # Providers' keys, and the ids of accounts in their messages; often shortened with stars.
    (re.compile(r"(?i)\b((?:sk|pk|gsk|xai)[-_])[\w.*-]{6,}"), r"\1[redacted]"),
    (
        re.compile(r"\b((?:key|org|proj)(?:-|_(?=\w*[\dA-Z*])))[\w.*-]{6,}"),
        r"\1[redacted]",
    ),
    # The token of an invitation in a path.
    (re.compile(r"(/teams/invites/)[^\s/\"']+"), r"\1[redacted]"),
    # The token of a shared conversation: an id and its HMAC-SHA256.
    (re.compile(r"[0-9a-f]{32}\.[\w-]{43}"), "[redacted]"),
    (re.compile(r"(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*"), "[redacted]"),
)


def redact(text: str) -> str:
    """`text` without tokens, Authorization values, passwords in URLs, API keys and JWTs."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text
