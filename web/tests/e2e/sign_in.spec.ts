import { accountButton, AccountPage, newAddress } from './account_page.ts';
import { mailed } from './mails.ts';
import { expect, PASSWORD, test } from './persona.ts';

const START = /\/$/;

test('the demo user is signed in with one click', async ({ page }) => {
  await page.goto('/');
  await expect(page).toHaveURL(/\/sign-in$/);
  // What this is, and what it begins with.
  await expect(page.getByText('models of many makers in one place')).toBeVisible();
  await expect(page.getByText('It begins free, without a card')).toBeVisible();
  await page.getByRole('button', { name: 'Sign in as the demo user' }).click();
  await expect(page).toHaveURL(START);
  await expect(accountButton(page, 'Demo')).toBeVisible();
});

test('whoever signs up is in at once, and confirms the address by the mail', async ({ page }) => {
  const [account, email] = [new AccountPage(page), newAddress('alice')];
  await page.goto('/sign-in?next=%2Fmodels');
  await page.getByRole('link', { name: 'Create an account' }).click();
  await account.signUp('alice', '1234567');
  await expect(account.email).toHaveAccessibleDescription(
    'Write an address like name@example.com.'
  );
  await expect(account.password).toHaveAccessibleDescription('Use at least 8 characters.');
  await expect(account.email).toBeFocused();

  await account.signUp(email, 'password1');
  await expect(account.password).toHaveAccessibleDescription('This password is too common.');
  await expect(account.password).toBeFocused();

  await account.signUp(email);
  await expect(page).toHaveURL(/\/models$/);
  const note = page.getByText(`we have sent a link to ${email}`);
  await expect(note).toBeVisible();

  const link = await mailed(email, '/verify-email');
  const mailClient = await page.context().newPage();
  await mailClient.goto(link);
  await expect(
    mailClient.getByRole('heading', { name: 'Your address is confirmed' })
  ).toBeVisible();
  await mailClient.reload();
  await expect(mailClient.getByText('is confirmed already')).toBeVisible();

  // Back at the first page, which looks again.
  await page.evaluate(() => window.dispatchEvent(new Event('focus')));
  await expect(note).toHaveCount(0);
});

test('another mail is sent on request, and a link that is used up says so', async ({
  page,
  browser
}) => {
  const [account, email] = [new AccountPage(page), newAddress('alice')];
  await page.goto('/sign-up');
  await account.signUp(email);
  await page.getByRole('button', { name: 'Send again' }).click();
  await expect(page.getByText('A mail is on its way.')).toBeVisible();

  const stranger = await browser.newPage();
  const link = await mailed(email, '/verify-email');
  await stranger.goto(link);
  await expect(stranger.getByRole('heading', { name: 'Your address is confirmed' })).toBeVisible();
  // The first window has heard of nothing, and looks when somebody comes back to it.
  await page.evaluate(() => window.dispatchEvent(new Event('focus')));
  await expect(page.getByText(`we have sent a link to ${email}`)).toHaveCount(0);
  // Whoever opens it once more where it has done its work is told that.
  await stranger.reload();
  await expect(stranger.getByText('is confirmed already')).toBeVisible();
  const other = await (await browser.newContext()).newPage();
  await other.goto(link);
  await expect(
    other.getByRole('heading', { name: 'This link does not work any more' })
  ).toBeVisible();
});

test('an address that is taken leads to signing in, with what was typed', async ({
  persona,
  browser
}) => {
  const alice = await persona('alice', { plan: 'free' });
  const account = new AccountPage(await browser.newPage());
  await account.page.goto('/sign-up?next=%2Fmodels');
  await account.signUp(alice.email);
  await expect(account.problem).toContainText('There is an account with this address already.');
  await account.problem.getByRole('link', { name: 'Sign in' }).click();
  await expect(account.email).toHaveValue(alice.email);
  await account.signIn(alice.email);
  await expect(account.page).toHaveURL(/\/models$/);
});

test('wrong passwords are refused, and wait after the fifth', async ({ page }) => {
  const [account, email] = [new AccountPage(page), newAddress('nobody')];
  await page.goto('/sign-in');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(account.email).toHaveAccessibleDescription('Enter your e-mail address.');
  for (let attempt = 1; attempt <= 5; attempt++) {
    const answered = page.waitForResponse('**/api/auth/login');
    await account.signIn(email, `wrong ${attempt}`);
    expect((await answered).status()).toBe(401);
    await expect(account.problem).toHaveText('The address or the password is wrong.');
  }
  await account.signIn(email, 'wrong 6');
  await expect(account.problem).toContainText('Too many attempts failed.');
  const button = page.getByRole('button', { name: /Try again in 0:2\d/ });
  await expect(button).toBeDisabled();
  // What was typed stays, for the way by mail too.
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await expect(account.email).toHaveValue(email);
});

test('the password is shown on request', async ({ page }) => {
  const account = new AccountPage(page);
  await page.goto('/sign-in');
  await expect(account.email).toHaveAttribute('autocomplete', 'username');
  await expect(page.locator('[name=password]')).toHaveAttribute('autocomplete', 'current-password');
  await account.password.fill(PASSWORD);
  await expect(account.password).toHaveAttribute('type', 'password');
  await page.getByRole('button', { name: 'Show the password' }).click();
  await expect(account.password).toHaveAttribute('type', 'text');
});

test('Google signs in by redirect, and goes on where it was asked', async ({ page }) => {
  const email = newAddress('carol');
  await page.goto('/sign-in?next=%2Fmodels');
  await page.getByRole('button', { name: 'Continue with Google' }).click();
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Name').fill('Carol');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL(/\/models$/);
  await expect(accountButton(page, 'Carol')).toBeVisible();
});

test('a token of Google that this tab has not asked for signs nobody in', async ({ page }) => {
  await page.goto('/google#id_token=eyJhbGciOiJSUzI1NiJ9.e30.x&state=somebody');
  await expect(page.getByText('This sign-in was not begun in this tab')).toBeVisible();
  // The token does not stay in the history.
  await expect(page).toHaveURL(/\/google$/);
  await page.getByRole('link', { name: 'Back to signing in' }).click();
  await expect(page).toHaveURL(/\/sign-in$/);
});

test('a forgotten password is set by the mail', async ({ persona, browser }) => {
  const alice = await persona('alice', { plan: 'free' });
  const account = new AccountPage(await browser.newPage());
  const { page } = account;
  await page.goto('/sign-in');
  await account.email.fill(alice.email);
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await expect(account.email).toHaveValue(alice.email);
  await page.getByRole('button', { name: 'Send the mail' }).click();
  await expect(page.getByRole('heading', { name: 'Look into your mail' })).toBeVisible();

  const link = await mailed(alice.email, '/reset-password');
  await page.goto(link);
  await expect(account.password).toHaveAccessibleDescription(/^At least 8 characters/);
  await account.password.fill('short');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await expect(account.password).toHaveAccessibleDescription('Use at least 8 characters.');
  await account.password.fill('two tides make one day');
  await page.getByRole('button', { name: 'Change the password' }).click();

  await expect(page.getByText('Your password is changed.')).toBeVisible();
  await expect(account.email).toHaveValue(alice.email);
  await account.signIn(alice.email, 'two tides make one day');
  await expect(page).toHaveURL(START);
  await page.goto(link);
  await expect(
    page.getByRole('heading', { name: 'This link does not work any more' })
  ).toBeVisible();
  await expect(page.getByRole('link', { name: 'Ask for a new link' })).toHaveAttribute(
    'href',
    '/forgot-password'
  );
});

test('language and theme are chosen before anybody is signed in', async ({ page }) => {
  await page.goto('/models');
  await expect(page.getByText('Sign in to open this page.')).toBeVisible();
  await page.getByRole('combobox', { name: 'Theme' }).selectOption({ label: 'Theme: Dark' });
  await expect(page.locator('html')).toHaveCSS('color-scheme', 'dark');
  await page.getByRole('combobox', { name: 'Language' }).selectOption('Deutsch');
  await expect(page.getByRole('heading', { name: 'Anmelden' })).toBeVisible();
});
