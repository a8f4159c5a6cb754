import { answer, api } from '#api/client.ts';

/** Is this switched on for whoever is signed in? Ask when it matters: operators may change it. Raises a Refusal. */
export async function isOn(name: 'public_sharing' | 'sign_up'): Promise<boolean> {
  const { flags } = await answer(api.GET('/api/flags', { params: { query: { name } } }));
  return flags[name] ?? false;
}
