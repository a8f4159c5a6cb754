"""Validation of picture URLs: any page can show them without harm."""

import re
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

_is_https_url = URLValidator(schemes=["https"], message="Write an https:// URL.")
# Characters that a URL has to percent-encode (RFC 3986), and that could end an attribute of HTML or
# CSS.
_NOT_IN_A_URL = re.compile(r"[^!#$%&()*+,\-./0-9:;=?@A-Z_a-z~\[\]]")


def validate_picture_url(url: str) -> None:
    """Accepts an https URL in ASCII, without a user. Raises ValidationError."""
    _is_https_url(url)
    if _NOT_IN_A_URL.search(url):
        raise ValidationError("Percent-encode what is no plain character of a URL.")
    if "@" in urlsplit(url).netloc:
        raise ValidationError("Write the URL without a user name and a password.")
