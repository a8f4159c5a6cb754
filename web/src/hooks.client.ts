import type { HandleClientError } from '@sveltejs/kit/hooks';
import { Refusal } from '#api/refusal.ts';

/** What the page for errors is told of one that came up on the way to a page. */
export const handleError: HandleClientError = ({ kind, error }) => {
  if (error instanceof Refusal) {
    const { message, requestId, isUnreachable } = error;
    return { message, requestId, isUnreachable };
  }
  if (kind === 'unknown') console.error(error);
};
