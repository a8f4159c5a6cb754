import type { Browser } from '@playwright/test';
import { accountButton, AccountPage } from './account_page.ts';
import { suspend } from './operator.ts';
import { expect, Persona, test } from './persona.ts';

/** Ends all sessions of somebody, on another device. */
async function signOutElsewhere(person: Persona, browser: Browser) {
  await (await person.elsewhere(browser)).call('POST', '/api/auth/logout');
}

async function choose({ page }: Persona, item: string) {
  await accountButton(page, 'alice').click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

test('a session that was ended elsewhere says so, and comes back to where it was', async ({
  persona,
  browser
}) => {
  const alice = await persona('alice', { plan: 'free' });
  await alice.page.goto('/models?show=all#list');
  await expect(accountButton(alice.page, 'alice')).toBeVisible();
  await signOutElsewhere(alice, browser);

  await expect(alice.page.getByText('Your session has ended')).toBeVisible();
  await new AccountPage(alice.page).signIn(alice.email);
  await expect(alice.page).toHaveURL(/\/models\?show=all$/);
});

test('a page that was left open finds its session ended when it is opened again', async ({
  persona,
  browser
}) => {
  const alice = await persona('alice', { plan: 'free' });
  await signOutElsewhere(alice, browser);
  await alice.page.goto('/models');
  await expect(alice.page).toHaveURL(/\/sign-in\?next=%2Fmodels$/);
  await expect(alice.page.getByText('Your session has ended')).toBeVisible();
  await new AccountPage(alice.page).signIn(alice.email);
  await expect(alice.page).toHaveURL(/\/models$/);
});

test('tabs sign in and out together', async ({ persona }) => {
  const alice = await persona('alice', { plan: 'free' });
  const second = await alice.page.context().newPage();
  await alice.page.goto('/');
  await second.goto('/models');
  await choose(alice, 'Sign out');

  await expect(alice.page).toHaveURL(/\/sign-in$/);
  await expect(second.getByText('You are signed out.')).toBeVisible();
  await new AccountPage(second).signIn(alice.email);
  await expect(second).toHaveURL(/\/$/);
  await expect(alice.page).toHaveURL(/\/$/);
});

test('signing out here leaves other devices signed in, and everywhere does not', async ({
  persona,
  browser
}) => {
  const alice = await persona('alice', { plan: 'free' });
  await alice.page.goto('/');
  const phone = await browser.newPage();
  const account = new AccountPage(phone);
  await phone.goto('/sign-in');
  await account.signIn(alice.email);
  await expect(phone).toHaveURL(/\/$/);

  await choose(alice, 'Sign out');
  await expect(alice.page).toHaveURL(/\/sign-in$/);
  await phone.reload();
  await expect(accountButton(phone, 'alice')).toBeVisible();

  await new AccountPage(alice.page).signIn(alice.email);
  await choose(alice, 'Sign out everywhere');
  const dialog = alice.page.getByRole('dialog', { name: 'Sign out everywhere?' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await phone.reload();
  await expect(accountButton(phone, 'alice')).toBeVisible();
  await choose(alice, 'Sign out everywhere');
  await dialog.getByRole('button', { name: 'Sign out everywhere' }).click();
  await expect(phone.getByText('Your session has ended')).toBeVisible();
});

test('another person who signs in finds nothing of the first', async ({ persona }) => {
  const alice = await persona('alice', { plan: 'free' });
  await alice.page.goto('/');
  await alice.ask('Keep this to yourself.', { text: 'I will.' });
  await expect(alice.page.getByRole('link', { name: /Keep this/i })).toBeVisible();
  await alice.settled();
  await alice.page.waitForURL(/\/chat\//);
  const address = alice.page.url();
  await alice.message.fill('Half a thought');
  await choose(alice, 'Sign out');
  await expect(alice.page.getByText('What you had not sent is kept')).toBeVisible();
  await alice.page.getByRole('button', { name: 'Sign in as the demo user' }).click();
  await expect(accountButton(alice.page, 'Demo')).toBeVisible();
  await expect(alice.page).not.toHaveURL(address);
  await expect(alice.page.getByText(/Keep this/i)).toHaveCount(0);
  await alice.page.goto(address);
  await expect(alice.page.getByText('This conversation does not exist')).toBeVisible();
  await expect(alice.page.getByText('Half a thought')).toHaveCount(0);

  await accountButton(alice.page, 'Demo').click();
  await alice.page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
  await new AccountPage(alice.page).signIn(alice.email);
  await expect(accountButton(alice.page, 'alice')).toBeVisible();
  await alice.page.goto(address);
  await expect(alice.message).toHaveValue('Half a thought');
});

test('the next person has choices of their own', async ({ persona }) => {
  const alice = await persona('alice', { plan: 'free' });
  await alice.page.goto('/models');
  const cheapest = alice.page.getByRole('checkbox', { name: 'Cheapest first' });
  await cheapest.check();
  const spaces = alice.page.getByRole('button', { name: 'Spaces', exact: true });
  await spaces.click();
  await choose(alice, 'Sign out');
  await alice.page.getByRole('button', { name: 'Sign in as the demo user' }).click();
  await expect(accountButton(alice.page, 'Demo')).toBeVisible();
  await expect(spaces).toHaveAttribute('aria-expanded', 'false');
  await alice.page.goto('/models');
  await expect(cheapest).not.toBeChecked();
});

test('two tabs have a new chat each, and none of them is lost', async ({ persona }) => {
  const alice = await persona('alice', { plan: 'free' });
  const second = new Persona(await alice.page.context().newPage(), alice.email);
  await alice.page.goto('/');
  await second.page.goto('/');
  await alice.message.fill('One');
  await second.message.fill('Two');
  await alice.page.reload();
  await expect(alice.message).toHaveValue('One');
  await second.page.reload();
  await expect(second.message).toHaveValue('Two');

  await second.page.close();
  await alice.message.fill('');
  await alice.page.reload();
  await expect(alice.message).toHaveValue('Two');
});

test('what was typed in a conversation that is deleted elsewhere is in a new one', async ({
  persona
}) => {
  const alice = await persona('alice', { plan: 'free' });
  const { id } = await alice.call<{ id: string }>('POST', '/api/conversations', { title: 'Tides' });
  await alice.page.goto(`/chat/${id}`);
  await alice.message.fill('Half a thought');
  await alice.call('DELETE', `/api/conversations/${id}`);
  await expect(alice.page.getByText('What you had typed there is kept')).toBeVisible();
  await expect(alice.page).toHaveURL(/\/$/);
  await expect(alice.message).toHaveValue('Half a thought');
});

test('a suspended account is told so, wherever it asks', async ({ persona, baseURL }) => {
  const alice = await persona('alice', { plan: 'free' });
  await alice.page.goto('/');
  await expect(accountButton(alice.page, 'alice')).toBeVisible();
  const { id } = await alice.call<{ id: string }>('GET', '/api/auth/me');
  await suspend(id, baseURL!);

  const notice = alice.page.getByText('This account is suspended.');
  await alice.page.reload();
  await expect(notice).toBeVisible();
  await new AccountPage(alice.page).signIn(alice.email);
  await expect(notice).toBeVisible();
  await expect(notice).toHaveCount(1);
});

test('without a connection the page says so, and what was typed is sent later', async ({
  persona,
  browser
}) => {
  const alice = await persona('alice', { plan: 'free' });
  const account = new AccountPage(await browser.newPage());
  const { page } = account;
  await page.goto('/sign-in');
  await expect(account.email).toBeVisible();
  await page.context().setOffline(true);
  await account.signIn(alice.email);
  await expect(account.problem).toContainText('The service cannot be reached.');
  await page.context().setOffline(false);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(page).toHaveURL(/\/$/);
});

test('a page that is opened while the service is away can be tried again', async ({ persona }) => {
  const alice = await persona('alice', { plan: 'free' });
  await alice.page.route('**/api/auth/refresh', (route) => route.abort());
  await alice.page.goto('/models');
  await expect(alice.page.getByRole('alert')).toContainText('The service cannot be reached.');
  await alice.page.unroute('**/api/auth/refresh');
  await alice.page.getByRole('button', { name: 'Try again' }).click();
  await expect(accountButton(alice.page, 'alice')).toBeVisible();
  await expect(alice.page).toHaveURL(/\/models$/);
});
