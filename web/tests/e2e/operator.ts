import { readFile } from 'node:fs/promises';
import { request } from '@playwright/test';

const DEMO = `${process.env.VAR_DIR ?? '../var'}/demo.json`;

/** Suspends somebody's account, as an operator does it in the admin. */
export async function suspend(id: string, baseURL: string): Promise<void> {
  const { admin_email, admin_password } = JSON.parse(await readFile(DEMO, 'utf8'));
  const operator = await request.newContext({ baseURL });
  const post = async (path: string, form: Record<string, string>) => {
    const page = await (await operator.get(path)).text();
    const token = /name="csrfmiddlewaretoken" value="(\w+)"/.exec(page)?.[1] ?? '';
    const answer = await operator.post(path, { form: { ...form, csrfmiddlewaretoken: token } });
    if (!answer.ok()) throw new Error(`${path}: ${answer.status()}`);
  };
  await post('/admin/login/', { username: admin_email, password: admin_password });
  await post(`/admin/accounts/user/${id}/suspend/`, { reason: 'To see what is said then.' });
  await operator.dispose();
}
