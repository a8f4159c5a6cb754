import { answer, publicApi } from '#api/client.ts';
import type { components } from '#api/schema.d.ts';
import { session } from '#api/session.svelte.ts';
import { deviceId } from './device.ts';

export type SignInOptions = components['schemas']['SignInOptions'];
type Given<Name extends keyof components['schemas']> = Omit<
  components['schemas'][Name],
  'cookie' | 'device_id'
>;

// Each of these signs in, in all tabs of this browser. They raise a Refusal.

export async function signIn(given: Given<'SignIn'>): Promise<void> {
  session.signedIn(await answer(publicApi.POST('/api/auth/login', { body: here(given) })));
}

export async function signUp(given: Given<'SignUp'>): Promise<void> {
  session.signedIn(await answer(publicApi.POST('/api/auth/signup', { body: here(given) })));
}

export async function signInWithGoogle(given: Given<'GoogleSignIn'>): Promise<void> {
  session.signedIn(await answer(publicApi.POST('/api/auth/google', { body: here(given) })));
}

/** The ways in that there are. Raises a Refusal. */
export function signInOptions(): Promise<SignInOptions> {
  return answer(publicApi.GET('/api/auth/options'));
}

function here<Body>(given: Body): Body & { cookie: true; device_id: string } {
  return { ...given, cookie: true, device_id: deviceId() };
}
