// Make a picture with the Vercel AI SDK.

import { writeFile } from "node:fs/promises";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateImage } from "ai";

const [prompt] = process.argv.slice(2);

/** The SDK always asks for the picture itself. The service gives its address, which will do too. */
function withoutResponseFormat(url, options) {
  const { response_format, ...body } = JSON.parse(options.body ?? "{}");
  return fetch(url, options.body ? { ...options, body: JSON.stringify(body) } : options);
}

const platform = createOpenAICompatible({
  name: "platform",
  baseURL: process.env.BASE_URL,
  apiKey: process.env.API_KEY,
  fetch: withoutResponseFormat,
});

const model = platform.imageModel("gpt-image-2.5-flare");
const { image } = await generateImage({ model, prompt, size: "1024x1024" });
await writeFile("picture.png", image.uint8Array);
console.log(image.mediaType);
