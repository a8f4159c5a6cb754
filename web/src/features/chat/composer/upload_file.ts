import { Refusal, refusalFrom, UNREACHABLE } from '#api/refusal.ts';
import { session } from '#api/session.svelte.ts';
import type { Upload } from '../state/draft.svelte.ts';

/**
 * Uploads a file; `progress` is told the part of it that has been sent, from 0 to 1. Raises a Refusal, or
 * what `signal` was aborted with.
 */
export async function uploadFile(
  file: File,
  progress: (part: number) => void,
  signal: AbortSignal
): Promise<Upload> {
  const token = await session.token();
  const first = await posted(file, token, progress, signal);
  const response =
    first.status === 401
      ? await posted(file, await session.renewed(token), progress, signal)
      : first;
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw refusalFrom(response, body);
  return body as Upload;
}

/** `fetch` does not tell how far it has come. */
function posted(
  file: File,
  token: string,
  progress: (part: number) => void,
  signal: AbortSignal
): Promise<Response> {
  const request = new XMLHttpRequest();
  const form = new FormData();
  form.append('file', file);
  return new Promise((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => progress(loaded / total);
    request.onload = () => resolve(responseOf(request));
    request.onerror = () => reject(new Refusal(0, UNREACHABLE, ''));
    signal.addEventListener('abort', () => {
      request.abort();
      reject(signal.reason as Error);
    });
    request.open('POST', '/api/uploads');
    request.setRequestHeader('Authorization', `Bearer ${token}`);
    request.send(form);
  });
}

function responseOf(request: XMLHttpRequest): Response {
  const names = ['X-Request-Id', 'Retry-After'];
  const headers = names.flatMap((name) => {
    const value = request.getResponseHeader(name);
    return value === null ? [] : [[name, value] as [string, string]];
  });
  return new Response(request.responseText, { status: request.status, headers });
}
