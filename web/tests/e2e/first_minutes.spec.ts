import { expect, Persona, test } from './persona.ts';

// Also against `make run` itself: `SERVICE_URL=http://127.0.0.1:8000 npx playwright test first_minutes`.
test('the first minutes of somebody who tries the demo', async ({ page, browser }) => {
  test.slow();
  const demo = new Persona(page, 'demo@example.com');
  const photograph = async (name: string) =>
    page.screenshot({ path: test.info().outputPath(`${name}.png`) });

  await test.step('signs in with one click', async () => {
    await page.goto('/');
    await photograph('1-sign-in');
    await page.getByRole('button', { name: 'Sign in as the demo user' }).click();
    await expect(demo.message).toBeFocused();
  });

  await test.step('asks', async () => {
    await demo.ask('Why is the sea blue?', { text: 'Water takes the **red** out of the light.' });
    await expect(demo.replies.locator('strong')).toHaveText('red');
    await demo.settled();
    await photograph('2-asked');
  });

  await test.step('edits', async () => {
    await demo.message.press('ArrowUp');
    const editor = page.getByRole('textbox', { name: 'New text of the message' });
    await editor.fill('Why is the sky blue?\n@sim {"text": "Air scatters blue light."}');
    await editor.press('Enter');
    await demo.settled();
    await expect(demo.questions.getByText('2/2')).toBeVisible();
    await expect(demo.replies).toContainText('Air scatters blue light.');
    await photograph('3-edited');
  });

  await test.step('has it answered again', async () => {
    await demo.replies.getByRole('button', { name: 'Answer again' }).click();
    await page.getByRole('menuitem', { name: /^Again with/ }).click();
    await demo.settled();
    await expect(demo.replies.getByText('2/2')).toBeVisible();
    await photograph('4-answered-again');
  });

  await test.step('stops a reply', async () => {
    await demo.ask('Go on and on.', { tokens: 2000, delay_ms: 50 });
    await expect(demo.replies.nth(1)).toContainText(/\w+ \w+ \w+/);
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect(demo.replies.nth(1).getByText('Stopped.')).toBeVisible();
    await demo.settled();
    await photograph('5-stopped');
  });

  await test.step('reloads in mid-stream, and the reply goes on', async () => {
    const numbers = Array.from({ length: 60 }, (_, at) => `n${at}`).join(' ');
    await demo.ask('Count.', { text: numbers, delay_ms: 100 });
    await expect(demo.replies.nth(2)).toContainText('n5');
    await page.reload();
    await expect(demo.replies.nth(2)).toContainText('n5');
    await photograph('6-reloaded');
    await demo.settled();
    await expect(demo.replies.nth(2)).toContainText(numbers);
  });

  await test.step('shares', async () => {
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('button', { name: 'Make a link' }).click();
    const link = page.getByRole('textbox', { name: 'Link' });
    await expect(link).toHaveValue(/\/shared\//);
    await photograph('7-shared');
    const stranger = await (await browser.newContext()).newPage();
    await stranger.goto(await link.inputValue());
    await expect(stranger.getByRole('article').first()).toContainText('Why is the sky blue?');
    await page.getByRole('button', { name: 'Close' }).click();
  });

  await test.step('attaches a file', async () => {
    const buffer = Buffer.from('High water at 04:12.');
    const file = { name: 'tides.txt', mimeType: 'text/plain', buffer };
    await page.locator('input[type=file]').setInputFiles([file]);
    await expect(page.getByRole('list', { name: 'Files' })).toContainText('tides.txt');
    await demo.message.fill('When is high water?');
    await expect(page.getByRole('button', { name: 'Send', exact: true })).toBeEnabled();
    await demo.ask('When is high water?', { text: 'At 04:12.' });
    await demo.settled();
    await expect(demo.questions.nth(3).getByRole('link', { name: /tides\.txt/ })).toBeVisible();
    await photograph('8-attached');
  });

  await test.step('changes the model', async () => {
    await demo.choose('Claude Haiku 5.5');
    await demo.ask('And low water?', { text: 'At 10:31.' });
    await demo.settled();
    await expect(demo.replies.nth(4)).toHaveText(/^Claude Haiku 5\.5/);
    await photograph('9-other-model');
  });
});
