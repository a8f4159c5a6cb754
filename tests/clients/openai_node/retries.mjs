// Calls the service with openai-node as it is by default, and prints what came as JSON.
// Usage: BASE_URL=... API_KEY=... node retries.mjs KIND PROMPT

import OpenAI from "openai";

const [kind, prompt] = process.argv.slice(2);
const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: process.env.API_KEY });
const request = { model: "gpt-6-luna", messages: [{ role: "user", content: prompt }] };

const kinds = {
  async answer() {
    const answer = await client.chat.completions.create(request);
    return { id: answer.id, words: answer.choices[0].message.content.split(" ").length };
  },

  async stream() {
    let id, text = "";
    for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
      id = chunk.id;
      text += chunk.choices[0].delta.content ?? "";
    }
    return { id, words: text.trim().split(" ").length };
  },

  async embeddings() {
    const { data } = await client.embeddings.create({
      model: "text-embedding-3-small",
      input: prompt,
    });
    return { numbers: data[0].embedding.length };
  },

  async image() {
    const { data } = await client.images.generate({ model: "gpt-image-2.5-flare", prompt });
    return { pictures: data.length };
  },
};

console.log(JSON.stringify(await kinds[kind]()));
