import { uploadFile } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { getCredentials } from '../../../../lib/api/credentials.ts';
import { upload } from '../../../../lib/api/upload.ts';
import { reportFailure } from '../../../../lib/error-reports/report-error.ts';
import type { ChosenFile } from '../../../../lib/files/chosen-file.ts';
import { readRowsAgain } from '../../../../lib/mutation/read-again.ts';
import { newId } from '../../../../lib/new-id.ts';
import { onSessionMessage } from '../../../../lib/session/session-channel.ts';
import { createStore } from '../../../../lib/store.ts';
import { errorMessage } from '../../../../ui/notify.ts';

/** One file on its way to an asset. Lives outside React, so that it goes on while the person looks elsewhere. */
export type Upload = ChosenFile & {
  id: string;
  assetId: string;
  sizeBytes: number;
  sentBytes: number;
  state: 'waiting' | 'sending' | 'done' | 'failed';
  error: string | null;
};

/** A file that has arrived, and the revision that it made. */
export type UploadedFile = ResponseOf<typeof uploadFile>;

/** How a batch ended, what arrived first; what the person cancelled is in neither. */
export type UploadOutcome = { done: UploadedFile[]; failed: Upload[] };

const uploads = createStore<readonly Upload[]>([]);
const cancels = new Map<string, AbortController>();
/** One file of an asset at a time: each makes a revision. */
const queues = new Map<string, Promise<unknown>>();

// Nothing of one user is sent with the key of the next, nor in sight for them.
onSessionMessage(({ type, userId }) => {
  if (type === 'signed-out' || (type === 'signed-in' && userId !== getCredentials()?.userId)) forgetUploads();
});

/** Queues the files and resolves when all have ended. Never rejects: a failed file stays in the list with its error. */
export async function uploadFiles(assetId: string, files: readonly ChosenFile[]): Promise<UploadOutcome> {
  const entries = files.map(
    ({ file, path }): Upload => ({
      id: newId(),
      assetId,
      file,
      path,
      sizeBytes: file.size,
      sentBytes: 0,
      state: 'waiting',
      error: null,
    }),
  );
  set([...uploads.get(), ...entries]);
  for (const { id } of entries) cancels.set(id, new AbortController());
  const before = queues.get(assetId) ?? Promise.resolve();
  const work = before.then(async () => {
    const done: UploadedFile[] = [];
    for (const one of entries) done.push(...(await send(one)));
    return done;
  });
  queues.set(assetId, work);
  const done = await work;
  if (queues.get(assetId) === work) queues.delete(assetId);
  // Each file is announced as well; this is for who does not hear of it.
  if (done.length > 0) readRowsAgain(['asset'], [assetId]);
  const ids = new Set(entries.map(({ id }) => id));
  const failed = uploads.get().filter((one) => ids.has(one.id) && one.state === 'failed');
  set(uploads.get().filter((one) => !ids.has(one.id) || one.state === 'failed'));
  return { done, failed };
}

/** Stops an upload, or takes a failed one off the list. */
export function dismissUpload(id: string): void {
  cancels.get(id)?.abort();
  cancels.delete(id);
  set(uploads.get().filter((one) => one.id !== id));
}

/** Stops every upload, and empties the list. */
function forgetUploads(): void {
  for (const cancel of cancels.values()) cancel.abort();
  cancels.clear();
  set([]);
}

/** The uploads of every asset. */
export function useAllUploads(): readonly Upload[] {
  return uploads.use();
}

/** The uploads of an asset that are under way or have failed. */
export function useUploads(assetId: string): Upload[] {
  return uploads.use().filter((one) => one.assetId === assetId);
}

/** Resolves to what has arrived: the file, or nothing. */
async function send(one: Upload): Promise<UploadedFile[]> {
  const signal = cancels.get(one.id)?.signal;
  // It was cancelled while it waited.
  if (!signal) return [];
  change(one.id, { state: 'sending' });
  try {
    const uploaded = await upload(uploadFile, { id: one.assetId }, one.file, {
      signal,
      fields: one.path === one.file.name ? {} : { path: one.path },
      onProgress: (sentBytes) => change(one.id, { sentBytes: Math.min(sentBytes, one.sizeBytes) }),
    });
    change(one.id, { state: 'done', sentBytes: one.sizeBytes });
    return [uploaded];
  } catch (error) {
    change(one.id, { state: 'failed', error: errorMessage(error) });
    reportFailure(error, ['asset']);
    return [];
  } finally {
    cancels.delete(one.id);
  }
}

function change(id: string, values: Partial<Upload>): void {
  set(uploads.get().map((one) => (one.id === id ? { ...one, ...values } : one)));
}

/** While anything is under way, the browser asks before the page is left: with it the upload would end. */
function set(next: readonly Upload[]): void {
  uploads.set(next);
  if (next.some(({ state }) => state === 'waiting' || state === 'sending'))
    window.addEventListener('beforeunload', holdPage);
  else window.removeEventListener('beforeunload', holdPage);
}

function holdPage(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
