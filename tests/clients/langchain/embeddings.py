"""Embed texts with LangChain."""

import os
import sys

from langchain_openai import OpenAIEmbeddings

texts = sys.argv[1:]
model = OpenAIEmbeddings(
    model="text-embedding-3-small",
    base_url=os.environ["BASE_URL"],
    api_key=os.environ["API_KEY"],
    check_embedding_ctx_length=False,  # send the texts themselves, not their token numbers
    chunk_size=256,  # as many as one request takes
)

for vector in model.embed_documents(texts):
    print(len(vector), "numbers")
