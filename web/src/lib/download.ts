import type { CallOf, Endpoint } from '@bakehouse/contract/endpoint';
import { callRaw } from './api-client.ts';

/**
 * Fetches the endpoint's bytes and hands them to the browser as a file. A plain link cannot carry the key.
 * Throws an `ApiError` when the server refuses.
 */
export async function download<E extends Endpoint>(
  endpoint: E,
  input: CallOf<E>,
  fileName: string,
): Promise<void> {
  const response = await callRaw<Endpoint>(endpoint, input, {
    operation: 'download file',
    timeoutMs: 60_000,
  });
  saveAs(await response.blob(), fileName);
}

/** Offers the blob as a download under `fileName`. */
export function saveAs(blob: Blob, fileName: string): void {
  const url = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement('a'), { href: url, download: fileName });
  link.click();
  // The click only starts the save; the address must outlive it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
