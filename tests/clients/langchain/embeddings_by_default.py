"""Embed texts with LangChain as it does without further settings: as token numbers."""

import os
import sys

from langchain_openai import OpenAIEmbeddings

model = OpenAIEmbeddings(
    model="text-embedding-3-small", base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"]
)
model.embed_documents(sys.argv[1:])
