"""The examples of the OpenAPI document and of the AsyncAPI document."""
