import { remember, remembered } from './remembered.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

// `app.html` reads it before anything is painted.
const KEY = 'theme';

/** Light, dark, or as the device is set, in this tab. */
class ThemeChoice {
  current = $state<Theme>(themeOf(remembered(KEY)));

  choose(theme: Theme): void {
    this.current = theme;
    remember(KEY, theme === 'system' ? null : theme);
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }
}

function themeOf(text: string | null): Theme {
  return THEMES.find((theme) => theme === text) ?? 'system';
}

export const theme = new ThemeChoice();
