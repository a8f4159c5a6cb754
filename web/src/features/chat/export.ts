import { authorizedFetch } from '#api/client.ts';
import { refusalOf } from '#api/refusal.ts';

export type Format = 'md' | 'json';

/** Saves a conversation as a file. Raises a Refusal. */
export async function download(conversationId: string, format: Format): Promise<void> {
  const response = await authorizedFetch(
    `/api/conversations/${conversationId}/export?format=${format}`
  );
  if (!response.ok) throw await refusalOf(response);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = nameIn(response.headers.get('Content-Disposition')) ?? `conversation.${format}`;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** The name of a file in `attachment; filename*=utf-8''...` or `attachment; filename="..."`. */
export function nameIn(disposition: string | null): string | null {
  const encoded = /filename\*=utf-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  if (encoded) return decodeURIComponent(encoded);
  return /filename="([^"]+)"/.exec(disposition ?? '')?.[1] ?? null;
}
