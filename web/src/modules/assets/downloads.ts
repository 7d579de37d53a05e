import { downloadFile } from '@bakehouse/contract/assets';
import { download } from '../../lib/download.ts';
import { newId } from '../../lib/new-id.ts';
import { createStore } from '../../lib/store.ts';

/** One file on its way to the person's disk. */
export type Download = {
  id: string;
  assetId: string;
  fileName: string;
  sizeBytes: number;
  receivedBytes: number;
};

const downloads = createStore<readonly Download[]>([]);
const cancels = new Map<string, AbortController>();

/** Saves one file of the newest revision to the person's disk. Throws an `ApiError`; a cancelled one just ends. */
export async function saveFile(assetId: string, file: { path: string; size_bytes: number }): Promise<void> {
  const id = newId();
  const cancel = new AbortController();
  const fileName = file.path.split('/').at(-1) ?? file.path;
  cancels.set(id, cancel);
  const one: Download = { id, assetId, fileName, sizeBytes: file.size_bytes, receivedBytes: 0 };
  downloads.set([...downloads.get(), one]);
  try {
    await download(downloadFile, { params: { id: assetId, '*': file.path } }, fileName, {
      sizeBytes: file.size_bytes,
      signal: cancel.signal,
      onProgress: (receivedBytes) => progress(id, receivedBytes),
    });
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
  } finally {
    cancels.delete(id);
    downloads.set(downloads.get().filter((other) => other.id !== id));
  }
}

/** Stops a download; nothing of it stays. */
export function cancelDownload(id: string): void {
  cancels.get(id)?.abort();
}

/** The downloads of an asset that are under way. */
export function useDownloads(assetId: string): Download[] {
  return downloads.use().filter((one) => one.assetId === assetId);
}

/** Told percent by percent: a large file comes in thousands of pieces. */
function progress(id: string, receivedBytes: number): void {
  const percentOf = (bytes: number, { sizeBytes }: Download) => Math.floor((100 * bytes) / sizeBytes);
  const one = downloads.get().find((other) => other.id === id);
  if (!one || percentOf(receivedBytes, one) === percentOf(one.receivedBytes, one)) return;
  downloads.set(downloads.get().map((other) => (other === one ? { ...one, receivedBytes } : other)));
}
