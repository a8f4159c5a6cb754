import { m } from '#messages';
import type { Theme } from './theme.svelte.ts';

const NAMES = { system: m.theme_system, light: m.theme_light, dark: m.theme_dark };

export function themeName(theme: Theme): string {
  return NAMES[theme]();
}
