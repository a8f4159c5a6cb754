import { expect, test } from './persona.ts';

const sea = { name: 'sea.txt', mimeType: 'text/plain', buffer: Buffer.from('The sea is blue.') };
const picture = {
  name: 'sea.png',
  mimeType: 'image/png',
  buffer: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64'
  )
};

test('files are attached, removed, and sent', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.message.waitFor();
  await alice.page.locator('input[type=file]').setInputFiles([sea, picture]);

  const files = alice.page.getByRole('list', { name: 'Files' });
  await expect(files.getByRole('listitem')).toHaveCount(2);
  await expect(files).toContainText('the model gets only its name');
  const unseen = alice.page.getByText('The models here cannot see pictures yet');
  await expect(unseen).toBeVisible();
  await files.getByRole('button', { name: 'Remove sea.png' }).click();
  await expect(files.getByRole('listitem')).toHaveCount(1);
  await expect(unseen).toHaveCount(0);

  await alice.ask('What is in it?', { text: 'The sea.' });
  await expect(alice.replies).toContainText('The sea.');
  await expect(alice.questions.getByRole('link', { name: /sea\.txt/ })).toBeVisible();
  await alice.settled();
  await alice.page.reload();
  const link = alice.questions.getByRole('link', { name: /sea\.txt/ });
  await expect(link).toHaveAttribute('href', /\/files\//);
});

test('a file that was pasted, or dropped, goes along', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.message.waitFor();
  const dropped = await alice.page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['ebb'], 'ebb.txt', { type: 'text/plain' }));
    return transfer;
  });
  await alice.message.dispatchEvent('dragenter', { dataTransfer: dropped });
  await expect(alice.page.getByText('Drop files here')).toBeVisible();
  // Also beside the conversation.
  const sidebar = alice.page.getByRole('navigation', { name: 'Sidebar' });
  await sidebar.dispatchEvent('drop', { dataTransfer: dropped });
  await alice.message.evaluate((area) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File(['tide'], 'tide.txt', { type: 'text/plain' }));
    area.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
    );
  });

  const files = alice.page.getByRole('list', { name: 'Files' });
  await expect(files).toContainText('ebb.txt');
  await expect(files).toContainText('tide.txt');
  await expect(alice.page.getByText('Drop files here')).toHaveCount(0);
});

test('a file that cannot be uploaded says why, and is tried again', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.message.waitFor();
  await alice.page.context().setOffline(true);
  await alice.page.locator('input[type=file]').setInputFiles(sea);
  const files = alice.page.getByRole('list', { name: 'Files' });
  await expect(files.getByRole('alert')).toContainText('cannot be reached');

  await alice.page.context().setOffline(false);
  await files.getByRole('button', { name: 'Upload sea.txt again' }).click();
  await expect(files.getByRole('alert')).toHaveCount(0);
  await expect(files).toContainText('16 bytes');

  // A file that is too large is not even sent.
  await alice.message.evaluate((area) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([new Uint8Array(25_000_001)], 'large.txt'));
    area.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
    );
  });
  await expect(files.getByRole('alert')).toContainText('Larger than 25 MB');
  // It is seen before the others, would be refused again, and no message goes without it unsaid.
  await expect(files.getByRole('listitem').first()).toContainText('large.txt');
  await expect(files.getByRole('button', { name: 'Upload large.txt again' })).toHaveCount(0);
  await alice.ask('What is in it?', { text: 'The sea.' });
  await expect(alice.page.getByText('Not taken: large.txt.')).toBeVisible();
  await expect(alice.questions).toHaveCount(0);
  await alice.message.press('Enter');
  await expect(alice.replies).toContainText('The sea.');
  await expect(alice.page.getByText('large.txt')).toHaveCount(0);
});

test('what is edited keeps its files', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.message.waitFor();
  await alice.page.locator('input[type=file]').setInputFiles(sea);
  await expect(alice.page.getByRole('list', { name: 'Files' })).toContainText('16 bytes');
  await alice.ask('What is in it?', { text: 'The sea.' });
  await alice.settled();

  await alice.message.press('ArrowUp');
  await alice.page
    .getByRole('textbox', { name: 'New text of the message' })
    .fill('And now?\n@sim {"text": "Still."}');
  await alice.page.keyboard.press('Enter');
  await expect(alice.replies).toContainText('Still.');
  await expect(alice.questions.getByText('sea.txt')).toBeVisible();
});

test('an empty file is not taken, and a text that is too long becomes one', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.message.waitFor();
  const empty = { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) };
  await alice.page.locator('input[type=file]').setInputFiles([empty]);
  await expect(alice.page.getByText('This file is empty')).toBeVisible();

  await alice.message.fill('What is this?');
  await alice.message.evaluate((area) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', 'blue '.repeat(20_001));
    area.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
    );
  });
  await expect(alice.page.getByRole('list', { name: 'Files' })).toContainText('pasted text.txt');
  await expect(alice.message).toHaveValue('What is this?');
});

test('a message waits for its files, and says so', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.message.waitFor();
  const { promise, resolve } = Promise.withResolvers<void>();
  await alice.page.route('**/api/uploads', async (route) => {
    await promise;
    await route.continue();
  });
  await alice.page.locator('input[type=file]').setInputFiles([sea]);
  await alice.ask('What is in it?', { text: 'The sea.' });
  await expect(alice.page.getByText('A file is still being uploaded.')).toBeVisible();
  resolve();
  await expect(alice.page.getByRole('button', { name: 'Send', exact: true })).toBeEnabled();
  await alice.message.press('Enter');
  await expect(alice.replies).toContainText('The sea.');
});
