"""Ask a question with LangChain: once whole, once as a stream."""

import os
import sys

from langchain_openai import ChatOpenAI

[question] = sys.argv[1:]
model = ChatOpenAI(
    model="gpt-6-luna",
    base_url=os.environ["BASE_URL"],
    api_key=os.environ["API_KEY"],
    use_responses_api=False,  # otherwise it chooses that interface by the model's name
)

answer = model.invoke(question)
print(answer.content)
print(answer.usage_metadata["total_tokens"], "tokens")

stream = model.stream(question)
whole = next(stream)
for chunk in stream:
    print(chunk.text, end="", flush=True)
    whole += chunk
print()
print(whole.usage_metadata["total_tokens"], "tokens")
