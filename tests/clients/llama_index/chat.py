"""Ask a question with LlamaIndex: as a completion, as a chat, as a stream."""

import os
import sys

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

[question] = sys.argv[1:]
model = OpenAILike(
    model="gpt-6-luna",
    api_base=os.environ["BASE_URL"],
    api_key=os.environ["API_KEY"],
    is_chat_model=True,
    context_window=272_000,
)

print(model.complete(question))

answer = model.chat([ChatMessage(role="user", content=question)])
print(answer.message.content)
print(answer.raw.usage.total_tokens, "tokens")

for answer in model.stream_chat([ChatMessage(role="user", content=question)]):
    print(answer.delta, end="", flush=True)
print()
print(answer.raw.usage.total_tokens, "tokens")
