import { expect, test, type Persona } from './persona.ts';

const rows = ({ page }: Persona) =>
  page.getByRole('region', { name: 'Conversations' }).locator('[data-row]');
const row = ({ page }: Persona, title: string) => page.getByRole('link', { name: title });

async function begin(alice: Persona, ...titles: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const title of titles) {
    ids.push((await alice.call<{ id: string }>('POST', '/api/conversations', { title })).id);
  }
  return ids;
}

async function act(alice: Persona, title: string, action: string) {
  await row(alice, title).hover();
  await alice.page.getByRole('button', { name: `Actions for “${title}”` }).click();
  await alice.page.getByRole('menuitem', { name: action }).click();
}

test('whoever has none is told where they will be', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await expect(alice.page.getByText('Your conversations will be listed here.')).toBeVisible();
});

test('a list that does not come says so, and comes when it is asked for again', async ({
  persona
}) => {
  const alice = await persona('alice');
  await begin(alice, 'Tides');
  await alice.page.route('**/api/conversations?*', (route) =>
    route.fulfill({
      status: 503,
      json: { detail: 'Busy. Try again.', code: 'service_unavailable' }
    })
  );
  await alice.page.goto('/');
  await expect(alice.page.getByRole('alert')).toContainText('Busy. Try again.');
  await alice.page.unroute('**/api/conversations?*');
  await alice.page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
  await expect(rows(alice)).toHaveText(['Tides']);
});

test('a match leads to its message', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Why is the sea blue?', { text: 'Because water takes the red light out.' });
  await alice.settled();
  await alice.page.goto('/');

  await alice.page.getByRole('textbox', { name: 'Search conversations' }).fill('red wat');
  await expect(rows(alice)).toContainText(['takes the red light out']);
  await expect(rows(alice).locator('mark')).toHaveText(['wat', 'red']);
  await rows(alice).click();

  await expect(alice.page).toHaveURL(/\/chat\/[0-9a-f-]+\?message=[0-9a-f-]+$/);
  await expect(alice.replies).toContainText('Because water takes the red light out.');

  await alice.page.getByRole('textbox', { name: 'Search conversations' }).fill('xylophone');
  await expect(alice.page.getByText('Nothing was found for “xylophone”.')).toBeVisible();

  // A new chat ends the search.
  await alice.page.getByRole('link', { name: 'New chat' }).click();
  await expect(rows(alice)).toHaveCount(1);
  await expect(alice.page.getByRole('textbox', { name: 'Search conversations' })).toHaveValue('');
});

test('one is renamed in its place, and keeps its name where that is left by Escape', async ({
  persona
}) => {
  const alice = await persona('alice');
  await begin(alice, 'Tides');
  await alice.page.goto('/');
  await act(alice, 'Tides', 'Rename');
  const field = alice.page.getByRole('textbox', { name: 'New title' });
  await field.fill('Waves');
  await field.press('Escape');
  await expect(rows(alice)).toHaveText(['Tides']);
  await expect(row(alice, 'Tides')).toBeFocused();

  await alice.page.keyboard.press('F2');
  await field.fill('Waves');
  await field.press('Enter');
  await expect(rows(alice)).toHaveText(['Waves']);

  // Blanks are no name.
  await alice.page.keyboard.press('F2');
  await field.fill('   ');
  await field.press('Enter');
  await expect(rows(alice)).toHaveText(['Waves']);
  await alice.page.reload();
  await expect(rows(alice)).toHaveText(['Waves']);
});

test('a name that cannot be stored stays in its field', async ({ persona }) => {
  const alice = await persona('alice');
  await begin(alice, 'Tides');
  await alice.page.goto('/');
  await act(alice, 'Tides', 'Rename');
  const field = alice.page.getByRole('textbox', { name: 'New title' });
  await field.fill('Waves');
  await alice.page.context().setOffline(true);
  await field.press('Enter');
  await expect(alice.page.getByRole('alert')).toContainText('cannot be reached');
  await expect(field).toHaveValue('Waves');
  await alice.page.context().setOffline(false);
  await field.press('Enter');
  await expect(rows(alice)).toHaveText(['Waves']);
});

test('a pinned one is first, and stays there', async ({ persona }) => {
  const alice = await persona('alice');
  await begin(alice, 'Tides', 'Waves', 'Winds');
  await alice.page.goto('/');
  await act(alice, 'Tides', 'Pin');
  await expect(alice.page.getByRole('list', { name: 'Pinned' })).toContainText('Tides');
  await alice.page.reload();
  await expect(rows(alice)).toHaveText(['Tides', 'Winds', 'Waves']);
  await act(alice, 'Tides', 'Unpin');
  await expect(alice.page.getByRole('list', { name: 'Pinned' })).toHaveCount(0);
});

test('several are deleted together, after a question', async ({ persona }) => {
  const alice = await persona('alice');
  const [tides] = await begin(alice, 'Tides', 'Waves', 'Winds', 'Clouds');
  await alice.page.goto(`/chat/${tides}`);
  await act(alice, 'Tides', 'Select several');
  const box = (name: string) => alice.page.getByRole('checkbox', { name });
  await expect(box('Tides')).toBeChecked();
  await box('Winds').click({ modifiers: ['Shift'] });
  await expect(alice.page.getByText('3 selected')).toBeVisible();

  await alice.page.getByRole('button', { name: 'Delete the selected ones' }).click();
  const dialog = alice.page.getByRole('dialog', { name: 'Delete 3 conversations?' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(rows(alice)).toHaveCount(4);
  await alice.page.getByRole('button', { name: 'Delete the selected ones' }).click();
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();

  await expect(rows(alice)).toHaveText(['Clouds']);
  await expect(alice.page.getByText('3 conversations are deleted.')).toBeVisible();
  await expect(alice.page.getByText('The conversation is deleted.')).toHaveCount(0);
  // The one that was shown is gone, too.
  await expect(alice.page).toHaveURL(/\/$/);
});

test('spaces are made, filled, shown alone and deleted', async ({ persona }) => {
  const alice = await persona('alice');
  await begin(alice, 'Tides', 'Waves');
  await alice.page.goto('/');
  await alice.page.getByRole('button', { name: 'New space' }).click();
  const dialog = alice.page.getByRole('dialog', { name: 'New space' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Sea');
  await dialog.getByRole('textbox', { name: 'Instructions' }).fill('Answer in rhymes.');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(alice.page.getByRole('heading', { name: 'Sea' })).toBeVisible();
  await expect(alice.page.getByText('No conversation is in this space yet.')).toBeVisible();

  await alice.page.getByRole('button', { name: 'All conversations' }).click();
  await act(alice, 'Tides', 'Move to a space…');
  await alice.page.getByRole('radio', { name: 'Sea' }).check();
  await alice.page.getByRole('button', { name: 'Move', exact: true }).click();
  await expect(alice.page.getByRole('dialog')).toHaveCount(0);
  // Where rows of several spaces are mixed, each says which it is of.
  await expect(rows(alice)).toHaveText(['Waves', 'Tides in Sea']);
  const main = alice.page.getByRole('main');
  await expect(main.getByText('in Sea')).toHaveCount(0);
  await expect(alice.page.getByText('Moved to “Sea”.')).toBeVisible();
  await alice.page.getByRole('button', { name: 'Show the space' }).click();
  await expect(rows(alice)).toHaveText(['Tides']);

  // What is begun here is in the space, also on the page that was there before.
  await expect(main.getByText('in Sea')).toBeVisible();
  await alice.ask('Hello?', { text: 'Hello.' });
  await alice.settled();
  await expect(rows(alice)).toHaveCount(2);
  await alice.page.getByRole('link', { name: 'New chat' }).click();
  await expect(alice.page).toHaveURL(/\/\?space=[0-9a-f-]+$/);
  await alice.page.reload();
  await expect(main.getByText('in Sea')).toBeVisible();
  await expect(alice.page.getByRole('heading', { name: 'Sea' })).toBeVisible();

  await alice.page.getByRole('button', { name: 'Actions for the space “Sea”' }).click();
  await alice.page.getByRole('menuitem', { name: 'Delete the space' }).click();
  await alice.page.getByRole('dialog').getByRole('button', { name: 'Delete the space' }).click();
  await expect(rows(alice)).toHaveCount(3);
});

test('a rename in one browser appears in the other', async ({ persona, browser }) => {
  const alice = await persona('alice');
  await begin(alice, 'Tides', 'Waves');
  await alice.page.goto('/');
  const phone = await alice.elsewhere(browser);
  await phone.page.goto('/');
  await expect(rows(phone)).toHaveText(['Waves', 'Tides']);

  await act(alice, 'Tides', 'Rename');
  await alice.page.getByRole('textbox', { name: 'New title' }).fill('Currents');
  await alice.page.keyboard.press('Enter');
  await expect(rows(phone)).toHaveText(['Waves', 'Currents']);

  await row(alice, 'Currents').click();
  await expect(alice.page.getByRole('heading', { level: 1 })).toHaveText('Currents');
  await alice.ask('Go on.', { tokens: 120, delay_ms: 100 });
  await expect(rows(phone)).toHaveText([/Currents.*A reply is being written/, 'Waves']);
  await alice.settled();
  await expect(rows(phone)).toHaveText(['Currents', 'Waves']);

  await act(alice, 'Waves', 'Delete');
  await alice.page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(rows(phone)).toHaveText(['Currents']);
});

test('opening a chat takes three requests', async ({ persona }) => {
  const alice = await persona('alice');
  const [tides] = await begin(alice, 'Tides');
  const asked: string[] = [];
  alice.page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/')) asked.push(`${request.method()} ${pathname}`);
  });
  await alice.page.goto(`/chat/${tides}`);
  await expect(rows(alice)).toHaveText(['Tides']);
  await alice.page.waitForLoadState('networkidle');

  const public_ = ['POST /api/auth/refresh', 'GET /api/cms'];
  expect(asked.filter((line) => !public_.includes(line)).sort()).toEqual([
    'GET /api/conversations',
    `GET /api/conversations/${tides}`,
    'GET /api/models'
  ]);
});

test('a page is announced by the name of its conversation', async ({ persona }) => {
  const alice = await persona('alice');
  await begin(alice, 'Tides');
  await alice.page.goto('/');
  await row(alice, 'Tides').click();
  await expect(alice.page.locator('#svelte-announcer')).toHaveText('Tides · AI platform');
});
