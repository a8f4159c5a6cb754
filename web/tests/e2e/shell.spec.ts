import { expectAccessible } from './accessibility.ts';
import { expect, test, type Persona } from './persona.ts';

/** Does everything fit, and can everybody use it? */
async function expectGood({ page }: Persona) {
  await expectAccessible(page);
  const [needed, there] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    innerWidth
  ]);
  expect(needed).toBeLessThanOrEqual(there!);
}

/** How high the part of the picker is in which models are seen. */
function roomFor(picker: Element): number {
  const [search, choices] = ['[role=combobox]', '.choices'].map((one) =>
    picker.querySelector(one)!.getBoundingClientRect()
  );
  const end = Math.min(choices!.top, picker.getBoundingClientRect().bottom);
  return end - search!.bottom;
}

const LONG =
  'A title that is so long that it is cut off wherever it stands, and has to be: '.repeat(2);

async function withConversations(alice: Persona) {
  await alice.call('POST', '/api/spaces', { name: 'Sea', instructions: 'Be brief.' });
  for (const title of ['Tides', 'Waves', LONG]) {
    await alice.call('POST', '/api/conversations', { title });
  }
}

const SIZES = {
  'on a desktop': { width: 1280, height: 800 },
  // As wide as 1,280 pixels are at 200 %.
  'at 200 %': { width: 640, height: 400 },
  'on a phone': { width: 390, height: 844 }
};

for (const [where, viewport] of Object.entries(SIZES)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`every state can be used ${where}, ${colorScheme}`, async ({ persona, page: _ }) => {
      const alice = await persona('alice');
      const { page } = alice;
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await withConversations(alice);
      await page.goto('/');
      await alice.message.waitFor();
      const isDrawer = viewport.width < 768;
      const openSidebar = async () => {
        if (isDrawer) await page.getByRole('button', { name: 'Open the menu' }).click();
      };
      await expectGood(alice);

      await test.step('the sidebar with spaces', async () => {
        await openSidebar();
        await page.getByRole('button', { name: 'Spaces', exact: true }).click();
        await expect(page.getByRole('button', { name: 'Sea', exact: true })).toBeVisible();
        await expectGood(alice);
      });
      await test.step('the menu of the account', async () => {
        await page.getByRole('button', { name: 'alice' }).click();
        await expect(page.getByRole('menuitemradio', { name: 'Dark' })).toBeVisible();
        await expectGood(alice);
        await page.keyboard.press('Escape');
      });
      await test.step('a search', async () => {
        await page.getByRole('textbox', { name: 'Search conversations' }).fill('tides');
        await expect(page.getByRole('list', { name: 'Found' })).toBeVisible();
        await expectGood(alice);
        await page.getByRole('button', { name: 'Clear the search' }).click();
      });
      await test.step('a selection, and the question', async () => {
        await page.getByRole('button', { name: 'Select several' }).click();
        await page.getByRole('checkbox', { name: 'Tides' }).click();
        await expectGood(alice);
        await page.getByRole('button', { name: 'Delete the selected ones' }).click();
        await expect(page.getByRole('dialog', { name: 'Delete this conversation?' })).toBeVisible();
        await expectGood(alice);
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'End selecting' }).click();
      });
      await test.step('a space, and its form', async () => {
        await page.getByRole('button', { name: 'Sea', exact: true }).click();
        await expect(page.getByRole('heading', { name: 'Sea' })).toBeVisible();
        await page.getByRole('button', { name: 'Actions for the space “Sea”' }).click();
        await page.getByRole('menuitem', { name: 'Change the space' }).click();
        await expect(page.getByRole('textbox', { name: 'Name' })).toHaveValue('Sea');
        await expectGood(alice);
        await page.keyboard.press('Escape');
        await expect(page.getByRole('textbox', { name: 'Name' })).toHaveCount(0);
      });
      await test.step('the palette', async () => {
        await page.keyboard.press('Control+k');
        await expect(page.getByRole('option').first()).toBeVisible();
        await expectGood(alice);
        await page.keyboard.press('Escape');
      });
      await test.step('the picker', async () => {
        await page.getByRole('button', { name: /^Model:/ }).click();
        // Room for a few, the chosen one among them.
        const inView = page.getByRole('option', { name: 'GPT-6 Luna' });
        await expect(inView).toBeInViewport({ ratio: 1 });
        await expect(inView.getByLabel('Chosen')).toBeVisible();
        const height = await page.getByRole('dialog', { name: 'Choose a model' }).evaluate(roomFor);
        expect(height).toBeGreaterThan(viewport.height < 500 ? 150 : 300);
        await expectGood(alice);
        await page.keyboard.press('Escape');
      });
      await test.step('the models', async () => {
        await page.goto('/models');
        await page.getByRole('button', { name: 'Notes' }).first().click();
        await expect(page.getByRole('textbox', { name: 'Instructions' })).toBeVisible();
        await expectGood(alice);
      });
    });
  }
}

test('the sidebar is folded and unfolded, and stays as it is', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.page.getByRole('button', { name: 'Fold the sidebar' }).click();
  await expect(alice.page.getByRole('textbox', { name: 'Search conversations' })).toHaveCount(0);
  await expectAccessible(alice.page);
  await alice.page.reload();
  await alice.page.getByRole('button', { name: 'Unfold the sidebar' }).click();
  await expect(alice.page.getByRole('textbox', { name: 'Search conversations' })).toBeVisible();
});

test('a drawer keeps the focus, and gives it back', async ({ persona }) => {
  const alice = await persona('alice');
  const { page } = alice;
  await page.setViewportSize(SIZES['on a phone']);
  await page.goto('/');
  const opener = page.getByRole('button', { name: 'Open the menu' });
  await opener.focus();
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog', { name: 'Sidebar' });
  await expect(drawer).toBeVisible();
  for (let pressed = 0; pressed < 25; pressed++) {
    await page.keyboard.press('Tab');
    const isInside = await page.evaluate(
      () => document.activeElement === document.body || !!document.activeElement?.closest('.panel')
    );
    expect(isInside).toBe(true);
  }
  await page.keyboard.press('Escape');
  await expect(drawer).toHaveCount(0);
  await expect(opener).toBeFocused();

  // A page that is chosen closes it.
  await opener.click();
  await drawer.getByRole('link', { name: 'Models' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Models' })).toBeVisible();
  await expect(drawer).toHaveCount(0);

  // So does going back, which leaves no page.
  await opener.click();
  await expect(drawer).toBeVisible();
  await page.evaluate(() => history.back());
  await expect(drawer).toHaveCount(0);
  await expect(page).toHaveURL(/\/models$/);
  await page.evaluate(() => history.back());
  await expect(page).toHaveURL(/\/$/);
});

test('whoever uses the keyboard skips to the content', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/models');
  await alice.page.getByRole('heading', { level: 1 }).waitFor();
  await alice.page.keyboard.press('Tab');
  const link = alice.page.getByRole('link', { name: 'Skip to the content' });
  await expect(link).toBeFocused();
  await alice.page.keyboard.press('Enter');
  await expect(alice.page.getByRole('main')).toBeFocused();
});

test('arrow keys go from row to row, and Tab to what can be done with one', async ({ persona }) => {
  const alice = await persona('alice');
  await withConversations(alice);
  await alice.page.goto('/');
  const row = (name: string) => alice.page.getByRole('link', { name, exact: true });
  await row('Waves').waitFor();
  await alice.page.getByRole('button', { name: 'Select several' }).focus();
  await alice.page.keyboard.press('Tab');
  await expect(row(LONG.trim())).toBeFocused();
  await alice.page.keyboard.press('ArrowDown');
  await expect(row('Waves')).toBeFocused();
  await alice.page.keyboard.press('End');
  await expect(row('Tides')).toBeFocused();
  await alice.page.keyboard.press('Tab');
  await expect(alice.page.getByRole('button', { name: 'Actions for “Tides”' })).toBeFocused();
  await alice.page.keyboard.press('Enter');
  await expect(alice.page.getByRole('menuitem', { name: 'Pin' })).toBeFocused();
  await alice.page.keyboard.press('ArrowDown');
  await expect(alice.page.getByRole('menuitem', { name: 'Rename' })).toBeFocused();
  await alice.page.keyboard.press('Escape');
  await expect(alice.page.getByRole('button', { name: 'Actions for “Tides”' })).toBeFocused();
  await alice.page.keyboard.press('Tab');
  await expect(alice.page.getByRole('button', { name: 'alice max' })).toBeFocused();
});

test('theme and language are chosen in the menu of the account', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.page.getByRole('button', { name: 'alice max' }).click();
  await alice.page.getByRole('menuitemradio', { name: 'Dark' }).click();
  await expect(alice.page.locator('html')).toHaveCSS('color-scheme', 'dark');
  await alice.page.getByRole('menuitemradio', { name: 'System' }).click();
  await expect(alice.page.locator('html')).toHaveCSS('color-scheme', 'light dark');
  await alice.page.getByRole('menuitemradio', { name: 'Deutsch' }).click();
  await expect(alice.page.getByRole('link', { name: 'Neue Unterhaltung' })).toBeVisible();
});

test('signing out ends this session, and everywhere all of them', async ({ persona, browser }) => {
  const alice = await persona('alice');
  const phone = await alice.elsewhere(browser);
  const leave = async ({ page }: Persona, how: string) => {
    await page.getByRole('button', { name: 'alice max' }).click();
    await page.getByRole('menuitem', { name: how, exact: true }).click();
    const question = page.getByRole('dialog', { name: `${how}?` });
    if (how === 'Sign out everywhere') await question.getByRole('button', { name: how }).click();
    await expect(page).toHaveURL(/\/sign-in/);
  };
  await phone.page.goto('/');
  await alice.page.goto('/');
  await leave(alice, 'Sign out');
  await expect(phone.message).toBeVisible();
  const laptop = await phone.elsewhere(browser);
  await laptop.page.goto('/');
  await leave(laptop, 'Sign out everywhere');
  // The phone hears of it by its socket.
  await expect(phone.page).toHaveURL(/\/sign-in/, { timeout: 30_000 });
});

test('what cannot be loaded says so, and comes when it is asked for again', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/models');
  await alice.page.getByRole('heading', { level: 1 }).waitFor();
  await alice.page.context().setOffline(true);
  const account = alice.page.getByRole('button', { name: 'alice max' });
  await account.click();
  await expect(alice.page.getByText(/could not be loaded/)).toBeVisible();
  await alice.page.context().setOffline(false);
  await account.click();
  await expect(alice.page.getByRole('menu', { name: 'Account' })).toBeVisible();
});

test('the menu of the account says which plan one has, and what money', async ({ persona }) => {
  const alice = await persona('alice', { plan: 'pro', balance_usd: 12 });
  await alice.page.goto('/');
  await alice.page.getByRole('button', { name: 'alice pro' }).click();
  const menu = alice.page.getByRole('menu');
  await expect(alice.page.getByRole('button', { name: 'alice pro plan' })).toHaveCount(1);
  await expect(menu).toContainText('Plan: Pro');
  await expect(menu).toContainText('Balance: $12.00');
  await menu.getByRole('menuitem', { name: 'News' }).click();
  await expect(alice.page.getByRole('heading', { level: 1, name: 'News' })).toBeVisible();
});

test('being offline is said, and being back is not', async ({ persona, context }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.message.waitFor();
  await context.setOffline(true);
  await expect(alice.page.getByText('You are offline.')).toBeVisible();
  await context.setOffline(false);
  await expect(alice.page.getByText('You are offline.')).toHaveCount(0);
});
