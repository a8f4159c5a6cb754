"""The examples of the OpenAPI document."""
