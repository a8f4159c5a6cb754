import { expect, test } from './persona.ts';

test('a new chat is begun, answered, and has its own address', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Why is the sea blue?', { text: 'Because water takes the red out.' });

  await expect(alice.replies).toHaveText(/Because water takes the red out\./);
  await expect(alice.page).toHaveURL(/\/chat\/[0-9a-f-]{36}$/);
  await expect(alice.message).toBeFocused();
  await alice.settled();
  await expect(alice.replies.getByRole('button', { name: /from your plan$/ })).toBeVisible();
  await expect(alice.page.getByRole('heading', { level: 1 })).not.toHaveText('New chat');
});

test('an edited message becomes a branch, and the arrows lead back', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('How deep?', { text: 'Very deep.' });
  await alice.settled();

  await alice.questions.hover();
  await alice.questions.getByRole('button', { name: 'Edit' }).click();
  const editor = alice.page.getByRole('textbox', { name: 'New text of the message' });
  await editor.fill('How wide?\n@sim {"text": "Very wide."}');
  await editor.press('Enter');
  await alice.settled();
  await expect(alice.replies).toHaveText(/Very wide\./);
  await expect(alice.questions.getByText('2/2')).toBeVisible();

  await alice.questions.getByRole('button', { name: 'Previous version' }).click();
  await expect(alice.replies).toHaveText(/Very deep\./);

  // The choice is the conversation's, not this page's.
  await expect(async () => {
    await alice.page.reload();
    await expect(alice.replies).toHaveText(/Very deep\./, { timeout: 3000 });
  }).toPass();
});

test('a reply is made again, by the same model and by another', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('A number?', { tokens: 5 });
  await alice.settled();

  await alice.replies.getByRole('button', { name: 'Answer again' }).click();
  await alice.page.getByRole('menuitem', { name: /^Again with/ }).click();
  await alice.settled();
  await expect(alice.replies.getByText('2/2')).toBeVisible();

  await alice.replies.getByRole('button', { name: 'Answer again' }).click();
  await alice.page.getByRole('menuitem', { name: 'Claude Haiku 5.5' }).click();
  await alice.settled();
  await expect(alice.replies.getByText('3/3')).toBeVisible();
  await expect(alice.replies).toHaveText(/^Claude Haiku 5\.5/);
});

test('a reply is stopped by Escape, and what has come stays', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Go on and on.', { tokens: 2000, delay_ms: 50 });
  await expect(alice.replies).toHaveText(/\w+ \w+ \w+/);

  await alice.message.press('Escape');

  await alice.settled();
  await expect(alice.replies.getByText('Stopped.')).toBeVisible();
});

test('a page that is loaded in mid-stream goes on with the reply', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Count.', {
    text: Array.from({ length: 60 }, (_, at) => `n${at}`).join(' '),
    delay_ms: 100
  });
  await expect(alice.replies).toHaveText(/n3 /);

  await alice.page.reload();

  await expect(alice.replies).toHaveText(/n3 /);
  await expect(alice.page.getByRole('button', { name: 'Stop' })).toBeVisible();
  await alice.settled();
  await expect(alice.replies).toContainText(
    Array.from({ length: 60 }, (_, at) => `n${at}`).join(' ')
  );
});

test('two browsers follow one reply', async ({ persona, browser }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Hello.', { text: 'Hello.' });
  await alice.settled();
  const phone = await alice.elsewhere(browser);
  await phone.page.goto(alice.page.url());
  await expect(phone.replies).toHaveCount(1);

  const words = Array.from({ length: 50 }, (_, at) => `n${at}`).join(' ');
  await alice.ask('Count.', { text: words, delay_ms: 100 });

  await expect(phone.questions).toHaveCount(2);
  await expect(phone.replies.nth(1)).toContainText('n5 ');
  await expect(phone.page.getByRole('button', { name: 'Stop' })).toBeVisible();
  await expect(phone.replies.nth(1)).toContainText(words);
  await expect(alice.replies.nth(1)).toContainText(words);
  await phone.settled();
});

test('a reply survives a connection that is cut', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  const words = Array.from({ length: 60 }, (_, at) => `n${at}`).join(' ');
  await alice.ask('Count.', { text: words, delay_ms: 100 });
  await expect(alice.replies).toContainText('n3 ');

  await alice.page.context().setOffline(true);
  await alice.page.waitForTimeout(1500);
  await alice.page.context().setOffline(false);

  await alice.settled();
  await expect(alice.replies).toContainText(words);
  await expect(alice.questions).toHaveCount(1);
});

test('what is sent offline is sent once there is a connection', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Hello.', { text: 'Hello.' });
  await alice.settled();

  await alice.page.context().setOffline(true);
  await alice.ask('Still there?', { text: 'Still here.' });
  await expect(alice.page.getByText(/sent when there is one/)).toBeVisible();
  await alice.page.context().setOffline(false);

  await expect(alice.replies.nth(1)).toContainText('Still here.');
  await alice.settled();
  await alice.page.reload();
  await expect(alice.questions).toHaveCount(2);
});

test('what is typed outlives the page', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.message.fill('Half a thought');
  await alice.page.reload();
  await expect(alice.message).toHaveValue('Half a thought');
});

test('whoever reads further up stays there while a reply grows', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  const lines = Array.from({ length: 200 }, (_, at) => `line ${at}`).join('\n\n');
  await alice.ask('Count.', { text: lines, delay_ms: 30 });
  await expect(alice.replies).toContainText('line 40');
  await expect(alice.page.getByRole('button', { name: 'To the end' })).toHaveCount(0);

  await alice.page.getByRole('region', { name: 'Messages' }).hover();
  await alice.page.mouse.wheel(0, -400);
  await expect(alice.page.getByRole('button', { name: 'To the end' })).toBeVisible();
  const place = () =>
    alice.page.getByRole('region', { name: 'Messages' }).evaluate((box) => box.scrollTop);
  await alice.page.waitForTimeout(300);
  const before = await place();
  const length = (await alice.replies.innerText()).length;
  await expect
    .poll(async () => (await alice.replies.innerText()).length)
    .toBeGreaterThan(length + 50);
  expect(await place()).toBe(before);

  await alice.page.getByRole('button', { name: 'To the end' }).click();
  await expect(alice.replies.getByText('line 199', { exact: true })).toBeInViewport();
  await alice.settled();
});

test('opening a chat asks for the list, the conversation and the models', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Hello.', { text: 'Hello.' });
  await alice.settled();
  const asked: string[] = [];
  alice.page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/')) asked.push(pathname);
  });

  await alice.page.reload();
  await expect(alice.replies).toContainText('Hello.');
  await alice.page.waitForTimeout(1000);

  const id = alice.page.url().split('/').at(-1);
  // What the frame of the app asks for is its own.
  const own = asked.filter((path) => !/^\/api\/(auth|cms|flags|spaces)/.test(path));
  expect(own.sort()).toEqual(['/api/conversations', `/api/conversations/${id}`, '/api/models']);
});
