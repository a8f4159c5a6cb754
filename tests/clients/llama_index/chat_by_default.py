"""What happens to who leaves out `is_chat_model`: LlamaIndex takes the model for an older kind."""

import os
import sys

from llama_index.llms.openai_like import OpenAILike

model = OpenAILike(
    model="gpt-6-luna", api_base=os.environ["BASE_URL"], api_key=os.environ["API_KEY"]
)
print(model.complete(sys.argv[1]))
