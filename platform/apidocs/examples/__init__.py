"""The examples of the OpenAPI document and of the AsyncAPI document.

An answer is made of its schema, field by field (`values`). Each value is written for fields of some
components (`fields`), or for one field, which is then always shown (`special`; of events
`streamed`); `identity` says whose id an id is. Written out are request bodies, and answers that
differ from others with the same resource (`bodies`).
"""
