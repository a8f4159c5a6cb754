import {
  test as base,
  expect,
  type Browser,
  type BrowserContext,
  type Page
} from '@playwright/test';

// In the page.
declare function post(
  path: string,
  body: object,
  token?: string
): Promise<{ access_token: string; id: string }>;
const POST = `globalThis.post = async (path, body, token) => {
  const headers = { 'Content-Type': 'application/json' };
  if (token) headers.Authorization = 'Bearer ' + token;
  const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
};`;

interface Account {
  plan?: 'free' | 'pro' | 'max';
  balance_usd?: number;
}

export const PASSWORD = 'correct horse battery staple';

/** Somebody with an account of their own, in a browser. */
export class Persona {
  readonly page: Page;
  readonly email: string;

  /** Somebody who is signed in, or will be, on this page. */
  constructor(page: Page, email: string) {
    this.page = page;
    this.email = email;
  }

  static async new(
    context: BrowserContext,
    name: string,
    { plan = 'max', balance_usd = 0 }: Account = {}
  ) {
    const page = await context.newPage();
    const email = `${name}-${crypto.randomUUID()}@example.com`;
    await page.goto('/icon.svg');
    await page.evaluate(POST);
    await page.evaluate(
      async ({ email, password, name, plan, balance_usd }) => {
        const account = { email, password, name, cookie: true };
        const { access_token } = await post('/api/auth/signup', account);
        if (plan !== 'free') await post('/api/billing/upgrade', { plan }, access_token);
        if (balance_usd)
          await post('/api/billing/topup', { amount_usd: balance_usd }, access_token);
      },
      { email, password: PASSWORD, name, plan, balance_usd }
    );
    return new Persona(page, email);
  }

  /** The same person on another device, signed in there as well. */
  async elsewhere(browser: Browser): Promise<Persona> {
    const page = await (await browser.newContext()).newPage();
    await page.goto('/icon.svg');
    await page.evaluate(
      async (body) => {
        const headers = { 'Content-Type': 'application/json' };
        await fetch('/api/auth/login', { method: 'POST', headers, body: JSON.stringify(body) });
      },
      { email: this.email, password: PASSWORD, cookie: true }
    );
    return new Persona(page, this.email);
  }

  get message() {
    return this.page.getByRole('textbox', { name: 'Message', exact: true });
  }

  get replies() {
    return this.page.getByRole('article', { name: /replied$/ });
  }

  get questions() {
    return this.page.getByRole('article', { name: 'You said' });
  }

  /** Chooses the model of the next message. */
  async choose(model: string) {
    await this.page.getByRole('button', { name: /^Model:/ }).click();
    await this.page.getByRole('combobox', { name: 'Search models and makers' }).fill(model);
    await this.page.getByRole('option', { name: model }).click();
  }

  /** Calls the interface, as this person. */
  async call<Body>(method: string, path: string, body?: object): Promise<Body> {
    return this.page.evaluate(
      async ({ method, path, body }) => {
        const headers = { 'Content-Type': 'application/json' };
        const asked = { method: 'POST', headers, body: JSON.stringify({ cookie: true }) };
        const { access_token } = await (await fetch('/api/auth/refresh', asked)).json();
        const answer = await fetch(path, {
          method,
          headers: { ...headers, Authorization: `Bearer ${access_token}` },
          body: body && JSON.stringify(body)
        });
        if (!answer.ok) throw new Error(await answer.text());
        return answer.status === 204 ? null : answer.json();
      },
      { method, path, body }
    );
  }

  /** Says something, to which the model's answer is given. */
  async ask(text: string, steering: object = {}) {
    await this.message.fill(`${text}\n@sim ${JSON.stringify(steering)}`);
    await this.message.press('Enter');
  }

  /** Says so many things more in the conversation that is shown, and has them answered, without the page. */
  async said(count: number) {
    await this.page.evaluate(POST);
    await this.page.evaluate(async (count) => {
      const { access_token } = await post('/api/auth/refresh', { cookie: true });
      const id = location.pathname.split('/').at(-1);
      for (let said = 0; said < count; said++) {
        const content = `Number ${said}?\n@sim {"text": "Answer ${said}."}`;
        const body = { content, stream: false };
        await post(`/api/conversations/${id}/messages`, body, access_token);
      }
    }, count);
  }

  /** Has as many replies running for some seconds as one may have. */
  async occupied() {
    await this.page.evaluate(POST);
    await this.page.evaluate(async () => {
      const { access_token } = await post('/api/auth/refresh', { cookie: true });
      const content = 'Slowly.\n@sim {"tokens": 300, "delay_ms": 100}';
      const begin = async () => {
        const { id } = await post('/api/conversations', {}, access_token);
        const headers = {
          'Content-Type': 'application/json',
          Authorization: `Bearer ${access_token}`
        };
        const init = { method: 'POST', headers, body: JSON.stringify({ content }) };
        // It goes on when its reader is gone.
        const answer = await fetch(`/api/conversations/${id}/messages`, init);
        await answer.body?.cancel();
      };
      await Promise.all(Array.from({ length: 64 }, begin));
    });
  }

  /** Waits until nothing is being written. */
  async settled() {
    await expect(this.page.getByRole('button', { name: 'Send', exact: true })).toBeVisible();
    await expect(this.page.locator('[aria-busy=true]')).toHaveCount(0);
  }
}

type NewPersona = (name: string, account?: Account) => Promise<Persona>;

/** What no page of ours may do, whatever a test is about. */
async function complaints(context: BrowserContext, use: () => Promise<void>) {
  const seen: string[] = [];
  context.on('weberror', (thrown) => seen.push(String(thrown.error())));
  context.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) seen.push(message.text());
  });
  await use();
  expect(seen, 'errors that nobody caught, and violations of the policy').toEqual([]);
}

export const test = base.extend<{ persona: NewPersona; complaints: void }>({
  complaints: [({ context }, use) => complaints(context, use), { auto: true }],
  // Of one client a hundred requests a minute may sign in, and its wrong passwords are counted: where
  // the service believes a proxy, each test is another client.
  extraHTTPHeaders: async ({}, use) => {
    const bytes = crypto.getRandomValues(new Uint8Array(3));
    await use({ 'X-Forwarded-For': `10.${bytes.join('.')}` });
  },
  persona: async ({ context }, use) => {
    await use((name, account) => Persona.new(context, name, account));
  }
});

export { expect };
