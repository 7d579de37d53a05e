import type { CallOf, Endpoint } from '@bakehouse/contract/endpoint';
import { callRaw } from './api-client.ts';

type Options = {
  /** What is known of its size: large files go straight to the disk where the browser can do that. */
  sizeBytes: number;
  /** Bytes that have come so far. */
  onProgress?: (receivedBytes: number) => void;
  signal?: AbortSignal;
};

/** Files above this are not gathered in memory first. */
const IN_MEMORY_MAX = 64 * 1024 * 1024;

/**
 * Fetches the endpoint's bytes and hands them to the browser as a file. A plain link cannot carry the key.
 * Throws an `ApiError` when the server refuses, and an 'AbortError' when the person cancels.
 */
export async function download<E extends Endpoint>(
  endpoint: E,
  input: CallOf<E>,
  fileName: string,
  { sizeBytes, onProgress, signal }: Options,
): Promise<void> {
  // Asked first: browsers open the dialog only right after a click.
  const file = sizeBytes > IN_MEMORY_MAX ? await chooseFile(fileName) : null;
  const response = await callRaw<Endpoint>(endpoint, input, {
    operation: 'download file',
    timeoutMs: 60_000,
    signal,
  });
  if (!response.body) throw new Error('The server sent no file');
  const bytes = response.body.pipeThrough(counter(onProgress));
  // Where this is aborted or fails, the browser drops what was written.
  if (file) await bytes.pipeTo(await file.createWritable(), { signal });
  else saveAs(await new Response(bytes).blob(), fileName);
}

/** Offers the blob as a download under `fileName`. */
export function saveAs(blob: Blob, fileName: string): void {
  const url = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement('a'), { href: url, download: fileName });
  link.click();
  // The click only starts the save; the address must outlive it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

type FilePicker = (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;

/** The file that the person chooses to write to; null where the browser cannot write to one. */
async function chooseFile(suggestedName: string): Promise<FileSystemFileHandle | null> {
  const { showSaveFilePicker } = globalThis as { showSaveFilePicker?: FilePicker };
  return showSaveFilePicker ? showSaveFilePicker({ suggestedName }) : null;
}

function counter(
  onProgress: Options['onProgress'],
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let received = 0;
  return new TransformStream({
    transform(chunk, controller) {
      received += chunk.byteLength;
      onProgress?.(received);
      controller.enqueue(chunk);
    },
  });
}
