import { expect, test } from './persona.ts';

test('a model that the free plan does not have names those that it has', async ({ persona }) => {
  const alice = await persona('alice', { plan: 'free' });
  await alice.page.goto('/?model=claude-opus-5-5');
  await alice.ask('Hello?', { text: 'Hello.' });

  const problem = alice.page.getByRole('alert');
  await expect(problem).toContainText('Claude Opus 5.5 is not part of the free plan.');
  // Nothing typed is lost, and nothing looks as if it had been said.
  await expect(alice.message).toHaveValue(/^Hello\?/);
  await expect(alice.questions).toHaveCount(0);
  // No conversation has been begun by it.
  await expect(alice.page).toHaveURL(/\/$/);
  await expect(alice.page.getByText('Your conversations will be listed here.')).toBeVisible();
  await expect.poll(() => alice.call<unknown[]>('GET', '/api/conversations')).toEqual([]);

  await problem.getByRole('button', { name: /^Use/ }).first().click();
  await expect(alice.replies).toContainText('Hello.');
  await expect(alice.message).toHaveValue('');
  await expect(problem).toHaveCount(0);
  await expect(alice.page).toHaveURL(/\/chat\//);
});

test('without money the amounts are told', async ({ persona }) => {
  const alice = await persona('alice', { plan: 'free' });
  await alice.page.goto('/');
  await alice.message.waitFor();
  // Ten free messages are there for a window.
  for (let sent = 1; sent <= 10; sent++) {
    await alice.ask(`Number ${sent}`, { text: 'Yes.' });
    await expect(alice.replies).toHaveCount(sent);
    await alice.settled();
  }
  await alice.ask('One more', { text: 'Yes.' });

  const problem = alice.page.getByRole('alert');
  await expect(problem).toContainText(/You have used your 10 free messages .* within 4 hours/);
  await expect(alice.message).toHaveValue(/^One more/);

  // Another answer counts as well, and its refusal is not that of the message that was typed.
  await alice.replies.last().getByRole('button', { name: 'Answer again' }).click();
  const again = alice.page.getByRole('menuitem', { name: /^Again with/ });
  await expect(again).toContainText('Free messages used up');
  await expect(alice.page.getByText('Each answer counts as a free message.')).toBeVisible();
  await again.click();
  await expect(problem).toContainText('Answering “Number 10” again:');
  await problem
    .getByRole('button', { name: /^Again with/ })
    .first()
    .click();
  await alice.settled();
  await expect(alice.replies.last().getByText('2/2')).toBeVisible();
  await expect(alice.message).toHaveValue(/^One more/);
});

test('a reply that fails says why, and is tried again', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Hello?', {
    fail: 'before',
    status: 500,
    times: 3,
    marker: crypto.randomUUID(),
    text: 'At last.'
  });
  await expect(alice.replies).toContainText(/has failed/, { timeout: 40_000 });
  await alice.replies.getByRole('button', { name: 'Try again' }).click();
  await expect(alice.replies).toContainText('At last.', { timeout: 40_000 });
});

test('a reply that breaks off keeps what it has brought, and goes to another model', async ({
  persona
}) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Hello?', {
    model: 'gpt-6-luna',
    text: 'One two three four five.',
    fail: 'after',
    after_tokens: 3
  });
  await expect(alice.replies).toContainText('One two three');
  await expect(alice.replies).toContainText('has failed');

  await alice.replies.getByRole('button', { name: 'Other model' }).click();
  await alice.page.getByRole('menuitem', { name: 'Claude Haiku 5.5' }).click();
  await alice.settled();
  await expect(alice.replies.getByText('2/2')).toBeVisible();
});

test('a message that is too long says by how much', async ({ persona }) => {
  const alice = await persona('alice', { plan: 'free' });
  await alice.page.goto('/');
  await alice.message.fill('word '.repeat(19_000));
  await alice.message.press('Enter');
  const problem = alice.page.getByRole('alert');
  await expect(problem).toContainText(
    /This is about [\d,]+ tokens long, and in your plan models read at most [\d,]+ tokens/
  );
  // None of the plan reads more.
  await expect(problem.getByRole('button', { name: /^Use/ })).toHaveCount(0);
  await expect(alice.message).toHaveValue(/^word word/);
});

test('whoever writes while a reply runs elsewhere is told', async ({ persona, browser }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Hello.', { text: 'Hello.' });
  await alice.settled();
  const phone = await alice.elsewhere(browser);
  // It hears of nothing.
  await phone.page.routeWebSocket(/\/api\/ws/, () => {});
  await phone.page.goto(alice.page.url());
  await expect(phone.replies).toHaveCount(1);
  const words = Array.from({ length: 100 }, (_, at) => `n${at}`).join(' ');
  await alice.ask('Go on.', { text: words, delay_ms: 100 });
  // The service has it: this page shows a message before that.
  await expect(alice.replies.nth(1)).toContainText('n1 ');

  await phone.ask('Me too.', { text: 'Now.' });

  await expect(phone.page.getByRole('alert')).toContainText(
    'A reply is being written in this conversation already'
  );
  await expect(phone.message).toHaveValue(/^Me too\./);
  await expect(phone.replies).toHaveCount(2);
  await phone.settled();
  await expect(phone.page.getByRole('alert')).toHaveCount(0);
  await phone.message.press('Enter');
  await expect(phone.replies.nth(2)).toContainText('Now.');
});

test('a session that ends keeps what was typed', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Hello.', { text: 'Hello.' });
  await alice.settled();
  await alice.message.fill('Half a thought');
  const address = alice.page.url();
  await alice.page.evaluate(async () => {
    const body = JSON.stringify({ cookie: true });
    const headers = { 'Content-Type': 'application/json' };
    const pair = await (await fetch('/api/auth/refresh', { method: 'POST', headers, body })).json();
    await fetch('/api/auth/logout', {
      method: 'POST',
      headers: { Authorization: `Bearer ${pair.access_token}` }
    });
  });
  // The socket may tell it before anything is sent.
  await alice.message.press('Enter', { timeout: 2000 }).catch(() => {});

  await expect(alice.page).toHaveURL(/\/sign-in\?next=/);
  await alice.page.getByRole('textbox', { name: /mail/ }).fill(alice.email);
  await alice.page.getByRole('textbox', { name: 'Password' }).fill('correct horse battery staple');
  await alice.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(alice.page).toHaveURL(address);
  await expect(alice.message).toHaveValue('Half a thought');
});

test('whoever has too much running is told, and goes on when it has ended', async ({ persona }) => {
  const alice = await persona('alice', { balance_usd: 100 });
  await alice.page.goto('/');
  await alice.message.waitFor();
  await alice.occupied();

  await alice.ask('Hello?', { text: 'At last.' });

  const problem = alice.page.getByRole('alert');
  await expect(problem).toContainText('Too many of your replies are being written at once.');
  await expect(async () => {
    const again = problem.getByRole('button', { name: 'Try again' });
    if (await again.isVisible()) await again.click();
    await expect(alice.replies).toContainText('At last.', { timeout: 3000 });
  }).toPass();
});
