import { uploadFile } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { getCredentials } from '../../../../lib/api/credentials.ts';
import { upload } from '../../../../lib/api/upload.ts';
import { reportFailure } from '../../../../lib/error-reports/report-error.ts';
import type { ChosenFile } from '../../../../lib/files/chosen-file.ts';
import { refetchRows } from '../../../../lib/mutation/refetch-queries.ts';
import { newId } from '../../../../lib/new-id.ts';
import { onSessionMessage } from '../../../../lib/session/session-channel.ts';
import { createStore } from '../../../../lib/store.ts';
import { errorMessage } from '../../../../ui/notify.ts';
import { sendInParts } from './send-in-parts.ts';
import { abandonPath, readUnfinishedAgain } from './unfinished-uploads.ts';

/** An upload to an asset. Stored outside React, so that it continues on other pages. */
export type Upload = ChosenFile & {
  id: string;
  assetId: string;
  sizeBytes: number;
  sentBytes: number;
  state: 'waiting' | 'sending' | 'paused' | 'done' | 'failed';
  /** Uploaded in parts, so it can be paused. */
  inParts: boolean;
  /** Waiting for the server to be reachable. */
  isStalled: boolean;
  error: string | null;
};

/** Files from this size on are uploaded in parts; smaller ones are quickly uploaded again. */
export const PARTS_FROM_BYTES = 64 * 1024 * 1024;

/** An uploaded file and its revision. */
export type UploadedFile = ResponseOf<typeof uploadFile>;

/** Result of a batch, in completion order; without cancelled files. */
export type UploadOutcome = { done: UploadedFile[]; failed: Upload[]; paused: Upload[] };

/** The pending uploads to one asset, with their progress in whole percent. */
export type UploadBatch = {
  assetId: string;
  /** The path of the first pending file. */
  path: string;
  sizeBytes: number;
  files: number;
  filesDone: number;
  percent: number | null;
};

const uploads = createStore<readonly Upload[]>([]);
const batches = createStore<readonly UploadBatch[]>([]);
const cancels = new Map<string, AbortController>();
/** Serializes the uploads of an asset, because each creates a revision. */
const queues = new Map<string, Promise<unknown>>();

// A user's uploads must not be sent with the next user's key, or be visible to them.
onSessionMessage(({ type, userId }) => {
  if (type === 'signed-out' || (type === 'signed-in' && userId !== getCredentials()?.userId)) clearUploads();
});

/**
 * Queues the files and resolves when all have ended. Never rejects: a failed file stays in the list with its
 * error.
 */
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
      inParts: file.size >= PARTS_FROM_BYTES,
      isStalled: false,
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
  // Events announce each file, but the event stream may be down.
  if (done.length > 0) refetchRows(['asset'], [assetId]);
  const ids = new Set(entries.map(({ id }) => id));
  const own = uploads.get().filter(({ id }) => ids.has(id));
  const failed = own.filter(({ state }) => state === 'failed');
  const paused = own.filter(({ state }) => state === 'paused');
  set(uploads.get().filter((one) => !ids.has(one.id) || failed.includes(one) || paused.includes(one)));
  return { done, failed, paused };
}

/** Stops an upload or removes a failed one, and deletes its parts on the server. */
export function dismissUpload(id: string): void {
  dismiss(uploads.get().filter((one) => one.id === id));
}

/** Stops the pending uploads to an asset, and deletes their parts on the server. */
export function cancelUploads(assetId: string): void {
  dismiss(uploads.get().filter((one) => one.assetId === assetId && isPending(one)));
}

function dismiss(dismissed: readonly Upload[]): void {
  remove(new Set(dismissed.map(({ id }) => id)));
  for (const { inParts, assetId, path } of dismissed) if (inParts) void abandonPath(assetId, path);
}

/** Removes an upload from the list. Its parts stay on the server, so that the same file can resume. */
export function removeUpload(id: string): void {
  remove(new Set([id]));
}

function remove(ids: ReadonlySet<string>): void {
  for (const id of ids) {
    cancels.get(id)?.abort();
    cancels.delete(id);
  }
  set(uploads.get().filter((one) => !ids.has(one.id)));
}

/** Pauses an upload in parts; sending it again resumes it. */
export function pauseUpload(id: string): void {
  change(id, { state: 'paused', isStalled: false });
  cancels.get(id)?.abort();
  cancels.delete(id);
}

/** Stops every upload, and empties the list. */
function clearUploads(): void {
  for (const cancel of cancels.values()) cancel.abort();
  cancels.clear();
  set([]);
}

/** Returns the pending uploads by asset. Changes at most once per percent and file. */
export function useUploadBatches(): readonly UploadBatch[] {
  return batches.use();
}

/** Returns the uploads of an asset that are in progress or have failed. */
export function useUploads(assetId: string): Upload[] {
  return uploads.use().filter((one) => one.assetId === assetId);
}

/** Resolves with the uploaded file; empty if the upload failed, paused or was cancelled. */
async function send(one: Upload): Promise<UploadedFile[]> {
  const signal = cancels.get(one.id)?.signal;
  // Cancelled while waiting.
  if (!signal) return [];
  change(one.id, { state: 'sending' });
  try {
    const onProgress = (sentBytes: number) =>
      change(one.id, { sentBytes: Math.min(sentBytes, one.sizeBytes) });
    const uploaded = await (one.inParts
      ? sendInParts(one.assetId, one, {
          ...{ signal, onProgress },
          onStalled: (isStalled) => change(one.id, { isStalled }),
        })
      : upload(uploadFile, { id: one.assetId }, one.file, {
          ...{ signal, onProgress },
          fields: one.path === one.file.name ? {} : { path: one.path },
        }));
    change(one.id, { state: 'done', sentBytes: one.sizeBytes });
    return [uploaded];
  } catch (error) {
    // Paused or removed.
    if (signal.aborted) return [];
    change(one.id, { state: 'failed', isStalled: false, error: errorMessage(error) });
    reportFailure(error, ['asset']);
    return [];
  } finally {
    cancels.delete(one.id);
    if (one.inParts) readUnfinishedAgain(one.assetId);
  }
}

function change(id: string, values: Partial<Upload>): void {
  set(uploads.get().map((one) => (one.id === id ? { ...one, ...values } : one)));
}

const isPending = ({ state }: Upload) => state === 'waiting' || state === 'sending';

/** Asks before leaving the page while an upload is in progress, because that would stop it. */
function set(next: readonly Upload[]): void {
  uploads.set(next);
  const summary = summarize(next);
  // Progress events are frequent, so subscribers are only called if the summary changes.
  if (JSON.stringify(summary) !== JSON.stringify(batches.get())) batches.set(summary);
  if (summary.length > 0) window.addEventListener('beforeunload', holdPage);
  else window.removeEventListener('beforeunload', holdPage);
}

function summarize(all: readonly Upload[]): UploadBatch[] {
  return [...Map.groupBy(all, ({ assetId }) => assetId)].flatMap(([assetId, ofAsset]) => {
    const pending = ofAsset.find(isPending);
    if (!pending) return [];
    const files = ofAsset.filter((one) => isPending(one) || one.state === 'done');
    const sizeBytes = files.reduce((sum, one) => sum + one.sizeBytes, 0);
    const sentBytes = files.reduce((sum, one) => sum + one.sentBytes, 0);
    return {
      ...{ assetId, path: pending.path, sizeBytes, files: files.length },
      filesDone: files.filter(({ state }) => state === 'done').length,
      percent: sizeBytes === 0 ? null : Math.floor((100 * sentBytes) / sizeBytes),
    };
  });
}

function holdPage(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
