import { readFile } from 'node:fs/promises';
import { expect } from './persona.ts';

// Where the local default writes the mails that it does not send.
const LOG = `${process.env.VAR_DIR ?? '../var'}/log/worker.log`;

/** The page with this path to which the newest mail to somebody leads: its path and query. */
export async function mailed(address: string, path: string): Promise<string> {
  const link = new RegExp(`^Mail to ${address}: .*: (\\S+${path}\\?\\S+)$`, 'gm');
  let found: string | undefined;
  await expect(async () => {
    found = [...(await readFile(LOG, 'utf8')).matchAll(link)].at(-1)?.[1];
    expect(found).toBeDefined();
  }).toPass();
  const { pathname, search } = new URL(found!);
  return pathname + search;
}
