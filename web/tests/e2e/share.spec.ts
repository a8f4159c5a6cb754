import { readFile } from 'node:fs/promises';
import { expect, test } from './persona.ts';

test('a link shows everybody what was shared, and nothing after it is revoked', async ({
  persona,
  browser
}) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  const file = { name: 'tides.txt', mimeType: 'text/plain', buffer: Buffer.from('High water.') };
  await alice.page.locator('input[type=file]').setInputFiles([file]);
  await expect(alice.page.getByRole('list', { name: 'Files' })).toContainText('tides.txt');
  await alice.message.fill('Why is the sea blue?');
  await expect(alice.page.getByRole('button', { name: 'Send', exact: true })).toBeEnabled();
  await alice.ask('Why is the sea blue?', {
    text: 'Because water takes the **red** out.',
    reasoning_tokens: 5
  });
  await alice.settled();
  await alice.page.getByRole('button', { name: 'Share' }).click();
  const dialog = alice.page.getByRole('dialog');
  await expect(dialog.getByText('as it is now')).toBeVisible();
  await dialog.getByRole('button', { name: 'Make a link' }).click();
  const link = dialog.getByRole('textbox', { name: 'Link' });
  await expect(link).toHaveValue(/\/shared\//);
  await expect(dialog.getByText('as of')).toBeVisible();
  await expect(dialog.getByText('as it is now')).toHaveCount(0);

  const stranger = await (await browser.newContext()).newPage();
  const asked: string[] = [];
  stranger.on(
    'request',
    (request) => void (request.url().includes('/api/') && asked.push(request.url()))
  );
  await stranger.goto(await link.inputValue());
  await expect(stranger.getByRole('article')).toHaveCount(2);
  await expect(stranger.getByRole('article').nth(1)).toContainText('GPT-6 Luna');
  await expect(stranger.getByRole('article').nth(1).locator('strong')).toHaveText('red');
  await expect(stranger.locator('body')).not.toContainText(alice.email);
  await expect(stranger.locator('body')).not.toContainText('tides.txt');
  const questions = stranger.getByRole('article', { name: 'Question' });
  await expect(questions.first()).toContainText('Files were attached here.');

  await dialog.getByRole('button', { name: 'Close' }).click();
  await alice.ask('And the sky?', { text: 'Likewise.' });
  await alice.settled();
  await stranger.reload();
  await expect(stranger.getByRole('article')).toHaveCount(2);

  await alice.page.getByRole('button', { name: 'Share' }).click();
  await dialog.getByRole('button', { name: 'Update' }).click();
  await expect(dialog.getByText('The link shows the conversation as it is now.')).toBeVisible();
  await expect(async () => {
    await stranger.reload();
    await expect(stranger.getByRole('article')).toHaveCount(4, { timeout: 2000 });
  }).toPass();

  await dialog.getByRole('button', { name: 'Remove the link…' }).click();
  await expect(dialog.getByRole('alert')).toContainText('Nobody will be able to open this link');
  await dialog.getByRole('button', { name: 'Remove the link' }).click();
  await expect(dialog.getByText('The link is removed')).toBeVisible();
  await expect(dialog.getByRole('button', { name: 'Make a link' })).toBeVisible();
  await stranger.reload();
  await expect(stranger.getByText('There is nothing under this link.')).toBeVisible();
});

test('a conversation is saved as a file', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Why is the sea blue?', { text: 'Because.' });
  await alice.settled();
  for (const [name, ending] of [
    ['Save as Markdown', 'md'],
    ['Save as JSON', 'json']
  ] as const) {
    await alice.page.getByRole('button', { name: 'More actions' }).click();
    const downloading = alice.page.waitForEvent('download');
    await alice.page.getByRole('menuitem', { name }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(new RegExp(`\\.${ending}$`));
    expect(await readFile(await download.path(), 'utf8')).toContain('Because.');
  }
});

test('where links are switched off, the dialog says so and offers none', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Hello.', { text: 'Hello.' });
  await alice.settled();
  const off = { flags: { public_sharing: false } };
  await alice.page.route('**/api/flags?name=public_sharing', (route) =>
    route.fulfill({ json: off })
  );
  await alice.page.getByRole('button', { name: 'Share' }).click();
  const dialog = alice.page.getByRole('dialog');
  await expect(dialog.getByText('No links can be made')).toBeVisible();
  await expect(dialog.getByRole('button', { name: 'Make a link' })).toHaveCount(0);
});
