import { expectAccessible } from './accessibility.ts';
import { expect, test } from './persona.ts';

const RICH = `# Tides

The *moon* pulls the [sea](https://example.com), and \`cos\` says how.

- one tide
  \`\`\`js
  tide();
  \`\`\`

| time | height |
|---|---:|
| 6:00 | 1.2 m |

\`\`\`python
def tide(hours):
    return 2.0 * math.cos(hours / 12.4)  # twice a day
\`\`\`

$$
x^2
$$

![A picture](https://stranger.example/x.png)`;

const SIZES = [
  { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { colorScheme: 'dark', viewport: { width: 390, height: 844 } }
] as const;

for (const use of SIZES) {
  test.describe(`${use.colorScheme}, ${use.viewport.width} px`, () => {
    test.use(use);

    test('each state of a chat is accessible', async ({ persona }) => {
      const alice = await persona('alice');
      const { page } = alice;
      const strangers: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('stranger.example')) strangers.push(request.url());
      });
      await page.goto('/?model=deepseek-v4-pro');
      await alice.ask('Explain.', { text: RICH, reasoning_tokens: 20 });
      await alice.settled();
      await expect(alice.replies.locator('.katex')).toBeVisible();
      await expect(alice.replies.locator('.hljs-keyword').first()).toBeVisible();
      await expectAccessible(page);
      // No picture of a stranger is asked for, and nothing is wider than the page.
      expect(strangers).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(
        use.viewport.width
      );

      await alice.replies.getByText('Thoughts').click();
      await alice.replies.getByRole('button', { name: /from your plan$/ }).click();
      await expect(page.getByText('Tokens written')).toBeVisible();
      await expectAccessible(page);
      await page.keyboard.press('Escape');

      await alice.replies.getByRole('button', { name: 'Bad reply' }).click();
      await page.getByRole('textbox', { name: /What was wrong/ }).fill('Too short.');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Send feedback' }).click();

      await alice.message.press('ArrowUp');
      await expect(page.getByRole('textbox', { name: 'New text of the message' })).toBeFocused();
      await expectAccessible(page);
      await page.keyboard.press('Escape');

      await page.locator('input[type=file]').setInputFiles({
        name: 'sea.bin',
        mimeType: 'application/octet-stream',
        buffer: Buffer.from([0, 1, 2])
      });
      await expect(page.getByRole('list', { name: 'Files' })).toContainText('gets only its name');
      await expectAccessible(page);

      await alice.ask('And now?', { text: 'One two three.', fail: 'after', after_tokens: 2 });
      await expect(alice.replies.nth(1)).toContainText('has failed');
      await expectAccessible(page);

      await alice.ask('Long?', { text: 'One two', finish: 'length' });
      await expect(alice.replies.nth(2)).toContainText('reached its greatest length');
      await expectAccessible(page);

      await alice.questions.first().getByRole('button', { name: 'Delete' }).click();
      await expect(page.getByRole('dialog')).toBeVisible();
      await expectAccessible(page);
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();

      await page.getByRole('button', { name: 'Share' }).click();
      await page.getByRole('button', { name: 'Make a link' }).click();
      const link = await page.getByRole('textbox', { name: 'Link' }).inputValue();
      await expectAccessible(page);
      await page.goto(link);
      await expect(page.getByRole('article').first()).toBeVisible();
      await expectAccessible(page);
    });

    test('a refusal and what is gone are accessible', async ({ persona }) => {
      const alice = await persona('alice', { plan: 'free' });
      const { page } = alice;
      await page.goto('/?model=claude-opus-5-5');
      await alice.ask('Hello?');
      await expect(page.getByRole('alert')).toContainText('not part of the free plan');
      await expectAccessible(page);

      await page.goto('/chat/01a22000-0000-7000-8000-000000000001');
      await expect(page.getByText('This conversation does not exist')).toBeVisible();
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('No conversation');
      await expectAccessible(page);
      await page.goto('/shared/nothing');
      await expect(page.getByText('There is nothing under this link.')).toBeVisible();
      await expectAccessible(page);
    });
  });
}

test('a long chat begins with its end, and goes back to its beginning', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Hello.', { text: 'Hello.' });
  await alice.settled();
  await alice.said(70);
  await alice.page.reload();

  await expect(alice.replies.last()).toBeInViewport();
  expect(await alice.page.getByRole('article').count()).toBe(60);
  await alice.page.getByRole('region', { name: 'Messages' }).focus();
  await expect(async () => {
    await alice.page.keyboard.press('Home');
    await expect(alice.questions.first()).toContainText('Hello.', { timeout: 500 });
  }).toPass();
  await alice.page.getByRole('button', { name: 'To the end' }).click();
  await expect(alice.replies.last()).toBeInViewport();
});

test('a message that was searched for is shown, on whichever branch it is', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Which sea is the blackest?', { text: 'The Black Sea.' });
  await alice.settled();
  await alice.replies.getByRole('button', { name: 'Answer again' }).click();
  await alice.page.getByRole('menuitem', { name: 'Claude Haiku 5.5' }).click();
  await alice.settled();
  const found = await alice.replies.getAttribute('data-message');
  await alice.replies.getByRole('button', { name: 'Previous version' }).click();
  await expect(alice.replies.getByText('1/2')).toBeVisible();

  await alice.page.goto(`${alice.page.url()}?message=${found}`);

  await expect(alice.replies.getByText('2/2')).toBeVisible();
  await expect(alice.replies).toBeInViewport();
  // All of it is.
  await expect(alice.page.getByRole('button', { name: 'To the end' })).toHaveCount(0);
});

test('speech is written down', async ({ persona }) => {
  const alice = await persona('alice', { balance_usd: 5 });
  await alice.page.goto('/');
  await alice.message.fill('So:');
  await alice.page.getByRole('button', { name: 'Dictate' }).click();
  await expect(alice.page.getByText('Recording 0:01')).toBeVisible();
  await alice.page.getByRole('button', { name: 'Write it down' }).click();
  // A recogniser hears no words in a beep; the simulated provider always hears some.
  const heard = alice.page.getByRole('alert').getByText('Nothing was heard.');
  await expect(async () => {
    const text = await alice.message.inputValue();
    expect(/^So: \w+/.test(text) || (await heard.isVisible())).toBe(true);
  }).toPass();
});

test('what was deleted elsewhere is gone here', async ({ persona, browser }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Hello.', { text: 'Hello.' });
  await alice.settled();
  await alice.ask('And now?', { text: 'Nothing.' });
  await alice.settled();
  const phone = await alice.elsewhere(browser);
  await phone.page.goto(alice.page.url());
  await expect(phone.replies).toHaveCount(2);

  await alice.questions.nth(1).hover();
  await alice.questions.nth(1).getByRole('button', { name: 'Delete' }).click();
  await alice.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();

  await expect(alice.replies).toHaveCount(1);
  await expect(phone.replies).toHaveCount(1);
});

test('a conversation is renamed and deleted from its page', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Hello.', { text: 'Hello.' });
  await alice.settled();

  await alice.page.getByRole('button', { name: 'More actions' }).click();
  await alice.page.getByRole('menuitem', { name: 'Rename' }).click();
  await alice.page.getByRole('textbox', { name: 'New title' }).fill('The sea');
  await alice.page.keyboard.press('Enter');
  await expect(alice.page.getByRole('heading', { level: 1 })).toHaveText('The sea');
  await expect(alice.page.getByRole('link', { name: 'The sea' })).toBeVisible();

  await alice.page.getByRole('button', { name: 'More actions' }).click();
  await alice.page.getByRole('menuitem', { name: 'Delete' }).click();
  await alice.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(alice.page).toHaveURL(/\/$/);
  await expect(alice.page.getByText('The conversation is deleted.')).toHaveCount(1);
  await expect(alice.message).toBeVisible();
});

test('a chat that cannot be loaded says so, and is loaded again', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.ask('Hello.', { text: 'Hello.' });
  await alice.settled();
  await alice.page.route(/\/api\/conversations\/[^/?]+$/, (route) => route.abort());
  await alice.page.reload();
  await expect(alice.page.getByText('The service cannot be reached.')).toBeVisible();
  await expect(alice.page.getByRole('heading', { level: 1 })).toHaveText('Something went wrong');
  await expectAccessible(alice.page);

  await alice.page.unroute(/\/api\/conversations\/[^/?]+$/);
  await alice.page.getByRole('button', { name: 'Try again' }).click();
  await expect(alice.replies).toContainText('Hello.');
});

test('the keyboard alone asks, edits, makes again and deletes', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.message.waitFor();
  await expect(alice.message).toBeFocused();
  await alice.ask('Hello.', { text: 'Hello.' });
  await alice.settled();
  await expect(alice.message).toBeFocused();

  await alice.page.keyboard.press('ArrowUp');
  await alice.page.keyboard.type(' And more.');
  await alice.page.keyboard.press('Escape');
  await expect(alice.message).toBeFocused();

  await alice.replies.getByRole('button', { name: 'Answer again' }).focus();
  await alice.page.keyboard.press('Enter');
  await expect(alice.page.getByRole('menuitem').first()).toBeFocused();
  await alice.page.keyboard.press('Enter');
  await alice.settled();
  await expect(alice.replies.getByText('2/2')).toBeVisible();
  await expect(alice.message).toBeFocused();

  await alice.replies.getByRole('button', { name: 'Delete' }).focus();
  await alice.page.keyboard.press('Enter');
  await alice.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).focus();
  await alice.page.keyboard.press('Enter');
  // The other reply is there again.
  await expect(alice.replies).toHaveCount(1);
  await expect(alice.page.getByText('2/2')).toHaveCount(0);
  await expect(alice.message).toBeFocused();
});

test('whoever goes on while a reply is written is told to wait', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.message.fill('Slowly.\n@sim {"tokens": 100, "delay_ms": 100}');
  // The second of two clicks stops nothing, and marks nothing.
  await alice.page.getByRole('button', { name: 'Send', exact: true }).dblclick();
  await expect(alice.replies).toHaveText(/\w+ \w+ \w+/);
  expect(await alice.page.evaluate(() => String(getSelection()))).toBe('');
  await alice.message.fill('And then?');
  await alice.message.press('Enter');
  const told = alice.page.getByText('The reply is still being written.');
  await expect(told).toBeVisible();
  // It stands above what is typed, and goes with its reason.
  const [above, below] = await Promise.all([told.boundingBox(), alice.message.boundingBox()]);
  expect(above!.y + above!.height).toBeLessThanOrEqual(below!.y);
  await expect(alice.message).toHaveValue('And then?');
  await alice.page.getByRole('button', { name: 'Stop' }).click();
  await alice.settled();
  await expect(told).toHaveCount(0);
  await expect(alice.replies.getByText('Stopped.')).toBeVisible();
  await alice.page.getByRole('button', { name: 'Continue' }).click();
  await expect(alice.questions).toHaveCount(2);
});

test('a reply is made again by a model that can be called, for a price that is shown', async ({
  persona
}) => {
  const alice = await persona('alice', { plan: 'free' });
  await alice.page.goto('/');
  await alice.ask('Hello.', { text: 'Hello.' });
  await alice.settled();
  await alice.replies.getByRole('button', { name: 'Answer again' }).click();
  const menu = alice.page.getByRole('menu');
  await expect(menu.getByRole('menuitem').nth(1)).toContainText('10 of 10 free messages left');
  await expect(menu.getByRole('menuitem', { name: /Claude Opus/ })).toHaveCount(0);

  await alice.call('POST', '/api/billing/upgrade', { plan: 'pro' });
  await alice.call('POST', '/api/billing/topup', { amount_usd: 5 });
  await alice.page.reload();
  await alice.replies.getByRole('button', { name: 'Answer again' }).click();
  await expect(menu.getByRole('menuitem').nth(1)).toContainText(/\$[\d.]+ in · \$[\d.]+ out/);
  const kimi = menu.getByRole('menuitem', { name: /Kimi K3/ });
  await expect(kimi).toContainText('from your balance');
  await kimi.click();
  await alice.settled();
  // It has answered once, and is not written to.
  await expect(alice.replies).toHaveText(/^Kimi K3/);
  await expect(alice.page.getByRole('button', { name: 'Model: GPT-6 Luna' })).toBeVisible();
});
