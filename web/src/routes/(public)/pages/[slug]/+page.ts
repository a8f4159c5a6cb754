import { loadPage } from '#features/content/entries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params }) => ({ entry: await loadPage(params.slug) });
