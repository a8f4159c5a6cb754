import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { expect, test } from './persona.ts';

/** What the browser complains of. */
function complaints(page: Page): string[] {
  const seen: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) seen.push(message.text());
  });
  page.on('pageerror', (error) => seen.push(String(error)));
  return seen;
}

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    test('a visitor is led to the page for signing in', async ({ page }) => {
      const seen = complaints(page);
      await page.goto('/');
      await expect(page).toHaveURL(/\/sign-in/);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expectAccessible(page);
      // Whoever has never signed in here is asked for no password that the browser may complain of.
      expect(seen.filter((text) => !text.includes('401'))).toEqual([]);
    });

    test('whoever is signed in sees an empty chat', async ({ persona }) => {
      const alice = await persona('alice');
      const seen = complaints(alice.page);
      await alice.page.goto('/');
      await expect(alice.message).toBeVisible();
      await expectAccessible(alice.page);
      expect(seen).toEqual([]);
    });
  });
}
