"""Embed texts with LlamaIndex."""

import os
import sys

from llama_index.embeddings.openai_like import OpenAILikeEmbedding

texts = sys.argv[1:]
model = OpenAILikeEmbedding(
    model_name="text-embedding-3-small",
    api_base=os.environ["BASE_URL"],
    api_key=os.environ["API_KEY"],
)

for vector in model.get_text_embedding_batch(texts):
    print(len(vector), "numbers")
