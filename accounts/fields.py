"""The serializer field of addresses, for other apps as well."""

from typing import Any

from django.core.exceptions import ValidationError as DjangoValidationError
from rest_framework.serializers import EmailField, ValidationError

from accounts.addresses import validate_address


class AddressField(EmailField):
    """An e-mail address of an account."""

    def __init__(self) -> None:
        super().__init__(max_length=254)

    def to_internal_value(self, data: Any) -> str:
        address = super().to_internal_value(data)
        try:
            validate_address(address)
        except DjangoValidationError as error:
            raise ValidationError(error.messages) from None
        return address
