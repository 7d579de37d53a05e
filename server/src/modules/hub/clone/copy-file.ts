import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { formatBytes } from '@bakehouse/contract/labels';
import type { FairQueue } from '../../../platform/concurrency/fair-queue.ts';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError, conflict } from '../../../platform/errors.ts';
import { LeaseLost } from '../../../platform/leases/hold-lease.ts';
import type { Lease } from '../../../platform/leases/leased-table.ts';
import { linkSignals } from '../../../platform/link-signals.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { completeUpload } from '../../../platform/storage/uploads/complete-upload.ts';
import { findWhole } from '../../../platform/storage/uploads/find-whole.ts';
import { selectParts, selectUpload } from '../../../platform/storage/uploads/queries.ts';
import { receivePart } from '../../../platform/storage/uploads/receive-part.ts';
import { countParts, placeOfPart, type Upload } from '../../../platform/storage/uploads/upload.ts';
import { endUpload, openUpload, releaseUploads } from '../../../platform/storage/uploads/uploads.ts';
import { assertUploadFitsQuota } from '../../assets/files/storage-quota.ts';
import { checkModelFile } from '../../models/weights/check-model-file.ts';
import type { HubAccess } from '../public/request-hub.ts';
import type { CloneReport } from './clone-report.ts';
import { type CloneRow, repoOf } from './clones-table.ts';
import { fetchBytes } from './fetch-bytes.ts';
import type { Pace } from './pace.ts';
import { type CloneFile, deleteFiles, markCopied, setUpload } from './queries.ts';

/** How often a file is fetched again if its hash differs from the hub's. */
const WRONG_MAX = 1;

/** Dependencies for copying the files of one clone. */
export type Copying = {
  services: Services;
  lease: Lease<CloneRow>;
  access: HubAccess;
  report: CloneReport;
  pace: Pace;
  /** Limits concurrent hub requests over all files of the clone. */
  requests: FairQueue;
  signal: AbortSignal;
};

/**
 * Copies one file. Resumes its stored parts, compares the hash with the hub's, and checks the content of a
 * model file. Throws AppErrors with messages for the owner, LeaseLost, and the signal's reason.
 */
export async function copyFile(copying: Copying, file: CloneFile): Promise<void> {
  const { services, lease, report } = copying;
  if (file.sizeBytes === 0) {
    await markCopied(services.db, lease.id, { path: file.path, uploadId: null });
    report.fileDone();
    return;
  }
  for (let wrong = 0; ; wrong += 1) {
    const upload = await openFile(copying, file, wrong === 0 ? file.uploadId : null);
    const blob = upload.blob ?? (await fetchFile(copying, file, upload));
    if (blob && (await isAsListed(services, file, blob))) {
      await checkContent(copying, file, blob);
      await markCopied(services.db, lease.id, { path: file.path, uploadId: upload.id });
      report.fileDone();
      report.log(`${file.path} copied (${formatBytes(file.sizeBytes)})`);
      return;
    }
    await endUpload(services, { uploadId: upload.id, userId: upload.userId }).catch(ignoreMissing);
    report.addBytes(-file.sizeBytes);
    if (wrong >= WRONG_MAX)
      throw conflict(`${file.path} differs from the hub's listing: its hash is different`);
    report.log(`${file.path}: its hash differs from the hub's listing. Copying it again`);
  }
}

/**
 * Returns the upload for the file: an earlier upload if one exists, else a new one. If the user already
 * stores the bytes, the upload is complete and nothing is fetched.
 */
async function openFile(
  { services, lease, report }: Copying,
  { path, sizeBytes, sha256 }: CloneFile,
  before: string | null,
): Promise<Upload> {
  const userId = lease.row.user_id;
  const known = before === null ? null : await findBegun(services, { uploadId: before, userId });
  const upload =
    known ??
    (await openUpload(services, { userId, sizeBytes, sha256 }, async (tx, open) => {
      const opened = await open();
      if (!(await setUpload(tx, lease, { path, uploadId: opened.id }))) throw new LeaseLost();
      await assertUploadFitsQuota(tx, services.config, { upload: opened, param: 'repo_id' });
      return opened;
    }));
  if (upload.blob) report.addBytes(sizeBytes);
  return upload;
}

/**
 * Returns an earlier upload. Null if it was deleted, or if it was complete but its bytes have been deleted.
 */
async function findBegun(
  services: Services,
  who: { uploadId: string; userId: string },
): Promise<Upload | null> {
  const upload = await selectUpload(services.db, who);
  return upload?.blob && !(await findWhole(services, upload)) ? null : upload;
}

/**
 * Fetches the file and returns its complete upload; null if its SHA-256 differs from the hub's. If the disk
 * has lost parts, fetches the file once more.
 */
async function fetchFile(
  copying: Copying,
  file: CloneFile,
  upload: Upload,
  mayLose = true,
): Promise<Blob | null> {
  const { services, report } = copying;
  const who = { uploadId: upload.id, userId: upload.userId };
  const there = new Set<number>();
  for (const { number, sizeBytes } of await selectParts(services.db, upload.id)) {
    there.add(number);
    report.addBytes(sizeBytes);
  }
  const missing = Array.from({ length: countParts(upload) }, (_, index) => index + 1).filter(
    (number) => !there.has(number),
  );
  const broken = new AbortController();
  using linked = linkSignals(copying.signal, broken.signal);
  const { signal } = linked;
  const fetched = await Promise.allSettled(
    missing.map((number) =>
      copying.requests
        .run(file.path, () => fetchPart({ ...copying, signal }, file, { upload, number }), signal)
        .catch((error: unknown) => {
          broken.abort(error);
          throw error;
        }),
    ),
  );
  copying.signal.throwIfAborted();
  if (broken.signal.aborted) throw broken.signal.reason;
  const failed = fetched.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  try {
    return await completeUpload(services, who);
  } catch (error) {
    // The SHA-256 was wrong, so `completeUpload` has discarded the upload.
    if (error instanceof AppError && error.param === 'sha256') return null;
    if (!(mayLose && error instanceof AppError && error.param === 'parts')) throw error;
    report.log(`${file.path}: ${error.publicMessage}`);
    report.addBytes(-file.sizeBytes);
    return fetchFile(copying, file, upload, false);
  }
}

async function fetchPart(
  { services, lease, access, report, pace, signal }: Copying,
  file: CloneFile,
  { upload, number }: { upload: Upload; number: number },
): Promise<void> {
  signal.throwIfAborted();
  const place = placeOfPart(upload, number);
  if (!place) throw new Error(`${file.path} has no part ${number}`);
  const source = { access, repo: repoOf(lease.row), revision: lease.row.commit_id, file };
  let came = 0;
  let failure: unknown;
  const bytes = async function* () {
    try {
      for await (const chunk of fetchBytes(source, {
        start: place.start,
        end: place.start + place.sizeBytes,
        signal,
        pace,
        onFailure: report.log,
      })) {
        came += chunk.length;
        report.addBytes(chunk.length);
        yield chunk;
      }
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  try {
    await receivePart(services, {
      ...{ uploadId: upload.id, userId: upload.userId, number, sha256: null },
      bytes: Readable.from(bytes(), { objectMode: false }),
    });
  } catch (error) {
    report.addBytes(-came);
    // The store wraps an error of the stream, so throw the original one.
    throw failure ?? error;
  }
}

/** True if the bytes have the hub's hash. */
async function isAsListed(
  services: Services,
  { path, sha256, gitSha1 }: CloneFile,
  blob: Blob,
): Promise<boolean> {
  if (sha256 !== null) return blob.sha256 === sha256;
  const hash = createHash('sha1').update(`blob ${blob.sizeBytes}\0`);
  for await (const chunk of await readBlob(services, { sha256: blob.sha256, path })) hash.update(chunk);
  return hash.digest('hex') === gitSha1;
}

/**
 * Checks a model file's content. Files of a dataset need no check, because they are never loaded as weights.
 */
async function checkContent({ services, lease }: Copying, { path }: CloneFile, blob: Blob): Promise<void> {
  if (lease.row.dataset_type !== 'MODEL') return;
  await services.blobs.withLocalFile(blob.sha256, (localPath) =>
    checkModelFile(services.sandbox, { localPath, name: path, userId: lease.row.user_id }),
  );
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'not_found')) throw error;
}

/**
 * Step: deletes the files that a clone has copied, except bytes that a dataset or model uses. Returns the
 * store keys of unfinished parts, which the caller must delete (see `releaseUploads`).
 */
export async function discardFiles(
  tx: Transaction,
  { id, userId }: { id: string; userId: string },
): Promise<string[]> {
  return releaseUploads(tx, { userId, uploadIds: await deleteFiles(tx, id) });
}
