/**
 * Checks the messages: each locale has the same ones, with the same inputs, and the app uses all.
 */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** A text, or variants of it: see https://inlang.com/schema/inlang-message-format. */
export type Message = string | { declarations?: string[] }[];
export type Messages = Record<string, Message>;

const USED = /\bm(?:\.(\w+)|\[['"](\w+)['"]\])/g;

/** What is wrong with the messages of each locale, given the sources of the app. */
export function complaints(locales: Record<string, Messages>, sources: string[]): string[] {
  const keys = new Set(Object.values(locales).flatMap((messages) => Object.keys(messages)));
  const used = new Set(
    sources.flatMap((text) => [...text.matchAll(USED)].map(([, name, quoted]) => name ?? quoted))
  );
  return [...keys].flatMap((key) => {
    const lacking = Object.keys(locales).filter((locale) => !(key in locales[locale]!));
    const inputs = Object.values(locales).flatMap((messages) =>
      key in messages ? [inputsOf(messages[key]!)] : []
    );
    return [
      ...lacking.map((locale) => `${key} is not in ${locale}`),
      ...(new Set(inputs).size > 1 ? [`${key} has other inputs: ${inputs.join(' / ')}`] : []),
      ...(used.has(key) ? [] : [`${key} is not used`])
    ];
  });
}

function inputsOf(message: Message): string {
  const names =
    typeof message === 'string'
      ? [...message.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      : message.flatMap(({ declarations = [] }) =>
          declarations.flatMap((each) => /^input (\w+)$/.exec(each)?.[1] ?? [])
        );
  return [...new Set(names)].sort().join(', ') || 'none';
}

/** The messages of each locale, and what is wrong with their files. */
async function read(folder: string): Promise<[Record<string, Messages>, string[]]> {
  const settings = JSON.parse(
    await readFile(join(folder, 'project.inlang/settings.json'), 'utf8')
  ) as { locales: string[]; 'plugin.inlang.messageFormat': { pathPattern: string[] } };
  const patterns = settings['plugin.inlang.messageFormat'].pathPattern;
  const [locales, wrong]: [Record<string, Messages>, string[]] = [{}, []];
  for (const locale of settings.locales) {
    const all: Messages = (locales[locale] = {});
    for (const pattern of patterns) {
      const messages = JSON.parse(
        await readFile(join(folder, pattern.replace('{locale}', locale)), 'utf8')
      ) as Messages;
      delete messages.$schema;
      wrong.push(
        ...Object.keys(messages).flatMap((key) => (key in all ? [`${key} is twice`] : []))
      );
      Object.assign(all, messages);
    }
    const listed = new Set(patterns.map((pattern) => basename(pattern)));
    const files = await readdir(join(folder, 'messages', locale));
    wrong.push(
      ...files.flatMap((name) =>
        listed.has(name) ? [] : [`${locale}/${name} is not in project.inlang/settings.json`]
      )
    );
  }
  return [locales, wrong];
}

async function sources(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const own = names.filter((name) => /\.(svelte|ts)$/.test(name) && !name.startsWith('paraglide'));
  return Promise.all(own.map((name) => readFile(join(folder, name), 'utf8')));
}

if (import.meta.main) {
  const web = join(import.meta.dirname, '..');
  const [locales, wrong] = await read(web);
  wrong.push(...complaints(locales, await sources(join(web, 'src'))));
  for (const line of wrong) console.error(line);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
