// Lets models call tools and answer by schemas with the unmodified openai-node client, and prints
// what it saw as JSON.
// Usage: BASE_URL=... API_KEY=... node agents.mjs NAME MODEL QUESTION, where NAME is one of the
// functions below.

import OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

const [name, model, question] = process.argv.slice(2);
const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: process.env.API_KEY });
const { completions } = client.chat;
const messages = [{ role: "user", content: question }];

const Place = z.object({ city: z.string() });
const TEMPERATURES = { Paris: 21, Berlin: 17 };

const called = [];

/** What the tool does on this side. */
async function getTemperature({ city }) {
  called.push(city);
  return { city, celsius: TEMPERATURES[city] };
}

const description = "The temperature in a city.";
const getTemperatureTool = {
  type: "function",
  function: {
    name: "get_temperature",
    description,
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
    strict: true,
    parse: JSON.parse,
    function: getTemperature,
  },
};

const Home = z.object({
  city: z.string(),
  kind: z.enum(["house", "flat"]),
  rooms: z.array(z.object({ name: z.string(), windows: z.number().int() })),
  street: z.string().nullable(),
});
const response_format = zodResponseFormat(Home, "home");

const cases = {
  /** The client carries out the calls and asks again, until there is an answer in words. */
  async tools() {
    const runner = completions.runTools({ model, messages, tools: [getTemperatureTool] });
    const answer = await runner.finalContent();
    const usage = await runner.totalUsage();
    return { answer, called, usage, roles: runner.messages.map(({ role }) => role) };
  },

  async streamedTools() {
    const tools = [getTemperatureTool];
    const runner = completions.runTools({ model, messages, tools, stream: true });
    let streamed = "";
    const results = [];
    runner.on("content", (delta) => (streamed += delta));
    runner.on("functionToolCallResult", (result) => results.push(JSON.parse(result)));
    const answer = await runner.finalContent();
    return { answer, called, streamed, results };
  },

  /** The function as a schema of Zod's: the arguments come parsed. */
  async parsedTool() {
    const tools = [zodFunction({ name: "get_temperature", parameters: Place, description })];
    const tool_choice = "required";
    const answer = await completions.parse({ model, messages, tools, tool_choice });
    const [{ message, finish_reason }] = answer.choices;
    const parsed = message.tool_calls.map((call) => call.function.parsed_arguments);
    return { parsed, finish_reason };
  },

  async form() {
    const answer = await completions.parse({ model, messages, response_format });
    const [{ message, finish_reason }] = answer.choices;
    const { parsed, refusal } = message;
    return { parsed, refusal, finish_reason };
  },

  async streamedForm() {
    const stream = completions.stream({ model, messages, response_format });
    let deltas = 0;
    stream.on("content.delta", () => (deltas += 1));
    const answer = await stream.finalChatCompletion();
    const [{ message, finish_reason }] = answer.choices;
    return { parsed: message.parsed, finish_reason, deltas };
  },
};

console.log(JSON.stringify(await cases[name]()));
