"""The examples of the OpenAPI document and of the AsyncAPI document.

An answer is made of its schema, field by field (`values`). A value for a component and a field
(`special`; of events `streamed`) wins over one for the name of a field (`fields`); `identity` says
whose id an id is. Written out are request bodies, and answers that differ from others with the same
resource (`bodies`).
"""
