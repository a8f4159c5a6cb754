"""E-mail addresses that accounts may have (ASCII, nothing quoted), and their mailboxes."""

import re

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from django.utils.deconstruct import deconstructible

# Two names of one domain; dots in its addresses mean nothing.
_OF_GOOGLE = ("gmail.com", "googlemail.com")


@deconstructible
class AddressValidator(EmailValidator):
    """Accepts a dot-atom at a domain with a dot in it (RFC 5321, 4.1.2).

    It refuses quoted names, because one mailbox could be written in many ways and some of them
    break mails; literals like `[127.0.0.1]` and hosts like `localhost`, where users have no
    mailboxes; and letters that are not ASCII, because some look alike.
    """

    message = "Write a plain e-mail address, like name@example.com."
    user_regex = re.compile(
        r"[-!#$%&'*+/=?^_`{}|~0-9A-Z]+(\.[-!#$%&'*+/=?^_`{}|~0-9A-Z]+)*\Z", re.IGNORECASE | re.ASCII
    )
    domain_allowlist = ()

    def __call__(self, value: str | None) -> None:
        local_part, at, domain = (value or "").rpartition("@")
        if at and local_part.isascii() and not domain.isascii():
            raise ValidationError("Write the domain in its ASCII form (xn--...).")
        super().__call__(value)

    def validate_domain_part(self, domain_part: str) -> bool:
        return self.domain_regex.match(domain_part) is not None


validate_address = AddressValidator()


def mailbox_of(address: str) -> str:
    """The mailbox that receives mail to `address`: in lower case, without the part from a plus on,
    and at Google without dots. Where nothing would be left of the name, and where there is no "@",
    it is the address itself; it is never longer than the address in lower case."""
    local_part, at, domain = address.strip().lower().rpartition("@")
    if not at:
        return domain
    mailbox = local_part.partition("+")[0]
    if domain in _OF_GOOGLE:
        domain, mailbox = "gmail.com", mailbox.replace(".", "")
    return f"{mailbox or local_part}@{domain}"
