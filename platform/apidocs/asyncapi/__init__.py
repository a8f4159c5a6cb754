"""`/asyncapi.json`: what is streamed."""
