"""The published descriptions of the interfaces: OpenAPI, AsyncAPI, and their examples."""
