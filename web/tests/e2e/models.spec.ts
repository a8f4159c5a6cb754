import { expect, test } from './persona.ts';

test('a model is chosen by the keyboard alone', async ({ persona }) => {
  const alice = await persona('alice');
  const search = alice.page.getByRole('combobox', { name: 'Search models and makers' });
  await alice.page.goto('/');
  await alice.page.getByRole('button', { name: /^Model:/ }).focus();
  await alice.page.keyboard.press('Enter');
  await expect(search).toBeFocused();
  await alice.page.keyboard.type('anthropic');
  await expect(alice.page.getByRole('option')).toHaveCount(3);
  await alice.page.keyboard.press('ArrowDown');
  await alice.page.keyboard.press('Enter');

  // What was chosen is written to next.
  await expect(alice.message).toBeFocused();
  const button = alice.page.getByRole('button', { name: 'Model: Claude Opus 5.5' });
  await button.press('Enter');
  await expect(search).toBeFocused();
  await alice.page.keyboard.press('Tab');
  await expect(alice.page.getByRole('radio', { name: 'Usual' })).toBeFocused();
  await alice.page.keyboard.press('ArrowRight');
  await expect(alice.page.getByRole('radio', { name: 'Low' })).toBeChecked();
  await alice.page.keyboard.press('Escape');
  await expect(button).toHaveText(/Low/);

  await alice.ask('Hello?', { text: 'Hello.' });
  await expect(alice.replies).toHaveText(/^Claude Opus 5\.5/);
});

test('each model says what it costs, and why it cannot be called', async ({ persona }) => {
  const alice = await persona('alice', { plan: 'free' });
  await alice.page.goto('/');
  await alice.page.getByRole('button', { name: /^Model:/ }).click();
  const option = (name: string) => alice.page.getByRole('option', { name });
  await expect(option('GPT-6 Luna')).toContainText('Free');
  await expect(option('GPT-6 Luna')).toContainText('reads 8.2K tokens');
  await expect(option('GPT-6 Luna')).toContainText('10 of 10 free messages left');
  await expect(option('Claude Opus 5.5')).toContainText(/\$[\d.]+ in · \$[\d.]+ out/);
  await expect(option('Claude Opus 5.5')).toContainText('Not in the free plan');
  await expect(option('Mistral Medium 3.5')).toContainText('Not available here');
});

test('notes are saved as they are typed, and told', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/models');
  const card = alice.page.getByRole('article', { name: /^Claude Opus 5\.5/ });
  await card.getByRole('button', { name: 'Notes' }).click();
  await card.getByRole('textbox', { name: 'Instructions' }).fill('Answer in rhymes.');
  // It is said where one types.
  await expect(card.locator('.notes').getByRole('status')).toHaveText('Saved');
  await expect(card.getByText('It is saved as you type.')).toBeVisible();
  await card.getByText('High').click();
  const star = card.getByRole('button', { name: 'Claude Opus 5.5 is a favourite' });
  await star.click();
  await expect(star).toHaveAttribute('aria-pressed', 'true');
  await expect(card.getByRole('status')).toHaveText('Saved');

  await alice.page.reload();
  await expect(alice.page.getByRole('article').first()).toHaveAccessibleName(/^Claude Opus 5\.5/);
  await expect(card).toContainText('Answer in rhymes.');
  // The favourite answers where nothing names another model.
  await alice.page.goto('/');
  await expect(alice.page.getByRole('button', { name: 'Model: Claude Opus 5.5' })).toBeVisible();
});

test('what is typed last is saved, also where the page is left at once', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/models');
  const card = alice.page.getByRole('article', { name: /^GPT-6 Luna/ });
  await card.getByRole('button', { name: 'Notes' }).click();
  await card.getByRole('textbox', { name: 'Instructions' }).fill('Be brief.');
  await alice.page.getByRole('link', { name: 'New chat' }).click();
  await alice.message.waitFor();
  await alice.page.getByRole('link', { name: 'Models' }).click();
  await expect(card).toContainText('Be brief.');
});

test('a model that is not offered is not in the picker', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/models');
  await alice.page.getByRole('switch', { name: 'Show Kimi K3 in the picker' }).click();
  await expect(alice.page.getByRole('article', { name: /^Kimi K3/ })).toContainText('Saved');
  await alice.page.goto('/');
  await alice.page.getByRole('button', { name: /^Model:/ }).click();
  await expect(alice.page.getByRole('option', { name: 'GPT-6 Luna' })).toBeVisible();
  await expect(alice.page.getByRole('option', { name: 'Kimi K3' })).toHaveCount(0);
});

test('a note that could not be saved stays, and is saved when it is tried again', async ({
  persona
}) => {
  const alice = await persona('alice');
  await alice.page.goto('/models');
  const card = alice.page.getByRole('article', { name: /^GPT-6 Luna/ });
  await card.getByRole('button', { name: 'Notes' }).click();
  await alice.page.context().setOffline(true);
  await card.getByRole('textbox', { name: 'Instructions' }).fill('Be brief.');
  await expect(card.getByRole('alert')).toContainText('cannot be reached');
  await alice.page.context().setOffline(false);
  await card.getByRole('button', { name: 'Try again' }).click();
  await expect(card.getByRole('status')).toHaveText('Saved');
});

test('the cheapest come first where somebody wants that', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/models');
  const prices = async () => {
    const texts = await alice.page
      .getByRole('article')
      .getByText(/ in · /)
      .allTextContents();
    return texts.map((text) => [...text.matchAll(/[\d.]+/g)].reduce((sum, [n]) => sum + +n, 0));
  };
  await alice.page.getByRole('checkbox', { name: 'Cheapest first' }).check();
  const sorted = (await prices()).toSorted((one, other) => one - other);
  expect(sorted.length).toBeGreaterThan(5);
  expect(await prices()).toEqual(sorted);

  await alice.page.reload();
  await alice.page.getByRole('article').first().waitFor();
  expect(await prices()).toEqual(sorted);
});

test('a reply that ended unseen is taken off what is left', async ({ persona }) => {
  const alice = await persona('alice', { plan: 'free' });
  await alice.page.goto('/');
  const accepted = alice.page.waitForResponse(/\/messages$/);
  await alice.ask('Hello?', { text: 'Hello.', ttft_ms: 1500 });
  await accepted;
  await alice.page.reload();
  await alice.settled();
  await expect(alice.page.getByText('9 of 10 free messages left')).toBeVisible();
});

test('what is left is told in the composer, also on a phone, and in a sentence when it is asked for', async ({
  persona
}) => {
  const alice = await persona('alice', { plan: 'pro', balance_usd: 5 });
  await alice.page.setViewportSize({ width: 390, height: 844 });
  await alice.page.goto('/?model=gpt-6-luna');
  const left = alice.page.getByRole('button', { name: /^Plan: .* left$/ });
  await expect(left).toBeInViewport();
  await left.click();
  await expect(
    alice.page.getByText(/Your plan has \$[\d.]+ a month for GPT-6 Luna, .* On \w+ 1 it is/)
  ).toBeVisible();
  await alice.page.keyboard.press('Escape');

  await alice.page.goto('/?model=kimi-k3');
  const warning = alice.page.getByRole('button', {
    name: 'Your balance pays, twice the list price'
  });
  await expect(warning).toBeInViewport();
  expect(await warning.evaluate((all) => all.scrollWidth <= all.clientWidth)).toBe(true);
  expect(await alice.page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});
