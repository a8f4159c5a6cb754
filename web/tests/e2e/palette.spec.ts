import { expect, test } from './persona.ts';

test('the palette reaches a conversation by the keyboard alone', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.call('POST', '/api/conversations', { title: 'Currents of the north' });
  await alice.call('POST', '/api/conversations', { title: 'Waves' });
  await alice.page.goto('/');
  await expect(alice.message).toBeFocused();

  await alice.page.keyboard.press('Control+k');
  const field = alice.page.getByRole('combobox', { name: 'A conversation, model, page or action' });
  await expect(field).toBeFocused();
  await alice.page.keyboard.type('curr');
  await expect(alice.page.getByRole('option', { name: 'Currents of the north' })).toBeVisible();
  await alice.page.keyboard.press('Enter');
  await expect(alice.page).toHaveURL(/\/chat\/[0-9a-f-]{36}$/);
  await expect(alice.page.getByRole('heading', { level: 1 })).toHaveText('Currents of the north');
});

test('it reaches pages, models and actions', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.message.waitFor();
  const choose = async (typed: string) => {
    await alice.page.keyboard.press('Control+k');
    await expect(alice.page.getByRole('combobox', { name: /page or action$/ })).toBeFocused();
    await alice.page.keyboard.type(typed);
    await expect(alice.page.getByRole('option').first()).toHaveAttribute('aria-selected', 'true');
    await alice.page.keyboard.press('Enter');
    await expect(alice.page.getByRole('dialog')).toHaveCount(0);
  };

  await choose('models');
  await expect(alice.page).toHaveURL(/\/models$/);
  await choose('opus');
  await expect(alice.page.getByRole('button', { name: 'Model: Claude Opus 5.5' })).toBeVisible();
  await choose('theme dark');
  await expect(alice.page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await alice.page.reload();
  await expect(alice.page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await alice.message.waitFor();
  await choose('deutsch');
  await expect(alice.page.getByRole('link', { name: 'Neue Unterhaltung' })).toBeVisible();
  await expect(alice.page.locator('html')).toHaveAttribute('lang', 'de');
});

test('Escape leads back to where one was, and what does not match is said', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.message.fill('Half a thought');
  await alice.page.keyboard.press('Control+k');
  await expect(alice.page.getByRole('combobox', { name: /page or action$/ })).toBeFocused();
  await alice.page.keyboard.type('xylophone');
  await expect(alice.page.getByText('Nothing matches “xylophone”.')).toBeVisible();
  await alice.page.keyboard.press('Escape');
  await expect(alice.page.getByRole('dialog')).toHaveCount(0);
  await expect(alice.message).toBeFocused();
  await expect(alice.message).toHaveValue('Half a thought');
});

test('whoever signs out in it is signed out', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.message.waitFor();
  await alice.page.keyboard.press('Control+k');
  await expect(alice.page.getByRole('combobox', { name: /page or action$/ })).toBeFocused();
  await alice.page.keyboard.type('sign out');
  await expect(alice.page.getByRole('option').first()).toHaveAttribute('aria-selected', 'true');
  await alice.page.keyboard.press('Enter');
  await expect(alice.page).toHaveURL(/\/sign-in/);
});
