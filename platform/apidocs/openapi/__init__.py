"""`/openapi.json`: what requests take and are answered with."""
