import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { AccountPage, newAddress } from './account_page.ts';
import { expect, test } from './persona.ts';

const SCREENS = {
  'sign in': '/sign-in',
  'sign up': '/sign-up',
  'forgot password': '/forgot-password',
  'reset password': '/reset-password?token=none',
  'verify address': '/verify-email?token=none',
  invitation: '/invitations?token=none',
  google: '/google',
  'page of operators': '/pages/about',
  news: '/news',
  'not found': '/nowhere'
};
const LOOKS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { name: 'light, on a phone', colorScheme: 'light', viewport: { width: 390, height: 844 } },
  { name: 'dark, on a phone', colorScheme: 'dark', viewport: { width: 390, height: 844 } }
] as const;

async function isAccessible(page: Page) {
  await expectAccessible(page);
  // Nothing is cut off, or has to be scrolled sideways.
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(page.viewportSize()!.width);
}

for (const { name: look, ...options } of LOOKS) {
  test.describe(look, () => {
    test.use(options);

    for (const [screen, path] of Object.entries(SCREENS)) {
      test(`${screen}: ${look}`, async ({ page }) => {
        await page.goto(path);
        await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
        await page.waitForLoadState('networkidle');
        await isAccessible(page);
        const submit = page.locator('[type=submit]');
        if ((await submit.count()) === 0) return;
        await submit.click();
        await expect(page.locator('[aria-invalid]').first()).toBeFocused();
        await isAccessible(page);
      });
    }

    test(`a refused sign-in: ${look}`, async ({ page }) => {
      await page.goto('/sign-in');
      const account = new AccountPage(page);
      await account.signIn(newAddress('nobody'));
      await expect(account.problem).toBeVisible();
      await isAccessible(page);
    });
  });
}

test('a form is filled in with the keyboard alone', async ({ page }) => {
  await page.goto('/sign-in');
  const account = new AccountPage(page);
  await expect(account.email).toBeFocused();
  await page.keyboard.type(newAddress('nobody'));
  await page.keyboard.press('Tab');
  await expect(account.password).toBeFocused();
  await page.keyboard.type('wrong password');
  await page.keyboard.press('Enter');
  await expect(account.problem).toBeVisible();
});
