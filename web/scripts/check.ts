/**
 * Runs the checks of the web app that are named, or all, two at a time: one line each, and what the
 * failing ones print.
 */
import { spawn } from 'node:child_process';

type Check = { name: string; command: string };

// What the others read, and git does not have.
const WRITTEN: Check[] = [
  { name: 'types of the interface', command: 'node scripts/write_types.ts' },
  {
    name: 'types of the routes, and messages',
    command:
      'svelte-kit sync && paraglide-js compile --silent --project project.inlang --outdir src/paraglide'
  }
];
const CHECKS: Check[] = [
  { name: 'lint', command: 'eslint .' },
  { name: 'types', command: 'svelte-check --fail-on-warnings' },
  { name: 'tests', command: 'vitest run' },
  {
    name: 'budgets',
    command: 'vite build --logLevel error > /dev/null && node scripts/budgets.ts'
  },
  { name: 'format', command: 'prettier --check .' },
  { name: 'messages', command: 'node scripts/messages.ts' }
];
const AT_A_TIME = 2;

/** Does the check pass? */
async function passes({ name, command }: Check): Promise<boolean> {
  const began = performance.now();
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const code = await new Promise((resolve) => child.on('close', resolve));
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'passed' : 'FAILED'}: ${name} (${seconds} s)`);
  if (code !== 0 || name === 'budgets') console.log(output.trimEnd());
  return code === 0;
}

/** Do all of them? */
async function pass(checks: Check[]): Promise<boolean> {
  const [waiting, results] = [[...checks], [] as boolean[]];
  const work = async () => {
    for (let check = waiting.shift(); check; check = waiting.shift()) {
      results.push(await passes(check));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return results.every(Boolean);
}

const named = process.argv.slice(2);
const unknown = named.filter((name) => !CHECKS.some((check) => check.name === name));
if (unknown.length > 0) throw new Error(`no such check: ${unknown.join(', ')}`);
const asked = named.length > 0 ? CHECKS.filter(({ name }) => named.includes(name)) : CHECKS;
process.exitCode = (await pass(WRITTEN)) && (await pass(asked)) ? 0 : 1;
