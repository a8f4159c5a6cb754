import { session } from '#api/session.svelte.ts';
import { UserSocket } from './user_socket.ts';

export type { UserEvent } from './event_types.ts';

/** What changes in the lists of whoever is signed in, in whichever tab or device: one socket for this tab. */
export const userEvents = new UserSocket(session, location.origin);

addEventListener('online', () => userEvents.hurry());
