// Fetches the AsyncAPI document at an address, and prints what the official parser says of it.

import { Parser, fromURL } from "@asyncapi/parser";

const [url] = process.argv.slice(2);
const { document, diagnostics } = await fromURL(new Parser(), url).parse();
const operations = document?.operations().all() ?? [];
console.log(
  JSON.stringify({
    version: document?.version() ?? null,
    channels: document?.channels().all().map((channel) => channel.address()) ?? [],
    messages: operations.flatMap((operation) => operation.messages().all().map(({ _json }) => _json.name)),
    diagnostics,
  }),
);
