"""Language tags (BCP 47), such as `pt-BR`."""

# The shape of a language tag (RFC 5646, section 2.1), without the registry behind it.
LANGUAGE_TAG = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*\Z"
MAX_TAG = 35  # characters; RFC 5646, section 4.4.1


def canonical_tag(tag: str) -> str:
    """The tag in the usual case, such as `zh-Hant-TW` (RFC 5646, section 2.1.1)."""
    language, *rest = tag.lower().split("-")
    return "-".join([language, *map(_in_its_case, rest)])


def _in_its_case(part: str) -> str:
    match len(part):
        case 2:
            return part.upper()
        case 4:
            return part.title()
        case _:
            return part


def lookup_order(tag: str, default: str) -> list[str]:
    """The tag and its shorter forms, the longest first, and last the default (RFC 4647, section
    3.4)."""
    parts = canonical_tag(tag).split("-")
    forms = ["-".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return list(dict.fromkeys([*forms, default]))
