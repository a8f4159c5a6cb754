// The same with the SDK's own OpenAI provider: `.chat`, because `openai(id)` is another interface.

import { createOpenAI } from "@ai-sdk/openai";
import { embedMany, generateText, streamText } from "ai";

const [prompt] = process.argv.slice(2);
const openai = createOpenAI({ baseURL: process.env.BASE_URL, apiKey: process.env.API_KEY });
const model = openai.chat("gpt-6-luna");

const answer = await generateText({ model, prompt });
console.log(answer.text);
console.log(answer.finishReason, answer.usage.totalTokens, "tokens");

const stream = streamText({ model, prompt });
for await (const text of stream.textStream) process.stdout.write(text);
console.log();
console.log(await stream.finishReason, (await stream.usage).totalTokens, "tokens");

const embedder = openai.embeddingModel("text-embedding-3-small");
const { embeddings, usage } = await embedMany({ model: embedder, values: [prompt, prompt] });
console.log(embeddings.map((vector) => vector.length).join(" "), usage.tokens, "tokens");
