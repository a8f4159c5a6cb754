/**
 * Prints how many KB a browser loads for each route, compressed, and fails over a budget
 * (`budgets.json`). It measures the last `vite build`.
 *
 * The first load is all that a first page needs; another route is measured by what it needs on top.
 * What is loaded when it is used (`import()`) does not count. A KB has 1,000 bytes.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** The files that each route needs, by the path of the route. */
export type Pages = Record<string, Set<string>>;
export type Budgets = {
  first_load: { routes: string[]; kb: number };
  any_other_route: { kb: number };
};
export type Load = { route: string; kb: number; most: number };

/** What each route loads, first pages first. `size` has the bytes of each file. */
export function loads(pages: Pages, budgets: Budgets, size: Map<string, number>): Load[] {
  const { first_load: first, any_other_route: other } = budgets;
  const load = (route: string, files: Set<string>, most: number): Load => ({
    route,
    kb: [...files].reduce((sum, file) => sum + (size.get(file) ?? NaN), 0) / 1000,
    most
  });
  const filesOf = (route: string) => {
    if (!pages[route]) throw new Error(`budgets.json has a route that is not there: ${route}`);
    return pages[route];
  };
  const there = filesOf(first.routes[0]!);
  const others = Object.keys(pages).filter((route) => !first.routes.includes(route));
  return [
    ...first.routes.map((route) => load(route, filesOf(route), first.kb)),
    ...others.sort().map((route) => load(route, filesOf(route).difference(there), other.kb))
  ];
}

/** What SvelteKit notes of a build for its own server. */
type Manifest = {
  client: { imports: string[]; stylesheets: string[] };
  nodes: (() => Promise<{ imports: string[]; stylesheets: string[] }>)[];
  routes: { id: string; page: { layouts: number[]; leaf: number } | null }[];
};

async function read(web: string): Promise<Pages> {
  const file = join(web, '.svelte-kit/output/server/manifest-full.js');
  const { manifest } = (await import(file)) as { manifest: Manifest };
  const pages = manifest.routes.map(async ({ id, page }): Promise<[string, Set<string>][]> => {
    if (!page) return [];
    const nodes = [...page.layouts, page.leaf].map((number) => manifest.nodes[number]!());
    const parts = [manifest.client, ...(await Promise.all(nodes))];
    const files = parts.flatMap((part) => [...part.imports, ...part.stylesheets]);
    return [[id.replaceAll(/\/\([^)]+\)/g, '') || '/', new Set(['index.html', ...files])]];
  });
  return Object.fromEntries((await Promise.all(pages)).flat());
}

async function sizes(folder: string, pages: Pages): Promise<Map<string, number>> {
  const files = [...new Set(Object.values(pages).flatMap((each) => [...each]))];
  const measured = files.map(async (file): Promise<[string, number]> => {
    return [file, gzipSync(await readFile(join(folder, file))).length];
  });
  return new Map(await Promise.all(measured));
}

if (import.meta.main) {
  const web = join(import.meta.dirname, '..');
  const budgets = JSON.parse(await readFile(join(web, 'budgets.json'), 'utf8')) as Budgets;
  const pages = await read(web);
  for (const load of loads(pages, budgets, await sizes(join(web, 'build'), pages))) {
    const isOver = load.kb > load.most;
    const [kb, most] = [load.kb.toFixed(1).padStart(6), String(load.most).padStart(3)];
    console.log(`${kb} of ${most} KB  ${load.route}${isOver ? '  OVER ITS BUDGET' : ''}`);
    if (isOver) process.exitCode = 1;
  }
}
