import { loadNews } from '#features/content/entries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async () => ({ newest: await loadNews() });
