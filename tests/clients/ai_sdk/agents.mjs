// Let a model call tools and answer in a form with the Vercel AI SDK.
//
// Usage: BASE_URL=... API_KEY=... node agents.mjs PROVIDER NAME MODEL QUESTION, where PROVIDER is
// `compatible` or `openai`, and NAME one of the functions below. Prints what was seen as JSON.

import { readFile } from "node:fs/promises";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [provider, name, id, prompt] = process.argv.slice(2);
const access = { baseURL: process.env.BASE_URL, apiKey: process.env.API_KEY };
const providers = {
  compatible: () =>
    createOpenAICompatible({ name: "platform", supportsStructuredOutputs: true, ...access })(id),
  openai: () => createOpenAI(access).chat(id),
};
const model = providers[provider]();

const TEMPERATURES = { Paris: 21, Berlin: 17 };
const tools = {
  getTemperature: tool({
    description: "The temperature in a city.",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => ({ city, celsius: TEMPERATURES[city] }),
  }),
};
const stopWhen = stepCountIs(5);

const Home = z.object({
  city: z.string(),
  kind: z.enum(["house", "flat"]),
  rooms: z.array(z.object({ name: z.string(), windows: z.number().int() })),
  street: z.string().nullable(),
});

const inputs = ({ toolCalls }) => toolCalls.map(({ input }) => input.city);
const outputs = ({ toolResults }) => toolResults.map(({ output }) => output.celsius);

const cases = {
  async tools() {
    const { text, steps, totalUsage } = await generateText({ model, prompt, tools, stopWhen });
    return { text, calls: steps.map(inputs), results: steps.map(outputs), totalUsage };
  },

  async streamedTools() {
    const stream = streamText({ model, prompt, tools, stopWhen });
    let text = "";
    for await (const piece of stream.textStream) text += piece;
    const steps = await stream.steps;
    return { text, calls: steps.map(inputs), results: steps.map(outputs) };
  },

  async object() {
    const { object, finishReason } = await generateObject({ model, prompt, schema: Home });
    return { object, finishReason };
  },

  /** The same in the call of a text, which shows the object as it grows. */
  async streamedObject() {
    const stream = streamText({ model, prompt, output: Output.object({ schema: Home }) });
    let states = 0;
    for await (const _ of stream.partialOutputStream) states += 1;
    return { object: await stream.output, states };
  },

  /** The tools are called first, and what they say is put into the form. */
  async toolsThenObject() {
    const Weather = z.object({ city: z.string(), celsius: z.number() });
    const output = Output.object({ schema: Weather });
    const answer = await generateText({ model, prompt, tools, stopWhen, output });
    return { object: answer.output, calls: answer.steps.map(inputs) };
  },

  async picture() {
    const image = await readFile("picture.png");
    const content = [
      { type: "text", text: prompt },
      { type: "image", image },
    ];
    const { text } = await generateText({ model, messages: [{ role: "user", content }] });
    return { text };
  },
};

console.log(JSON.stringify(await cases[name]()));
