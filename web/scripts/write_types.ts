/**
 * Writes the types of `/api` and of its events, from the documents that the service makes of itself.
 * They are written before each check and never committed, so that they cannot be stale.
 */
import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';

const folder = new URL('../src/api/', import.meta.url);
const options = { defaultNonNullable: false };

async function read(name: string) {
  return JSON.parse(await readFile(new URL(`../../docs/${name}.json`, import.meta.url), 'utf8'));
}

async function write(name: string, document: OpenAPI3) {
  await writeFile(new URL(name, folder), astToString(await openapiTS(document, options)));
}

const { components } = await read('asyncapi');
// Of AsyncAPI the generator knows nothing; the schemas of both are the same JSON Schema.
const events = Object.values<{ name: string; payload: object }>(components.messages).map(
  ({ name, payload }) => [name, payload]
);
const schemas = { ...components.schemas, ...Object.fromEntries(events) };

await write('schema.d.ts', await read('openapi'));
await write('events.d.ts', {
  openapi: '3.1.0',
  info: { title: 'Events', version: '1' },
  paths: {},
  components: { schemas }
});
