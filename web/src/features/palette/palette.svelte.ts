import { m } from '#messages';
import { sidebar } from '#features/frame/sidebar.svelte.ts';

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
export const SHORTCUT = isMac ? '⌘ K' : m.palette_shortcut();

/** Whether the palette is open. */
export const palette = $state({ isOpen: false });

export function openPalette(): void {
  sidebar.closeDrawer();
  palette.isOpen = true;
}
